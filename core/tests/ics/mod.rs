//! Reads the recurrence sets of a document, as far as the tests here need it.

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::civil::{Date, DateTime};
use kalends_core::ical::document::{Component, Document, Property};
use kalends_core::ical::duration::Duration;
use kalends_core::ical::expand::{
    Frame, Instance, RecurrenceDate, Series, SeriesOverride, Span, Unevaluable, Window, occurrences,
};
use kalends_core::ical::recur::{Rule, Steps};
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::{Zone, Zones};

/// The series of a document by UID, in no order of their own.
pub(crate) struct Sets {
    pub(crate) zones: Zones,
    pub(crate) series: BTreeMap<String, Series>,
    /// SUMMARY by the index of the component.
    pub(crate) summaries: BTreeMap<usize, String>,
    pub(crate) masters: BTreeMap<String, usize>,
}

impl Sets {
    pub(crate) fn read(octets: &[u8]) -> Self {
        let document = Document::parse(Bytes::copy_from_slice(octets)).expect("not too large");
        let mut sets = Self {
            zones: Zones::read(&document),
            series: BTreeMap::new(),
            summaries: BTreeMap::new(),
            masters: BTreeMap::new(),
        };
        let components = document.roots().flat_map(Component::children);
        for component in components.filter(|it| it.is("VEVENT") || it.is("VTODO")) {
            let uid = component.first("UID").map(text).unwrap_or_default();
            let summary = component.first("SUMMARY").map(text).unwrap_or_default();
            sets.summaries.insert(component.index(), summary.replace("\\,", ","));
            let series = sets.series.entry(uid.clone()).or_insert_with(|| Series {
                start: None,
                span: Span::None,
                rules: Vec::new(),
                exrules: Vec::new(),
                rdates: Vec::new(),
                exdates: Vec::new(),
                overrides: Vec::new(),
            });
            let start = component.first("DTSTART").map(single);
            let span = span(component);
            if let Some(identity) = component.first("RECURRENCE-ID") {
                let range = identity.parameter("RANGE").unwrap_or_default();
                series.overrides.push(SeriesOverride {
                    component: component.index(),
                    identity: single(identity),
                    future: range.eq_ignore_ascii_case("THISANDFUTURE"),
                    start,
                    span: Some(span),
                    cancelled: component.first("STATUS").map(text).as_deref() == Some("CANCELLED"),
                });
                continue;
            }
            sets.masters.insert(uid, component.index());
            series.start = start;
            series.span = span;
            series.rules = component
                .all("RRULE")
                .map(|it| Rule::parse(&text(it)).expect("a rule"))
                .collect();
            series.exrules = component
                .all("EXRULE")
                .map(|it| Rule::parse(&text(it)).expect("a rule"))
                .collect();
            series.exdates = component.all("EXDATE").flat_map(list).map(|it| it.start).collect();
            series.rdates = component.all("RDATE").flat_map(list).collect();
        }
        sets
    }

    pub(crate) fn expand(&self, uid: &str, evaluation: &Zone, window: Window) -> Result<Vec<Instance>, Unevaluable> {
        let frame = Frame {
            zones: &self.zones,
            evaluation,
        };
        occurrences(&self.series[uid], &frame, window, &mut Steps::new(100_000))
    }
}

fn text(property: Property<'_>) -> String {
    String::from_utf8(property.value().into_owned()).expect("UTF-8")
}

fn span(component: Component<'_>) -> Span {
    let end = component.first("DTEND").or_else(|| component.first("DUE"));
    match (end, component.first("DURATION")) {
        (Some(end), _) => Span::Until(single(end)),
        (None, Some(length)) => Span::Length(Duration::parse(&text(length)).expect("a duration")),
        (None, None) => Span::None,
    }
}

fn single(property: Property<'_>) -> Temporal {
    list(property).remove(0).start
}

fn list(property: Property<'_>) -> Vec<RecurrenceDate> {
    let zone = property.parameter("TZID");
    let read = |text: &str| temporal(text, zone.as_deref());
    let period = |item: &str| match item.split_once('/') {
        None => (read(item), None),
        Some((start, end)) if end.contains('P') => (
            read(start),
            Some(Span::Length(Duration::parse(end).expect("a duration"))),
        ),
        Some((start, end)) => (read(start), Some(Span::Until(read(end)))),
    };
    let dates = text(property);
    dates
        .split(',')
        .map(period)
        .map(|(start, span)| RecurrenceDate { start, span })
        .collect()
}

pub(crate) fn temporal(text: &str, zone: Option<&str>) -> Temporal {
    if text.len() == 8 {
        return Temporal::Date(text.parse::<Date>().expect("a date"));
    }
    let time: DateTime = text.trim_end_matches('Z').parse().expect("a time");
    match zone {
        _ if text.ends_with('Z') => Temporal::Utc(time),
        Some(zone) => Temporal::Zoned(time, zone.into()),
        None => Temporal::Floating(time),
    }
}
