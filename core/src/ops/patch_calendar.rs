//! Other properties for a Calendar (RFC 4918, 9.2): read, one PROPPATCH, read again. There is no condition for it.

use std::sync::Arc;

use http::Request;
use http::header::{CONTENT_TYPE, USER_AGENT};

use crate::account::Account;
use crate::change::{Change, Changed, Committed, Failed};
use crate::dav::multistatus::Member;
use crate::dav::name::Name;
use crate::dav::proppatch::{Setting, body};
use crate::env::Env;
use crate::exchange::Channel;
use crate::exchange::dispatch::{Dispatch, undone};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ledger::Mutation;
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::collection::{
    check_color, check_name, check_order, is_refusal, rejected, time_zone, told, valid, violation,
};
use crate::ops::discover::AGENT;
use crate::ops::inspect_calendar::{Inspection, SchedulingObservation, described, observed, scheduling};
use crate::ops::scope;
use crate::outcome::{Code, Error, Outcome, Phase, Violation};

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 4096;
/// The longest language tag.
const MAX_LANGUAGE: usize = 64;

/// Asks for other properties of a Calendar.
#[derive(Clone, Debug)]
pub struct PatchCalendar {
    /// Absolute URL, as results give it.
    pub calendar_href: String,
    /// What changes.
    pub patch: CalendarPatch,
}

/// What changes of a Calendar; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalendarPatch {
    /// What people call it.
    pub display_name: Option<Set<String>>,
    /// What it is for.
    pub description: Option<Set<Description>>,
    /// `#RRGGBB`.
    pub color: Option<Set<String>>,
    /// Its place among others.
    pub order: Option<Set<u32>>,
    /// IANA name of the zone of its floating times.
    pub time_zone: Option<Set<String>>,
}

/// A new value, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Set<T> {
    /// It becomes this.
    To(T),
    /// It is taken away.
    Remove,
}

impl<T> Set<T> {
    fn value(&self) -> Option<&T> {
        match self {
            Self::To(value) => Some(value),
            Self::Remove => None,
        }
    }
}

/// A description and the language that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The text.
    pub text: String,
    /// A language tag (RFC 5646).
    pub language: Option<String>,
}

impl Operation for PatchCalendar {
    type Outcome = Changed<Inspection>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(env.now, move |io| async move { patch(&io, &account, &env, self).await })
    }
}

async fn patch(io: &Io, account: &Account, env: &Env, asked: PatchCalendar) -> Changed<Inspection> {
    let channel = Channel::writing(io, account, env);
    let PatchCalendar { calendar_href, patch } = asked;
    // Bad input costs no request.
    let zone = checked(&patch).map_err(Failed::before)?;
    io.phase("discovery");
    let calendar = scope::calendar(&channel, &calendar_href, "/calendarHref").await;
    let calendar = calendar.map_err(Failed::before)?;
    io.phase("fetch");
    let before = described(&channel, &calendar).await.map_err(Failed::before)?;
    let before = seen_in(&before, &calendar);
    io.phase("write");
    let request = Request::builder()
        .method("PROPPATCH")
        .header(CONTENT_TYPE, "application/xml; charset=utf-8")
        .header(USER_AGENT, AGENT)
        .body(body(&settings(&patch, zone.as_deref(), patch.order_text().as_deref())))
        .expect("static headers are valid");
    let dispatch = channel.write_within(&calendar, request, |_| false).await;
    io.phase("reconcile");
    let told = told(&dispatch);
    if let Some((error, state)) = undone(&channel, &dispatch) {
        return Err(Failed::with(error, state));
    }
    let answer = match (&dispatch, &told) {
        (_, Some(told)) => judged(told),
        (Dispatch::Accepted(_), None) => Answer::Accepted,
        _ => Answer::Doubt,
    };
    if let (Answer::Rejected, Some(told)) = (answer, &told) {
        return Err(Failed::with(rejected(told, "/patch"), Mutation::NotCommitted));
    }
    let settling = channel.reconciling();
    let after = described(&settling, &calendar).await.ok();
    let inspection = after.as_ref().map(|member| seen_in(member, &calendar));
    let missing = inspection.as_ref().map(|seen| patch.missing(&before, seen));
    let there = match &missing {
        None => There::Unseen,
        Some(missing) if missing.is_empty() && patch.missing(&before, &before).is_empty() => There::AsBefore,
        Some(missing) if missing.is_empty() => There::AsMeant,
        Some(_) => There::Otherwise,
    };
    let (code, text, state) = match (verdict(answer, there), after) {
        (Verdict::Done, Some(member)) => {
            let scheduling = scheduling(&settling, &calendar).await.unwrap_or(UNSEEN);
            return Ok(Change::Committed(Committed {
                value: observed(&member, calendar, scheduling),
                side_effects: None,
                diagnostics: Vec::new(),
            }));
        }
        (Verdict::Done | Verdict::Unverified, _) => (
            Code::CommittedButUnverified,
            format!(
                "The CalDAV server says that it has changed the Calendar, and that is not seen there: {}. Inspect the Calendar before you go on.",
                missing.map_or_else(|| "it could not be read".to_owned(), |missing| missing.join(", "))
            ),
            Mutation::Committed,
        ),
        (Verdict::Partly, _) => (
            Code::Indeterminate,
            "The CalDAV server has changed some of the properties and refused others. Inspect the Calendar to see which it has.".into(),
            Mutation::Unknown,
        ),
        (Verdict::Unknown, _) => (
            Code::Indeterminate,
            "It is not known whether the Calendar was changed: no clear answer came, and what is there does not prove it. Inspect the Calendar before you go on.".into(),
            Mutation::Unknown,
        ),
    };
    let mut error = Error::new(code, Phase::PostWriteVerificationOrReconciliation, text);
    if let (Answer::Mixed, Some(told)) = (answer, &told) {
        error.violations = rejected(told, "/patch").violations;
    }
    Err(Failed::with(error, state))
}

const UNSEEN: SchedulingObservation = SchedulingObservation {
    state: crate::calendar::CapabilityState::Unknown,
    status_code: None,
};

fn seen_in(member: &Member, calendar: &Href) -> Inspection {
    observed(member, calendar.clone(), UNSEEN)
}

/// Checks the arguments; the octets of the time zone.
fn checked(patch: &CalendarPatch) -> Outcome<Option<String>> {
    fn value<T>(set: Option<&Set<T>>) -> Option<&T> {
        set.and_then(Set::value)
    }
    let mut wrong: Vec<Violation> = Vec::new();
    if *patch == CalendarPatch::default() {
        wrong.push(violation(
            "/patch",
            "required_member",
            "Send at least one property to change.",
        ));
    }
    wrong.extend(value(patch.display_name.as_ref()).and_then(|name| check_name(name, "/patch/displayName/value")));
    wrong.extend(value(patch.color.as_ref()).and_then(|color| check_color(color, "/patch/color/value")));
    wrong.extend(value(patch.order.as_ref()).and_then(|order| check_order(*order, "/patch/order/value")));
    if let Some(description) = value(patch.description.as_ref()) {
        if description.text.chars().count() > MAX_DESCRIPTION {
            let text = "Send a text of at most 4096 characters.";
            wrong.push(violation("/patch/description/value", "length_out_of_range", text));
        }
        if !description.language.as_deref().is_none_or(is_language) {
            let text = "Send a language tag, such as de or en-GB.";
            wrong.push(violation("/patch/description/language", "format_mismatch", text));
        }
    }
    let zone = value(patch.time_zone.as_ref()).map(|name| time_zone(name, "/patch/timeZone/value"));
    let zone = zone.transpose().unwrap_or_else(|violation| {
        wrong.push(violation);
        None
    });
    valid(wrong)?;
    Ok(zone)
}

fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let first = parts.next().unwrap_or_default();
    let short = |part: &str| (1..=8).contains(&part.len());
    tag.len() <= MAX_LANGUAGE
        && short(first)
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| short(part) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The properties that change.
fn settings<'a>(patch: &'a CalendarPatch, zone: Option<&'a str>, order: Option<&'a str>) -> Vec<Setting<'a>> {
    let plain = |name, value| Setting {
        name,
        value,
        language: None,
    };
    let mut found = Vec::new();
    if let Some(name) = &patch.display_name {
        found.push(plain("D:displayname", name.value().map(String::as_str)));
    }
    if let Some(description) = &patch.description {
        let description = description.value();
        found.push(Setting {
            name: "C:calendar-description",
            value: description.map(|it| it.text.as_str()),
            language: description.and_then(|it| it.language.as_deref()),
        });
    }
    if let Some(color) = &patch.color {
        found.push(plain("A:calendar-color", color.value().map(String::as_str)));
    }
    if patch.order.is_some() {
        found.push(plain("A:calendar-order", order));
    }
    if patch.time_zone.is_some() {
        found.push(plain("C:calendar-timezone", zone));
    }
    found
}

impl CalendarPatch {
    fn order_text(&self) -> Option<String> {
        self.order.as_ref()?.value().map(u32::to_string)
    }

    /// What is not seen of it, by the names of the arguments. A server gives a Calendar without a name one of its own,
    /// so the name that is taken away only has to be another one.
    fn missing(&self, before: &Inspection, seen: &Inspection) -> Vec<&'static str> {
        fn holds<T>(set: Option<&Set<T>>, is: impl Fn(Option<&T>) -> bool) -> bool {
            set.is_none_or(|set| is(set.value()))
        }
        let checks = [
            (
                "displayName",
                holds(self.display_name.as_ref(), |name| match name {
                    Some(name) => seen.display_name.as_deref() == Some(name.trim()),
                    None => seen.display_name.is_none() || seen.display_name != before.display_name,
                }),
            ),
            (
                "description",
                holds(self.description.as_ref(), |it| {
                    let (text, language) = it.map_or(("", None), |it| (it.text.trim(), it.language.as_deref()));
                    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
                    let stored = seen.description_language.as_deref();
                    let language = language.is_none_or(|wanted| stored.is_some_and(|stored| same(stored, wanted)));
                    seen.description.as_deref().unwrap_or_default() == text && (language || text.is_empty())
                }),
            ),
            (
                "color",
                holds(self.color.as_ref(), |color| {
                    seen.color == color.map(|color| color.to_ascii_uppercase())
                }),
            ),
            (
                "order",
                holds(self.order.as_ref(), |order| seen.order == order.copied()),
            ),
            (
                "timeZone",
                holds(self.time_zone.as_ref(), |zone| match zone {
                    Some(zone) => seen.time_zone_ids.iter().any(|id| id == zone),
                    None => seen.time_zone_ids.is_empty(),
                }),
            ),
        ];
        let wrong = checks.into_iter().filter(|(_, holds)| !holds);
        wrong.map(|(name, _)| name).collect()
    }
}

/// What a multistatus says about all properties together. One that names none refuses none (DAViCal).
fn judged(told: &[(Name, u16)]) -> Answer {
    let refused = told.iter().filter(|(_, status)| is_refusal(*status)).count();
    match refused {
        0 => Answer::Accepted,
        all if all == told.len() => Answer::Rejected,
        _ => Answer::Mixed,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    /// Nothing was changed.
    Rejected,
    /// Some properties were changed and others were refused: PROPPATCH is not atomic everywhere.
    Mixed,
    Doubt,
}

/// What is seen afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    AsMeant,
    /// As it is meant, and as it was before.
    AsBefore,
    Otherwise,
    Unseen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Done,
    /// The server says that it was done, and it is not seen.
    Unverified,
    /// Some of it was done.
    Partly,
    Unknown,
}

fn verdict(answer: Answer, there: There) -> Verdict {
    match (answer, there) {
        (Answer::Accepted, There::AsMeant | There::AsBefore) => Verdict::Done,
        (Answer::Accepted, There::Otherwise | There::Unseen) => Verdict::Unverified,
        (Answer::Doubt, There::AsMeant) => Verdict::Done,
        (Answer::Mixed | Answer::Rejected, _) => Verdict::Partly,
        (Answer::Doubt, There::AsBefore | There::Otherwise | There::Unseen) => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_is_changed_as_far_as_answer_and_reading_prove_it() {
        use Verdict::{Done, Partly, Unknown, Unverified};
        // For each answer: as meant, as before and as meant, otherwise, not seen.
        for (answer, expected) in [
            (Answer::Accepted, [Done, Done, Unverified, Unverified]),
            (Answer::Mixed, [Partly; 4]),
            (Answer::Doubt, [Done, Unknown, Unknown, Unknown]),
        ] {
            let all = [There::AsMeant, There::AsBefore, There::Otherwise, There::Unseen];
            assert_eq!(all.map(|there| verdict(answer, there)), expected, "{answer:?}");
        }
    }

    #[test]
    fn an_answer_refuses_all_or_some() {
        for (told, expected) in [
            (&[][..], Answer::Accepted),
            (&[(Name::Displayname, 200)], Answer::Accepted),
            (
                &[(Name::Displayname, 424), (Name::CalendarOrder, 403)],
                Answer::Rejected,
            ),
            (&[(Name::Displayname, 200), (Name::CalendarOrder, 403)], Answer::Mixed),
        ] {
            assert_eq!(judged(told), expected, "{told:?}");
        }
    }

    #[test]
    fn a_patch_is_checked_before_anything_is_sent() {
        let pointers = |patch: &CalendarPatch| match checked(patch) {
            Ok(_) => Vec::new(),
            Err(error) => error.violations.into_iter().map(|it| it.pointer).collect(),
        };
        assert_eq!(pointers(&CalendarPatch::default()), ["/patch"]);
        let wrong = CalendarPatch {
            display_name: Some(Set::To(String::new())),
            description: Some(Set::To(Description {
                text: "é".repeat(4097),
                language: Some("de_DE".into()),
            })),
            color: Some(Set::To("red".into())),
            order: Some(Set::To(u32::MAX)),
            time_zone: Some(Set::To("Mars/Olympus".into())),
        };
        let expected = [
            "/patch/color/value",
            "/patch/description/language",
            "/patch/description/value",
            "/patch/displayName/value",
            "/patch/order/value",
            "/patch/timeZone/value",
        ];
        assert_eq!(pointers(&wrong), expected);
        for (tag, expected) in [
            ("de", true),
            ("en-GB-oed", true),
            ("", false),
            ("de-", false),
            ("1a", false),
            ("abcdefghi", false),
        ] {
            assert_eq!(is_language(tag), expected, "{tag}");
        }
    }
}
