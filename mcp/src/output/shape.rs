//! What a result has to be, as static tables, and the one walk over them.

use serde_json::{Map, Value};

use super::form::Form;

/// The shape of a JSON value. Objects are closed.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A text of so many characters.
    Text { least: usize, most: usize, form: Form },
    /// A whole number in this range.
    Integer { least: i64, most: i64 },
    /// A number as far as this from zero.
    Within(f64),
    /// `true` or `false`.
    Boolean,
    /// This one.
    Constant(bool),
    /// One of these texts.
    Token(&'static [&'static str]),
    /// This or `null`.
    Nullable(&'static Self),
    /// So many of this.
    List {
        of: &'static Self,
        least: usize,
        most: usize,
    },
    /// These members.
    Object(Object),
    /// An object whose shape a member tells; another one where it says something else or is not there.
    By {
        member: &'static str,
        of: &'static [(&'static str, &'static Self)],
        otherwise: Option<&'static Self>,
    },
    /// An object whose shape depends on whether a member is there.
    With {
        member: &'static str,
        then: &'static Self,
        otherwise: &'static Self,
    },
    /// A list or something else.
    ListOr(&'static Self, &'static Self),
    /// This in compact results, and nothing in full ones.
    Short(&'static Self),
    /// This; of a compact result it is one of many rows.
    Row(&'static Self),
}

/// Members, sorted by name.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) members: &'static [Member],
    /// Bits of the members that must be there, for each [`Mode`].
    required: [u32; 3],
    /// What binds them to each other.
    pub(crate) rule: Option<Rule>,
}

/// The member at fault, if the members do not go together.
pub(crate) type Rule = fn(&Map<String, Value>) -> Option<&'static str>;

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) presence: Presence,
    pub(crate) shape: &'static Shape,
}

/// When a member may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Never.
    Always,
    /// Always.
    May,
    /// In compact results.
    Spared,
    /// In rows of compact results.
    SparedInRow,
    /// By one of the [exceptions](super::exception).
    Excepted,
}

/// Which sibling of a shape is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `detail: full`, and tools without `detail`.
    Full,
    /// `detail: compact`.
    Compact,
    /// The same, in a row.
    Row,
}

/// Where a value is not of its shape. The path holds names of the tables and positions, nothing of the value.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Innermost first.
    path: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Member(&'static str),
    Item(usize),
}

impl Fault {
    fn here() -> Self {
        Self { path: Vec::new() }
    }

    fn below(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// As an RFC 6901 pointer. The names of the tables need no escape.
    pub(crate) fn pointer(&self) -> String {
        let steps = self.path.iter().rev();
        steps
            .map(|step| match step {
                Step::Member(name) => format!("/{name}"),
                Step::Item(index) => format!("/{index}"),
            })
            .collect()
    }
}

impl Presence {
    const fn required(self, mode: Mode) -> bool {
        match self {
            Self::Always => true,
            Self::May | Self::Excepted => false,
            Self::Spared => matches!(mode, Mode::Full),
            Self::SparedInRow => !matches!(mode, Mode::Row),
        }
    }
}

impl Shape {
    /// An object of these members, which have to be [`sorted`].
    pub(crate) const fn object(members: &'static [Member]) -> Self {
        Self::Object(Object::of(members, None))
    }

    /// The same, whose members are bound by a rule.
    pub(crate) const fn bound(members: &'static [Member], rule: Rule) -> Self {
        Self::Object(Object::of(members, Some(rule)))
    }

    /// Whether a value is of this shape.
    ///
    /// # Errors
    /// The first place where it is not. What is not known is at fault in the object around it.
    pub(crate) fn check(&self, value: &Value, mode: Mode) -> Result<(), Fault> {
        let fits = match (self, value) {
            (Self::Text { least, most, form }, Value::String(text)) => {
                has_characters(text, *least, *most) && form.fits(text)
            }
            (Self::Integer { least, most }, Value::Number(number)) => {
                let beyond = || number.as_u64().map(|_| i64::MAX);
                let number = number.as_i64().or_else(beyond);
                number.is_some_and(|number| (*least..=*most).contains(&number))
            }
            (Self::Within(bound), Value::Number(number)) => {
                number.as_f64().is_some_and(|number| number.abs() <= *bound)
            }
            (Self::Boolean, value) => value.is_boolean(),
            (Self::Constant(constant), value) => value == constant,
            (Self::Token(tokens), Value::String(text)) => tokens.contains(&text.as_str()),
            (Self::Nullable(_), Value::Null) => true,
            (Self::Nullable(shape), value) => return shape.check(value, mode),
            (Self::List { of, least, most }, Value::Array(items)) => {
                if !(*least..=*most).contains(&items.len()) {
                    return Err(Fault::here());
                }
                for (index, item) in items.iter().enumerate() {
                    of.check(item, mode).map_err(|fault| fault.below(Step::Item(index)))?;
                }
                true
            }
            (Self::Object(object), Value::Object(members)) => return object.check(members, mode),
            (Self::By { member, of, otherwise }, Value::Object(members)) => {
                let token = members.get(*member).and_then(Value::as_str);
                let told = of.iter().find(|(name, _)| Some(*name) == token);
                let Some(shape) = told.map(|(_, shape)| *shape).or(*otherwise) else {
                    return Err(Fault::here().below(Step::Member(member)));
                };
                return shape.check(value, mode);
            }
            (
                Self::With {
                    member,
                    then,
                    otherwise,
                },
                Value::Object(members),
            ) => {
                let shape = if members.contains_key(*member) { then } else { otherwise };
                return shape.check(value, mode);
            }
            (Self::ListOr(list, _), Value::Array(_)) => return list.check(value, mode),
            (Self::ListOr(_, other), value) => return other.check(value, mode),
            (Self::Short(shape), value) if mode != Mode::Full => return shape.check(value, mode),
            (Self::Row(shape), value) => {
                let mode = if mode == Mode::Compact { Mode::Row } else { mode };
                return shape.check(value, mode);
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(Fault::here()) }
    }
}

/// Characters are counted only where octets do not tell.
fn has_characters(text: &str, least: usize, most: usize) -> bool {
    let octets = text.len();
    if octets < least || (octets <= most && octets >= least * 4) {
        return octets >= least;
    }
    (least..=most).contains(&text.chars().count())
}

impl Object {
    const fn of(members: &'static [Member], rule: Option<Rule>) -> Self {
        assert!(members.len() <= 32, "one bit for each member");
        let mut required = [0; 3];
        let mut at = 0;
        while at < members.len() {
            assert!(
                at == 0 || precedes(members[at - 1].name, members[at].name),
                "sorted, each name once"
            );
            let presence = members[at].presence;
            required[Mode::Full as usize] |= (presence.required(Mode::Full) as u32) << at;
            required[Mode::Compact as usize] |= (presence.required(Mode::Compact) as u32) << at;
            required[Mode::Row as usize] |= (presence.required(Mode::Row) as u32) << at;
            at += 1;
        }
        Self {
            members,
            required,
            rule,
        }
    }

    fn check(&self, members: &Map<String, Value>, mode: Mode) -> Result<(), Fault> {
        let (mut seen, mut next) = (0_u32, 0);
        for (name, value) in members {
            // Both are sorted, so the next one is near.
            let named = |member: &Member| member.name == name;
            let ahead = self.members[next..].iter().position(named).map(|at| next + at);
            let Some(at) = ahead.or_else(|| self.members[..next].iter().position(named)) else {
                return Err(Fault::here());
            };
            let Member { name, shape, .. } = self.members[at];
            shape
                .check(value, mode)
                .map_err(|fault| fault.below(Step::Member(name)))?;
            seen |= 1 << at;
            next = at + 1;
        }
        let missing = self.required[mode as usize] & !seen;
        if missing != 0 {
            let missing = self.members[missing.trailing_zeros() as usize];
            return Err(Fault::here().below(Step::Member(missing.name)));
        }
        let fault = self.rule.and_then(|rule| rule(members));
        fault.map_or(Ok(()), |member| Err(Fault::here().below(Step::Member(member))))
    }
}

/// A member that is always there.
pub(crate) const fn always(name: &'static str, shape: &'static Shape) -> Member {
    Member {
        name,
        presence: Presence::Always,
        shape,
    }
}

/// A member that may be absent.
pub(crate) const fn may(name: &'static str, shape: &'static Shape) -> Member {
    Member {
        name,
        presence: Presence::May,
        shape,
    }
}

/// A member that compact results may leave out.
pub(crate) const fn spared(name: &'static str, shape: &'static Shape) -> Member {
    Member {
        name,
        presence: Presence::Spared,
        shape,
    }
}

/// A member that rows of compact results may leave out.
pub(crate) const fn spared_in_row(name: &'static str, shape: &'static Shape) -> Member {
    Member {
        name,
        presence: Presence::SparedInRow,
        shape,
    }
}

/// A member that may be absent by one of the [exceptions](super::exception).
pub(crate) const fn excepted(name: &'static str, shape: &'static Shape) -> Member {
    Member {
        name,
        presence: Presence::Excepted,
        shape,
    }
}

/// Members in the order of their names.
pub(crate) const fn sorted<const N: usize>(mut members: [Member; N]) -> [Member; N] {
    let mut end = 1;
    while end < N {
        let mut at = end;
        while at > 0 && precedes(members[at].name, members[at - 1].name) {
            let later = members[at - 1];
            members[at - 1] = members[at];
            members[at] = later;
            at -= 1;
        }
        end += 1;
    }
    members
}

/// Members of two tables in one, in the order of their names. `N` is the sum.
pub(crate) const fn joined<const A: usize, const B: usize, const N: usize>(
    one: [Member; A],
    other: [Member; B],
) -> [Member; N] {
    assert!(N == A + B, "all of both");
    let mut all = [if A > 0 { one[0] } else { other[0] }; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < A { one[at] } else { other[at - A] };
        at += 1;
    }
    sorted(all)
}

const fn precedes(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return one[at] < other[at];
        }
        at += 1;
    }
    one.len() < other.len()
}
