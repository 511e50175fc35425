//! When one Calendar is busy, as its server computes it (RFC 4791, 7.10).

use std::sync::Arc;

use http::StatusCode;
use jiff::Timestamp;

use crate::account::Account;
use crate::account::quirk::Quirk;
use crate::dav::free_busy_query;
use crate::env::Env;
use crate::exchange::fault::refused;
use crate::exchange::{Answer, Channel, Rules, exhausted, protocol};
use crate::flow::{Flow, Io};
use crate::href::Href;
use crate::ical::expand::Window;
use crate::ical::free_busy::{self, BusyPeriod, Fault, MAX_LINES, MAX_PERIODS, Shape};
use crate::machine::Machine;
use crate::operation::Operation;
use crate::ops::discover::{report_refused, request};
use crate::ops::get_resource::is_web_page;
use crate::ops::scope;
use crate::outcome::{Dimension, Error, Outcome, Phase};
use crate::query::window::window_violation;

/// Asks for the busy time of one Calendar in a half-open window.
#[derive(Clone, Debug)]
pub struct QueryFreeBusy {
    /// Absolute URL of the Calendar, as results give it.
    pub calendar_href: String,
    /// First instant of the window, a whole second.
    pub from: Timestamp,
    /// First instant after the window, a whole second.
    pub to: Timestamp,
}

/// The busy time of a Calendar. What is not in it is free, as far as the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeBusy {
    /// Where the Calendar is.
    pub calendar: Href,
    /// Within the window, merged for each type, by start, end and type.
    pub periods: Vec<BusyPeriod>,
}

impl Operation for QueryFreeBusy {
    type Outcome = Outcome<FreeBusy>;

    fn start(self, env: Env, account: &Arc<Account>) -> impl Machine<Output = Self::Outcome> + Send + 'static + use<> {
        let account = Arc::clone(account);
        Flow::new(
            env.now,
            move |io| async move { query(&io, &account, &env, &self).await },
        )
    }
}

async fn query(io: &Io, account: &Account, env: &Env, ask: &QueryFreeBusy) -> Outcome<FreeBusy> {
    if let Some(violation) = window_violation(ask.from, ask.to) {
        return Err(Error::violations(Phase::SchemaLexicalDiscriminator, vec![violation]));
    }
    let channel = Channel::reading(io, account, env);
    io.phase("discovery");
    let calendar = scope::calendar(&channel, &ask.calendar_href, "/calendarHref").await?;
    io.phase("fetch");
    let window = Window {
        from: ask.from.as_second(),
        to: ask.to.as_second(),
    };
    let request = request("REPORT", "1", free_busy_query::body(window.from, window.to));
    let answer = channel
        .send(&calendar, request, Rules::BRIEF_REPORT)
        .await
        .map_err(|fault| channel.error(&fault))?;
    let shape = if account.has(Quirk::FreeBusyByComponent) {
        Shape::ByComponent
    } else {
        Shape::Standard
    };
    Ok(FreeBusy {
        calendar,
        periods: periods(answer, window, shape)?,
    })
}

/// The periods of an answer. Media types are wrong on some servers, so the body decides.
fn periods(answer: Answer, window: Window, shape: Shape) -> Outcome<Vec<BusyPeriod>> {
    let status = answer.response.status();
    if status != StatusCode::OK || is_web_page(&answer) {
        return Err(match status {
            _ if !status.is_success() => report_refused(&answer).unwrap_or_else(|| refused(status)),
            _ => protocol(format!(
                "The CalDAV server answered {status} without a free/busy report. That says nothing about free time."
            )),
        });
    }
    free_busy::read(answer.response.into_body(), window, shape).map_err(|fault| match fault {
        Fault::TooManyPeriods => too_much(MAX_PERIODS),
        Fault::TooManyLines => too_much(MAX_LINES),
        Fault::Malformed(what) => protocol(format!(
            "The CalDAV server's free/busy report cannot be used: {what}. That says nothing about free time; query the occurrences instead."
        )),
    })
}

fn too_much(limit: usize) -> Box<Error> {
    let message = "The free/busy report is longer than is read. Ask for a smaller window.";
    exhausted(Dimension::ResourceCount, limit + 1, limit, message)
}
