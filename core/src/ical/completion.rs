//! Whether a To-do is done: its three properties about that can contradict each other.

use serde::Serialize;

use super::entity::{Entity, Kind};
use super::part::{Name, Part};
use super::value::{Temporal, integer, lossy};
use crate::outcome::Diagnostic;

/// The completion state of a To-do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompletionState {
    /// To be done.
    Open,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
    /// Its properties contradict each other, or cannot be read.
    Indeterminate,
}

/// What the properties say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Absent,
    Open,
    Completed,
    Cancelled,
}

/// The rows are STATUS, the columns evidence of completion: COMPLETED, or 100 %. `short` is a percentage below 100.
///
/// | STATUS | no evidence | evidence, not `short` | evidence and `short` |
/// |---|---|---|---|
/// | absent | open | completed | conflict |
/// | NEEDS-ACTION, IN-PROCESS | open | conflict | conflict |
/// | COMPLETED | completed; conflict if `short` | completed | conflict |
/// | CANCELLED | cancelled | conflict | conflict |
fn decide(status: Status, timestamp: bool, percent: Option<u8>) -> Option<CompletionState> {
    let evidence = timestamp || percent == Some(100);
    let short = percent.is_some_and(|percent| percent < 100);
    match (status, evidence) {
        (Status::Absent | Status::Open, false) => Some(CompletionState::Open),
        (Status::Cancelled, false) => Some(CompletionState::Cancelled),
        (Status::Open | Status::Cancelled, true) => None,
        (Status::Absent, true) | (Status::Completed, _) => (!short).then_some(CompletionState::Completed),
    }
}

impl Entity {
    /// Whether the To-do, or its override with this component index, is done; and why that cannot be told. `None` if
    /// there is no such To-do.
    #[must_use]
    pub fn completion(&self, component: Option<usize>) -> Option<Result<CompletionState, Diagnostic>> {
        let part = self
            .part(component)
            .filter(|_| self.kind() == Some(Kind::Todo) && self.opaque().is_none())?;
        Some(self.completion_of(part))
    }

    pub(super) fn completion_of(&self, part: &Part) -> Result<CompletionState, Diagnostic> {
        let document = self.document();
        if [Name::Status, Name::Completed, Name::PercentComplete]
            .iter()
            .any(|name| part.repeats(*name))
        {
            return Err(Diagnostic::warning(
                "completion_property_ambiguous",
                "A property about completion stands several times.",
            ));
        }
        let value = |name| part.first(document, name).map(|property| property.value());
        let status = value(Name::Status).map(|status| lossy(status).trim().to_ascii_uppercase());
        let status = match status.as_deref() {
            None => Status::Absent,
            Some("NEEDS-ACTION" | "IN-PROCESS") => Status::Open,
            Some("COMPLETED") => Status::Completed,
            Some("CANCELLED") => Status::Cancelled,
            Some(_) => {
                return Err(Diagnostic::warning(
                    "completion_status_unknown",
                    "The status of a To-do is none of those that are known.",
                ));
            }
        };
        let percent = value(Name::PercentComplete)
            .map(|percent| integer(&percent, 100))
            .transpose();
        let timestamp = part.temporal(document, Name::Completed).transpose();
        match (percent, timestamp) {
            (Ok(percent), Ok(timestamp @ (None | Some(Temporal::Utc(_))))) => {
                decide(status, timestamp.is_some(), percent).ok_or(Diagnostic::warning(
                    "completion_evidence_conflict",
                    "Status, time of completion and percentage contradict each other.",
                ))
            }
            _ => Err(Diagnostic::warning(
                "completion_value_invalid",
                "A property about completion cannot be read.",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_decided() {
        use CompletionState::{Cancelled, Completed, Open};
        use Status as S;
        let columns = [
            (false, None),
            (false, Some(50)),
            (true, None),
            (false, Some(100)),
            (true, Some(100)),
            (true, Some(50)),
        ];
        for (status, want) in [
            (
                S::Absent,
                [
                    Some(Open),
                    Some(Open),
                    Some(Completed),
                    Some(Completed),
                    Some(Completed),
                    None,
                ],
            ),
            (S::Open, [Some(Open), Some(Open), None, None, None, None]),
            (
                S::Completed,
                [
                    Some(Completed),
                    None,
                    Some(Completed),
                    Some(Completed),
                    Some(Completed),
                    None,
                ],
            ),
            (S::Cancelled, [Some(Cancelled), Some(Cancelled), None, None, None, None]),
        ] {
            let got = columns.map(|(timestamp, percent)| decide(status, timestamp, percent));
            assert_eq!(got, want, "{status:?}");
        }
    }

    #[test]
    fn what_cannot_be_told_has_a_reason() {
        for (lines, want) in [
            ("STATUS:COMPLETED\nSTATUS:CANCELLED\n", "completion_property_ambiguous"),
            ("STATUS:X-LATER\n", "completion_status_unknown"),
            ("COMPLETED:20260101T000000\n", "completion_value_invalid"),
            ("PERCENT-COMPLETE:101\n", "completion_value_invalid"),
            (
                "STATUS:in-process\nCOMPLETED:20260101T000000Z\n",
                "completion_evidence_conflict",
            ),
        ] {
            let text = format!("BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VTODO\nUID:1\n{lines}END:VTODO\nEND:VCALENDAR\n");
            let entity = Entity::read(text.into());
            let told = entity.completion(None).expect("a To-do").expect_err("not to be told");
            assert_eq!(told.code, want);
            assert!(entity.diagnostics().contains(&told));
        }
    }
}
