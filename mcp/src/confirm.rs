//! When a person is asked, what they read, and what their answer means.
//!
//! What is shown of calendars is other people's text: it is quoted, cut, and its control characters are made visible, so
//! that it cannot look like a line of ours.

use std::fmt::Write as _;

use kalends_core::change::{Fact, Review};
use kalends_core::confirmation::mismatch;
use kalends_core::outcome::{Code, Dimension, Error, Limits, Outcome, Phase};
use serde_json::{Value, json};

use crate::tool::change::Ask;

/// The longest text that a person is shown, in bytes.
const MAX_PREVIEW: usize = 64 << 10;
/// The most that is shown of one value, in characters.
const MAX_VALUE: usize = 500;

/// `CALDAV_CONFIRMATION_POLICY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    #[default]
    Always,
    DestructiveScope,
    Never,
}

impl Policy {
    /// Whether this has to be asked.
    pub(crate) fn demands(self, ask: Ask) -> bool {
        match (self, ask) {
            (Self::Never, _) | (Self::DestructiveScope, Ask::Delete | Ask::ReplaceAll) => false,
            (Self::Always, _) | (Self::DestructiveScope, Ask::DeleteCalendar | Ask::Series | Ask::Exact) => true,
        }
    }
}

impl Ask {
    /// The key of the question.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Delete | Self::DeleteCalendar => "confirm_delete",
            Self::ReplaceAll | Self::Series => "confirm_replace_all",
            Self::Exact => "confirm_exact_write",
        }
    }

    /// What the box says that has to be ticked.
    fn title(self) -> &'static str {
        match self {
            Self::Delete | Self::DeleteCalendar => "Confirm deletion",
            Self::ReplaceAll | Self::Series => "Confirm replacement",
            Self::Exact => "Confirm exact write",
        }
    }

    /// The first line of the question.
    fn opening(self) -> &'static str {
        match self {
            Self::Delete => "Delete this calendar resource?",
            Self::DeleteCalendar => "Delete this calendar with everything in it?",
            Self::ReplaceAll => "Replace these values of a calendar resource?",
            Self::Series => "Change several occurrences of a calendar resource at once?",
            Self::Exact => "Write this calendar resource exactly as given?",
        }
    }

    /// The form: one box, not ticked.
    pub(crate) fn schema(self) -> Value {
        json!({
            "type": "object",
            "properties": {"confirm": {"type": "boolean", "title": self.title()}},
            "required": ["confirm"]
        })
    }

    /// The whole question.
    ///
    /// # Errors
    /// `payload_too_large`.
    pub(crate) fn message(self, review: &Review) -> Outcome<String> {
        let mut text = self.opening().to_owned();
        for Fact { name, value } in &review.facts {
            let _ = write!(text, "\n{name}: {}", quoted(value));
        }
        if review.may_notify {
            text.push_str("\nThe calendar server may send messages about this to the people who take part.");
        }
        if text.len() <= MAX_PREVIEW {
            return Ok(text);
        }
        let mut error = Error::new(
            Code::PayloadTooLarge,
            Phase::Mrtr,
            "What would have to be confirmed is too long to be shown. Change less at a time. Nothing was changed.",
        );
        error.limits = Some(Limits {
            dimension: Dimension::ByteCount,
            observed: text.len() as u64,
            limit: MAX_PREVIEW as u64,
        });
        Err(error)
    }
}

/// A value between quotes, on one line, cut.
fn quoted(value: &str) -> String {
    let mut shown: String = value.chars().take(MAX_VALUE).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    // Escapes quotes, control characters and what changes the direction of text.
    format!("{shown:?}")
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Go on.
    Confirmed,
    /// Do not.
    Declined,
}

/// What an answer means. An accepted form without its box is none: some clients send it without asking anybody.
///
/// # Errors
/// `confirmation_mismatch`.
pub(crate) fn judge(action: &str, content: Option<&Value>) -> Outcome<Verdict> {
    match (action, content.and_then(|content| content.get("confirm"))) {
        ("accept", Some(Value::Bool(true))) => Ok(Verdict::Confirmed),
        ("accept", Some(Value::Bool(false))) | ("decline" | "cancel", _) => Ok(Verdict::Declined),
        ("accept", _) => Err(Error::new(
            Code::ConfirmationMismatch,
            Phase::Mrtr,
            "The form came back accepted and without the box that has to be ticked, so nobody may have seen it. Nothing was changed.",
        )),
        _ => Err(mismatch()),
    }
}

/// The one answer among those of a continuation.
///
/// # Errors
/// `confirmation_mismatch` if there is another number of them or another form.
pub(crate) fn answered(ask: Ask, responses: &Value) -> Outcome<Verdict> {
    let responses = responses.as_object().filter(|responses| responses.len() == 1);
    let response = responses.and_then(|responses| responses.get(ask.key()));
    let response = response.ok_or_else(mismatch)?;
    judge(response["action"].as_str().unwrap_or_default(), response.get("content"))
}

/// The client has no way to ask its user.
pub(crate) fn unavailable() -> Box<Error> {
    Error::new(
        Code::UnsupportedCapability,
        Phase::Mrtr,
        "This change needs the user's confirmation, and this client has no form elicitation to ask for it. Nothing was changed. Whoever runs the server can set CALDAV_CONFIRMATION_FALLBACK=two_step, or with CALDAV_CONFIRMATION_POLICY=destructive-scope or never ask less.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policies_ask_as_the_table_says() {
        use Ask::{Delete, DeleteCalendar, Exact, ReplaceAll, Series};
        for (ask, always, destructive) in [
            (DeleteCalendar, true, true),
            (Exact, true, true),
            (Series, true, true),
            (ReplaceAll, true, false),
            (Delete, true, false),
        ] {
            assert_eq!(Policy::Always.demands(ask), always);
            assert_eq!(Policy::DestructiveScope.demands(ask), destructive);
            assert!(!Policy::Never.demands(ask));
        }
    }

    #[test]
    fn only_a_ticked_box_is_a_yes() {
        let code = |action, content: Value| judge(action, Some(&content)).map_err(|error| error.code);
        assert_eq!(code("accept", json!({"confirm": true})), Ok(Verdict::Confirmed));
        for content in [
            json!({}),
            json!({"confirm": "true"}),
            json!({"confirm": null}),
            json!([true]),
            json!(true),
        ] {
            assert_eq!(code("accept", content), Err(Code::ConfirmationMismatch));
        }
        assert_eq!(
            judge("accept", None).map_err(|error| error.code),
            Err(Code::ConfirmationMismatch)
        );
        assert_eq!(code("accept", json!({"confirm": false})), Ok(Verdict::Declined));
        assert_eq!(judge("decline", None).ok(), Some(Verdict::Declined));
        assert_eq!(code("cancel", json!({"confirm": true})), Ok(Verdict::Declined));
        assert_eq!(code("", json!({"confirm": true})), Err(Code::ConfirmationMismatch));
        let yes = json!({"action": "accept", "content": {"confirm": true}});
        assert_eq!(
            answered(Ask::Delete, &json!({"confirm_delete": yes})).ok(),
            Some(Verdict::Confirmed)
        );
        for responses in [
            json!({"confirm_exact_write": yes}),
            json!({"confirm_delete": yes, "other": yes}),
            json!({}),
            json!([yes]),
            Value::Null,
        ] {
            assert!(answered(Ask::Delete, &responses).is_err(), "{responses}");
        }
    }

    #[test]
    fn calendar_text_stays_on_its_line() {
        let facts = vec![
            Fact::new("UID", "a\"\nScope: \"all\u{202e}x\u{7}"),
            Fact::new("Entity Tag", "x".repeat(600)),
        ];
        let review = Review::of(&[], facts, true);
        let text = Ask::Delete.message(&review).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "Delete this calendar resource?");
        assert_eq!(lines[1], r#"UID: "a\"\nScope: \"all\u{202e}x\u{7}""#);
        assert_eq!(lines[2].chars().count(), "Entity Tag: ".len() + 503);
        assert!(lines[3].starts_with("The calendar server may send messages"));
        let facts = vec![Fact::new("Collection", "x".repeat(400)); 200];
        let error = Ask::Series.message(&Review::of(&[], facts, false)).unwrap_err();
        assert_eq!(error.code, Code::PayloadTooLarge);
    }
}
