//! Cases made from a shape: values that fit, one for each choice in it, and values with one thing wrong.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::form::Form;
use super::super::shape::{Member, Mode, Object, Presence, Shape};

/// What a case is made to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// It fits.
    Fitting,
    /// It does not.
    Wrong,
    /// Whoever looks has to say.
    Either,
}

/// Values of every type, for where none but one fits.
fn strangers() -> [Value; 11] {
    [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!(["x"]),
        json!({}),
    ]
}

/// Texts of every form, for where one is asked for.
const TEXTS: [&str; 22] = [
    "https://dav.example/cal/a.ics",
    "mailto:ann@example.com",
    "mailto:",
    "/cal/a.ics",
    "2026-12-01",
    "2026-13-01",
    "2026-12-00",
    "26-12-01",
    "2026-12-01T09:00:00",
    "2026-12-01T09:00:00.125",
    "2026-12-01T09:00:00.",
    "2026-12-01T24:00:00",
    "2026-12-01T09:60:00",
    "2026-12-01T09:00:60Z",
    "2026-12-01T09:00:00Z",
    "2026-12-01T09:00:00.5Z",
    "2026-12-01T09:00Z",
    "#00AAff",
    "#00AAf",
    "2.0",
    "2.x",
    "X-A B",
];

/// What has been taken apart, so that a part which stands in many places is taken apart in the first of them.
#[derive(Default)]
pub(super) struct Cases {
    seen: BTreeSet<*const Shape>,
}

/// A value that fits, with as little as possible. Where members are bound by a rule, with all of them.
pub(super) fn base(shape: &Shape, mode: Mode) -> Value {
    match shape {
        Shape::Text { least, form, .. } => json!(typical(*form, *least)),
        Shape::Integer { least, .. } => json!(least),
        Shape::Within(_) => json!(0.5),
        Shape::Boolean => json!(false),
        Shape::Constant(constant) => json!(constant),
        Shape::Token(tokens) => json!(tokens[0]),
        Shape::Nullable(shape) => base(shape, mode),
        Shape::List { of, least, .. } => vec![base(of, mode); *least].into(),
        Shape::Object(object) => of_members(in_base(object, mode), mode),
        Shape::By {
            of: [(_, first), ..], ..
        } => base(first, mode),
        Shape::By { .. } => panic!("a choice without one"),
        Shape::With { then, .. } => base(then, mode),
        Shape::ListOr(list, _) => base(list, mode),
        Shape::Short(shape) => base(shape, mode),
        Shape::Row(shape) => base(shape, in_row(mode)),
    }
}

fn in_row(mode: Mode) -> Mode {
    if mode == Mode::Compact { Mode::Row } else { mode }
}

fn typical(form: Form, least: usize) -> String {
    let text = match form {
        Form::Any => "a".repeat(least),
        Form::Uri => "https://dav.example/a".into(),
        Form::Date => "2026-12-01".into(),
        Form::Local => "2026-12-01T09:00:00".into(),
        Form::Utc | Form::Time => "2026-12-01T09:00:00Z".into(),
        Form::Color => "#00AAFF".into(),
        Form::Pointer => "/a".into(),
        Form::Status => "2.0".into(),
        Form::Name => "VEVENT".into(),
    };
    assert!(text.chars().count() >= least);
    text
}

fn required(member: &Member, mode: Mode) -> bool {
    match member.presence {
        Presence::Always => true,
        Presence::May | Presence::Excepted => false,
        Presence::Spared => mode == Mode::Full,
        Presence::SparedInRow => mode != Mode::Row,
    }
}

fn in_base(object: &Object, mode: Mode) -> impl Iterator<Item = &'static Member> {
    let all = object.rule.is_some();
    let wanted = move |member: &&Member| all || required(member, mode) || member.presence == Presence::Excepted;
    object.members.iter().filter(wanted)
}

fn of_members(members: impl Iterator<Item = &'static Member>, mode: Mode) -> Value {
    members
        .map(|member| (member.name.to_owned(), base(member.shape, mode)))
        .collect()
}

fn with(value: &Value, name: &str, member: Value) -> Value {
    let mut value = value.clone();
    value[name] = member;
    value
}

fn without(value: &Value, name: &str) -> Value {
    let mut value = value.clone();
    value
        .as_object_mut()
        .map(|members: &mut Map<String, Value>| members.remove(name));
    value
}

impl Cases {
    /// Gives out every case of a shape.
    pub(super) fn each(&mut self, shape: &'static Shape, mode: Mode, out: &mut dyn FnMut(Value, Made)) {
        out(base(shape, mode), Made::Fitting);
        for stranger in strangers() {
            out(stranger, Made::Either);
        }
        match shape {
            Shape::Text { least, most, form } => {
                for text in TEXTS {
                    out(json!(text), Made::Either);
                }
                if *least > 0 {
                    out(json!("a".repeat(least - 1)), Made::Wrong);
                }
                if *most == usize::MAX {
                    if *form == Form::Any && self.seen.insert(shape) {
                        out(json!("ä".repeat(9_000)), Made::Fitting);
                    }
                } else {
                    let filler = if *form == Form::Any { "ä" } else { "a" };
                    let filled = |count: usize| {
                        let start = typical(*form, 0);
                        format!("{start}{}", filler.repeat(count - start.len()))
                    };
                    out(json!(filled(*most)), Made::Either);
                    out(json!(filled(most + 1)), Made::Wrong);
                }
            }
            Shape::Integer { least, most } => {
                out(json!(least - 1), Made::Wrong);
                out(json!(most), Made::Fitting);
                if let Some(beyond) = most.checked_add(1) {
                    out(json!(beyond), Made::Wrong);
                }
            }
            Shape::Within(bound) => {
                for (number, made) in [
                    (*bound, Made::Fitting),
                    (-bound, Made::Fitting),
                    (bound + 0.25, Made::Wrong),
                    (-bound - 0.25, Made::Wrong),
                ] {
                    out(json!(number), made);
                }
            }
            Shape::Boolean => out(json!(true), Made::Fitting),
            Shape::Constant(constant) => out(json!(!constant), Made::Wrong),
            Shape::Token(tokens) => {
                for token in *tokens {
                    out(json!(token), Made::Fitting);
                }
                out(json!(format!("{}s", tokens[0])), Made::Wrong);
                out(json!(tokens[0].to_uppercase()), Made::Wrong);
            }
            Shape::Nullable(shape) => {
                out(Value::Null, Made::Fitting);
                self.each(shape, mode, out);
            }
            Shape::List { of, least, most } => {
                let item = base(of, mode);
                if *least > 0 {
                    out(vec![item.clone(); least - 1].into(), Made::Wrong);
                }
                if *most == usize::MAX {
                    if self.seen.insert(shape) {
                        out(vec![item.clone(); 600].into(), Made::Fitting);
                    }
                } else {
                    out(vec![item.clone(); *most].into(), Made::Fitting);
                    out(vec![item.clone(); most + 1].into(), Made::Wrong);
                }
                self.each(of, mode, &mut |case, made| out(json!([item, case]), made));
            }
            Shape::Object(object) => {
                if self.seen.insert(shape) {
                    self.members(object, mode, out);
                } else {
                    out(of_members(object.members.iter(), mode), Made::Fitting);
                }
            }
            Shape::By { member, of, otherwise } => {
                for (token, shape) in *of {
                    self.each(shape, mode, out);
                    let told = base(shape, mode);
                    out(with(&told, member, json!(token)), Made::Fitting);
                    out(without(&told, member), Made::Wrong);
                    out(with(&told, member, json!("other")), Made::Either);
                    for (other, _) in *of {
                        out(with(&told, member, json!(other)), Made::Either);
                    }
                }
                if let Some(shape) = otherwise {
                    self.each(shape, mode, out);
                    out(with(&base(shape, mode), member, json!(of[0].0)), Made::Either);
                }
            }
            Shape::With {
                member,
                then,
                otherwise,
            } => {
                self.each(then, mode, out);
                if !matches!((otherwise, mode), (Shape::Short(_), Mode::Full)) {
                    self.each(otherwise, mode, out);
                    let there = base(then, mode)[member].clone();
                    out(with(&base(otherwise, mode), member, there), Made::Either);
                }
            }
            Shape::ListOr(list, other) => {
                self.each(list, mode, out);
                self.each(other, mode, out);
            }
            Shape::Short(shape) => self.each(shape, mode, out),
            Shape::Row(shape) => self.each(shape, in_row(mode), out),
        }
    }

    fn members(&mut self, object: &'static Object, mode: Mode, out: &mut dyn FnMut(Value, Made)) {
        let free = if object.rule.is_some() {
            Made::Either
        } else {
            Made::Fitting
        };
        let small = of_members(in_base(object, mode), mode);
        let large = of_members(object.members.iter(), mode);
        out(with(&small, "unheard-of", json!(1)), Made::Wrong);
        out(with(&large, "unheard-of", json!(1)), Made::Wrong);
        let mut contexts = vec![small.clone()];
        for member in object.members {
            let made = match member.presence {
                _ if required(member, mode) => Made::Wrong,
                Presence::Excepted => Made::Either,
                Presence::Always | Presence::May | Presence::Spared | Presence::SparedInRow => free,
            };
            out(without(&small, member.name), made);
            out(without(&large, member.name), made);
            if object.rule.is_some() && made != Made::Wrong {
                contexts.push(without(&small, member.name));
            }
        }
        out(large, Made::Fitting);
        for member in object.members {
            for (at, context) in contexts.iter().enumerate() {
                let seen = self.seen.clone();
                self.each(member.shape, mode, &mut |case, made| {
                    let made = if made == Made::Fitting { free } else { made };
                    out(with(context, member.name, case), made);
                });
                if at + 1 < contexts.len() {
                    self.seen = seen;
                }
            }
        }
    }
}
