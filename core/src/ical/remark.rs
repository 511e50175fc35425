//! What is odd about a resource, in a closed list of codes.

mod series;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::document::{Component, FaultKind, Property};
use super::duration::Duration;
use super::entity::{Entity, Kind};
use super::part::{Name, Part};
use super::project::Fields;
use super::raw::{CalendarProperty, MAX_SHOWN};
use super::structured;
use super::value::{DateOrPeriod, Temporal, Times, lossy};
use super::zone::Resolution;
use crate::outcome::Diagnostic;

impl Entity {
    /// The reason why the resource is opaque, or what was read with leniency, in the order of the codes.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.remarks.get_or_init(|| self.remarked())
    }

    fn remarked(&self) -> Vec<Diagnostic> {
        let mut remarks = BTreeSet::new();
        match (self.opaque(), self.kind()) {
            (None, Some(kind)) => self.remark(kind, &mut remarks),
            (reason, _) => {
                remarks.insert(Diagnostic::error(
                    reason.unwrap_or("invalid_calendar_data"),
                    "The resource cannot be taken for one Event or To-do; its properties are shown as stored.",
                ));
                let (shown, omitted) = CalendarProperty::all(self.document());
                if omitted > 0 {
                    let all = shown.len() + omitted;
                    remarks.insert(Diagnostic::warning(
                        "opaque_properties_omitted",
                        format!("{omitted} of {all} properties are left out: more than {MAX_SHOWN}, or than 256 KiB in all, are not shown."),
                    ));
                }
            }
        }
        remarks.into_iter().collect()
    }

    fn remark(&self, kind: Kind, remarks: &mut BTreeSet<Diagnostic>) {
        let mut warn = |code, message| {
            remarks.insert(Diagnostic::warning(code, message));
        };
        for fault in self.document().faults() {
            match fault.kind {
                FaultKind::NoColon | FaultKind::UnbalancedQuote => {
                    warn(
                        "content_line_invalid",
                        "A content line is malformed and was passed over.",
                    );
                }
                FaultKind::Unclosed | FaultKind::StrayEnd | FaultKind::TooDeep => {}
            }
        }
        let calendar = self.document().roots().find(|root| root.is("VCALENDAR"));
        if calendar.is_some_and(|calendar| ["VERSION", "PRODID"].iter().any(|name| calendar.first(name).is_none())) {
            warn("calendar_required_property_invalid", "VERSION or PRODID is missing.");
        }
        if self.parts().any(Part::repeats_any) {
            warn(
                "singleton_property_repeated",
                "A property stands several times where one may stand; the first counts.",
            );
        }
        if self.parts().any(|part| self.misdeclares(part, kind)) {
            warn(
                "value_type_mismatch",
                "A date or time is not of the type that its VALUE parameter, or the lack of one, says.",
            );
        }
        if let Some(start) = self.master.as_ref().and_then(|master| master.start.as_ref())
            && !self
                .overrides
                .iter()
                .filter_map(|part| part.identity.as_ref())
                .all(|it| it.same_family(start))
        {
            warn(
                "recurrence_identity_family_mismatch",
                "An override names its occurrence by a day where the start has a time, or the reverse.",
            );
        }
        for part in self.parts() {
            self.remark_end(part, kind, remarks);
            if kind == Kind::Todo
                && let Err(reason) = self.completion_of(part)
            {
                remarks.insert(reason);
            }
        }
        self.remark_inline(remarks);
        self.remark_series(remarks);
        let fields = self.master_fields(kind, remarks);
        let mut zones = Used::default();
        zones.note_all(&fields);
        self.remark_zones(&zones, remarks);
        if zones.floating && calendar.is_some_and(|calendar| calendar.first("X-WR-TIMEZONE").is_some()) {
            remarks.insert(Diagnostic::info(
                "floating_time_zone_hint",
                "X-WR-TIMEZONE names a zone; it is no standard property and is not applied to times without a zone.",
            ));
        }
    }

    /// Attachments and images whose content stands in the calendar itself have no URI to be shown.
    fn remark_inline(&self, remarks: &mut BTreeSet<Diagnostic>) {
        let inline = |component: Component<'_>| {
            let named = |property: &Property<'_>| {
                ["ATTACH", "IMAGE", "STRUCTURED-DATA"]
                    .iter()
                    .any(|name| property.is(name))
            };
            let properties = component.properties().filter(named);
            properties.filter(|property| structured::is_inline(*property)).count()
        };
        let components = self.parts().filter_map(|part| part.with_structured(self.document()));
        let count: usize = components
            .map(|it| inline(it) + it.children().map(inline).sum::<usize>())
            .sum();
        if count > 0 {
            remarks.insert(Diagnostic::info(
                "inline_content_omitted",
                format!("{count} attachments or images hold their content inline and have no URI; they are left out, and stay as they are."),
            ));
        }
    }

    fn remark_zones(&self, used: &Used<'_>, remarks: &mut BTreeSet<Diagnostic>) {
        for zone in &used.zones {
            match self.zones.resolve(zone) {
                Resolution::Own(_) | Resolution::Iana(_) => {}
                Resolution::External(_) => {
                    remarks.insert(Diagnostic::info(
                        "timezone_reference_resolved_externally",
                        "A TZID without a usable definition was taken for the IANA zone that it stands for.",
                    ));
                }
                Resolution::Unresolved => {
                    remarks.insert(Diagnostic::warning(
                        "timezone_reference_unresolved",
                        "A TZID has no usable definition and names no known zone.",
                    ));
                }
            }
        }
    }

    fn misdeclares(&self, part: &Part, kind: Kind) -> bool {
        [Name::Dtstart, kind.end(), Name::RecurrenceId].into_iter().any(|name| {
            let times = part.first(self.document(), name).map(Times::of);
            times.is_some_and(|times| times.single().is_ok_and(|value| times.misdeclares(&value)))
        })
    }

    fn remark_end(&self, part: &Part, kind: Kind, remarks: &mut BTreeSet<Diagnostic>) {
        let end = part.temporal(self.document(), kind.end()).and_then(Result::ok);
        if let (Some(start), Some(end)) = (&part.start, &end) {
            if !start.same_family(end) {
                remarks.insert(Diagnostic::warning(
                    "end_type_mismatch",
                    "The end is a day where the start has a time, or the reverse; it is not used.",
                ));
            } else if self.ends_early(start, end, kind) {
                remarks.insert(Diagnostic::warning(
                    "end_not_after_start",
                    "The end is not after the start; it is not used.",
                ));
            }
        }
        let duration = part.first(self.document(), Name::Duration);
        let duration = duration.and_then(|property| Duration::parse(&lossy(property.value())));
        if duration.is_some_and(|duration| duration.is_negative()) {
            remarks.insert(Diagnostic::warning(
                "duration_not_positive",
                "The duration is negative; it is not used.",
            ));
        }
        if kind == Kind::Todo && duration.is_some() && part.start.is_none() && part.identity.is_none() {
            remarks.insert(Diagnostic::warning(
                "duration_start_required",
                "There is a duration without a start; it is not used.",
            ));
        }
    }

    /// Whether an end of the same family cannot be one: before the start, or, of an all-day Event, on its day.
    pub(super) fn ends_early(&self, start: &Temporal, end: &Temporal, kind: Kind) -> bool {
        match self.order(end, start) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => start.is_date() && kind == Kind::Event,
            Some(Ordering::Greater) | None => false,
        }
    }

    /// Which of two comes first, where that does not depend on an evaluation zone.
    fn order(&self, a: &Temporal, b: &Temporal) -> Option<Ordering> {
        match (a, b) {
            (Temporal::Zoned(_, one), Temporal::Zoned(_, other)) if one == other => Some(a.civil().cmp(&b.civil())),
            (Temporal::Date(_), Temporal::Date(_))
            | (Temporal::Floating(_), Temporal::Floating(_))
            | (Temporal::Utc(_), Temporal::Utc(_)) => Some(a.civil().cmp(&b.civil())),
            _ => Some(self.second(a)?.cmp(&self.second(b)?)),
        }
    }

    /// The moment in seconds since 1970, of a time that has a zone.
    fn second(&self, time: &Temporal) -> Option<i64> {
        match time {
            Temporal::Date(_) | Temporal::Floating(_) => None,
            Temporal::Utc(time) => Some(super::zone::Zone::utc().resolve_local(*time).second),
            Temporal::Zoned(time, zone) => Some(self.zones.resolve(zone).zone()?.resolve_local(*time).second),
        }
    }
}

/// The zones that the times of a resource name.
#[derive(Default)]
struct Used<'a> {
    zones: BTreeSet<&'a str>,
    floating: bool,
}

impl<'a> Used<'a> {
    fn note(&mut self, time: &'a Temporal) {
        match time {
            Temporal::Zoned(_, zone) => {
                self.zones.insert(zone);
            }
            Temporal::Floating(_) => self.floating = true,
            Temporal::Date(_) | Temporal::Utc(_) => {}
        }
    }

    fn note_all(&mut self, fields: &'a Fields) {
        [&fields.start, &fields.end, &fields.due]
            .into_iter()
            .flatten()
            .for_each(|time| self.note(time));
        let Some(set) = &fields.recurrence_set else {
            return;
        };
        set.exdates.iter().for_each(|time| self.note(time));
        for date in &set.rdates {
            self.note(date.start());
            if let DateOrPeriod::Period(period) = date
                && let Ok(end) = &period.end
            {
                self.note(end);
            }
        }
        for instance in &set.overrides {
            self.note(&instance.recurrence_identity.value);
            self.note_all(&instance.fields);
        }
    }
}
