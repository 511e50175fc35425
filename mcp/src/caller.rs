//! Whoever waits for the answer to a call: may take the call back, may leave, and may want to see how far it is.

use std::pin::{Pin, pin};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long a call is silent before it says how far it is.
const FIRST: Duration = Duration::from_millis(500);
/// How long it is silent between two such words at least.
const BETWEEN: Duration = Duration::from_millis(250);
/// And at most, though nothing has changed: a sign of life.
const AGAIN: Duration = Duration::from_secs(1);

/// The phase of a call that has not begun.
pub(crate) const START: &str = "start";
/// The phase of a call that waits for a person.
pub(crate) const CONFIRMATION: &str = "confirmation";
/// The phase of a call that waits for its turn.
pub(crate) const QUEUE: &str = "queue";

/// How the user of a client can be asked something.
pub(crate) enum Asking {
    /// The call ends with the question, and is sent again with the answer.
    Again {
        /// Whether the client has forms.
        forms: bool,
        /// What came back of the question.
        state: Option<String>,
        /// What was answered, by key; `null` if nothing was.
        responses: Value,
    },
    /// While the call waits.
    Meanwhile(Form),
    /// Not at all.
    Never,
}

/// Shows a form.
pub(crate) type Form = Box<dyn Fn(Question) -> Pin<Box<dyn Future<Output = Said> + Send>> + Send + Sync>;

/// What came of a form.
#[derive(Debug)]
pub(crate) enum Said {
    /// The action and the content.
    Answer(String, Option<Value>),
    /// The client does not show it.
    Refused,
    /// The call was taken back, or nobody is there any more.
    Nothing,
}

/// What a user is asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) key: &'static str,
    pub(crate) message: String,
    /// The form, as JSON Schema.
    pub(crate) schema: Value,
}

/// Makes callers of one call, which may run several operations.
pub(crate) type Callers = Box<dyn Fn() -> Caller + Send + Sync>;

/// The caller, as the call sees it.
pub(crate) struct Caller {
    /// Resolves when this call is taken back.
    pub(crate) canceled: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Resolves when nobody is there any more.
    pub(crate) gone: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Where the call says what it is doing.
    pub(crate) phase: watch::Sender<&'static str>,
}

/// Awaits the work. If it takes long, `say` is called with a rising count and the phase, until it answers false.
///
/// What is being said is said to its end before the work is looked at again, so that no answer overtakes it.
pub(crate) async fn telling<T, S: Future<Output = bool>>(
    work: impl Future<Output = T>,
    phase: &watch::Sender<&'static str>,
    mut say: impl FnMut(u32, &'static str) -> S,
) -> T {
    let (mut work, mut phase) = (pin!(work), phase.subscribe());
    let (mut silent, mut patience) = (FIRST, Duration::ZERO);
    for count in 1.. {
        let due = async {
            sleep(silent).await;
            // Too late is as good as changed.
            let _ = timeout(patience, phase.changed()).await;
        };
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = due => {}
        }
        let name = *phase.borrow_and_update();
        if !say(count, name).await {
            break;
        }
        (silent, patience) = (BETWEEN, AGAIN - BETWEEN);
    }
    work.await
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::ready;

    use tokio::time::Instant;

    use super::*;

    /// What is said, and when in milliseconds, while the phases change at these milliseconds and the last one ends it.
    async fn said(changes: &[(u64, &'static str)], listens: bool) -> Vec<(u32, &'static str, u128)> {
        let (phase, _) = watch::channel(START);
        let (start, said) = (Instant::now(), RefCell::new(Vec::new()));
        let work = async {
            for (millis, name) in changes {
                tokio::time::sleep_until(start + Duration::from_millis(*millis)).await;
                phase.send_replace(name);
            }
        };
        let say = |count, name| {
            said.borrow_mut().push((count, name, start.elapsed().as_millis()));
            ready(listens)
        };
        telling(work, &phase, say).await;
        said.into_inner()
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_quick_says_nothing() {
        assert_eq!(said(&[(0, "discovery"), (499, "end")], true).await, []);
        assert_eq!(said(&[(500, "end")], true).await, [], "the answer comes first");
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_long_says_what_it_does_neither_too_often_nor_too_seldom() {
        let changes = [
            (10, "discovery"),
            (600, "fetch"),
            (700, "order"),
            (1200, "fetch"),
            (4000, "end"),
        ];
        let said = said(&changes, true).await;
        let expected = [
            (1, "discovery", 500),
            (2, "order", 750),
            (3, "fetch", 1200),
            (4, "fetch", 2200),
            (5, "fetch", 3200),
        ];
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (found, wanted) in said.iter().zip(expected) {
            assert_eq!((found.0, found.1), (wanted.0, wanted.1), "{said:?}");
            // The clock is simulated; its timers have steps of a millisecond.
            assert!((wanted.2..wanted.2 + 10).contains(&found.2), "{said:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_said_to_who_does_not_listen() {
        assert_eq!(said(&[(10, "fetch"), (9000, "end")], false).await.len(), 1);
    }
}
