//! Reads what the tools that change something are asked with: JSON to the types of the core, with everything that is
//! wrong with it. Objects are closed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jiff::civil::{Date, DateTime};
use kalends_core::change::Revision;
use kalends_core::ical::edit::collection::CollectionPatch;
use kalends_core::ical::edit::create::{NewFields, NewOverride, NewSeries};
use kalends_core::ical::edit::patch::{Patch, Target};
use kalends_core::ical::edit::recurrence_set::{NewRecurrence, Orphan, OverrideName};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::structured::{NamedUri, StructuredData};
use kalends_core::ical::value::{DateOrPeriod, Geo, Period, Temporal};
use kalends_core::ops::scope::{CalendarChoice, Destination};
use kalends_core::outcome::{Error, Outcome, Phase, Violation};
use serde_json::{Map, Value};

use crate::json::push_token;
use crate::schema::{integer, missing, violation};

type Members = Map<String, Value>;

const TIME: &str = "{\"kind\":\"zonedDateTime\",\"value\":\"2026-12-01T09:00:00\",\"timeZoneId\":\"Europe/Berlin\"}, or kind date with 2026-12-01, utcDateTime with 2026-12-01T08:00:00Z, floatingDateTime with 2026-12-01T09:00:00";

/// Collects what is wrong. Every reader gives `None` once it has noted something.
#[derive(Default)]
pub(crate) struct Input {
    found: Vec<Violation>,
}

/// The pointer to a member.
fn at(pointer: &str, member: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_token(&mut pointer, member);
    pointer
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl Input {
    /// What was read, if nothing is wrong.
    ///
    /// # Errors
    /// `invalid_input` with all that is.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Outcome<T> {
        read.filter(|_| self.found.is_empty())
            .ok_or_else(|| Error::violations(Phase::SchemaLexicalDiscriminator, self.found))
    }

    fn note<T>(&mut self, pointer: &str, code: &'static str, message: impl Into<String>) -> Option<T> {
        self.found.push(violation(pointer, code, message));
        None
    }

    fn took<T>(&mut self, read: Result<T, Vec<Violation>>) -> Option<T> {
        read.map_err(|found| self.found.extend(found)).ok()
    }

    /// An object of known members.
    pub(crate) fn object<'a>(
        &mut self,
        value: &'a Value,
        pointer: &str,
        known: &[&str],
        required: &[&str],
        hint: &str,
    ) -> Option<&'a Members> {
        let Some(members) = value.as_object() else {
            let text = format!("Send an object here, not {}: {hint}", kind_of(value));
            return self.note(pointer, "invalid_type", text);
        };
        let before = self.found.len();
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            let text = format!("Leave this member out. Known members here: {}.", known.join(", "));
            self.note::<()>(&at(pointer, name), "unknown_member", text);
        }
        for name in required.iter().filter(|name| !members.contains_key(**name)) {
            self.note::<()>(&at(pointer, name), "required_member", missing(name, Some(hint)));
        }
        (self.found.len() == before).then_some(members)
    }

    fn list<'a>(&mut self, value: &'a Value, pointer: &str) -> Option<&'a [Value]> {
        match value.as_array() {
            Some(items) => Some(items),
            None => self.note(
                pointer,
                "invalid_type",
                format!("Send an array here, not {}.", kind_of(value)),
            ),
        }
    }

    /// Each item, if none of them is wrong.
    fn each<T>(
        &mut self,
        value: &Value,
        pointer: &str,
        mut read: impl FnMut(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.list(value, pointer)?;
        let read: Vec<_> = items
            .iter()
            .enumerate()
            .map(|(index, item)| read(self, item, &format!("{pointer}/{index}")))
            .collect();
        read.into_iter().collect()
    }

    pub(crate) fn text(&mut self, value: &Value, pointer: &str, least: usize) -> Option<String> {
        match value {
            Value::String(text) if text.chars().count() >= least => Some(text.clone()),
            Value::String(_) => self.note(pointer, "length_out_of_range", "Send a text that is not empty."),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => self.note(
                pointer,
                "invalid_type",
                format!("Send a string here, not {}.", kind_of(value)),
            ),
        }
    }

    fn token<T: Copy>(&mut self, value: &Value, pointer: &str, tokens: &[(&str, T)]) -> Option<T> {
        let text = self.text(value, pointer, 0)?;
        match tokens.iter().find(|(token, _)| *token == text) {
            Some((_, meaning)) => Some(*meaning),
            None => {
                let known: Vec<_> = tokens.iter().map(|(token, _)| format!("\"{token}\"")).collect();
                self.note(
                    pointer,
                    "value_not_allowed",
                    format!("Send one of: {}.", known.join(", ")),
                )
            }
        }
    }

    fn number(&mut self, value: &Value, pointer: &str, most: u8) -> Option<u8> {
        let number = integer(value).and_then(|number| u8::try_from(number).ok());
        match number.filter(|number| *number <= most) {
            Some(number) => Some(number),
            None if integer(value).is_none() => {
                let text = format!("Send an integer here, not {}.", kind_of(value));
                self.note(pointer, "invalid_type", text)
            }
            None => self.note(pointer, "out_of_range", format!("Send 0 to {most}.")),
        }
    }

    // ---- times --------------------------------------------------------------------------------------------------

    /// A `temporalValue`.
    pub(crate) fn temporal(&mut self, value: &Value, pointer: &str) -> Option<Temporal> {
        let named = value["kind"] == "zonedDateTime";
        let known: &[&str] = if named || value["kind"].is_null() {
            &["kind", "value", "timeZoneId"]
        } else {
            &["kind", "value"]
        };
        let required: &[&str] = if named { known } else { &["kind", "value"] };
        let members = self.object(value, pointer, known, required, TIME)?;
        let kinds = ["date", "floatingDateTime", "utcDateTime", "zonedDateTime"].map(|kind| (kind, kind));
        let kind = self.token(&members["kind"], &at(pointer, "kind"), &kinds)?;
        let place = at(pointer, "value");
        let text = self.text(&members["value"], &place, 0)?;
        let (digits, wanted) = match kind {
            "date" => (Some(&*text).filter(|text| text.len() == 10), "a day such as 2026-12-01"),
            "utcDateTime" => (
                text.strip_suffix('Z'),
                "a time in UTC such as 2026-12-01T08:00:00Z (or kind zonedDateTime with the local time and timeZoneId)",
            ),
            "zonedDateTime" => (
                Some(&*text),
                "the local time without offset or Z, such as 2026-12-01T09:00:00; the zone stands in timeZoneId",
            ),
            _ => (
                Some(&*text),
                "a local time without offset or Z, such as 2026-12-01T09:00:00",
            ),
        };
        let wrong = || format!("Send {wanted}.");
        if kind == "date" {
            return match digits
                .filter(|text| is_date(text))
                .and_then(|text| text.parse::<Date>().ok())
            {
                Some(date) => Some(Temporal::Date(date)),
                None => self.note(&place, "format_mismatch", wrong()),
            };
        }
        let civil = digits
            .filter(|text| is_local(text))
            .and_then(|text| text.parse::<DateTime>().ok());
        let Some(civil) = civil else {
            return self.note(&place, "format_mismatch", wrong());
        };
        if civil.subsec_nanosecond() != 0 {
            return self.note(&place, "temporal_value_invalid", "Send whole seconds.");
        }
        Some(match kind {
            "utcDateTime" => Temporal::Utc(civil),
            "zonedDateTime" => {
                let zone = self.text(&members["timeZoneId"], &at(pointer, "timeZoneId"), 1)?;
                Temporal::Zoned(civil, zone.into())
            }
            _ => Temporal::Floating(civil),
        })
    }

    /// A `recurrenceIdentity`. It is compared as it is stored, so its zone may have any name.
    pub(crate) fn identity(&mut self, value: &Value, pointer: &str) -> Option<Temporal> {
        let hint = format!("as a result gives it: {{\"value\": {TIME}}}");
        let members = self.object(value, pointer, &["value"], &["value"], &hint)?;
        self.temporal(&members["value"], &at(pointer, "value"))
    }

    fn date_or_period(&mut self, value: &Value, pointer: &str) -> Option<DateOrPeriod> {
        if value["kind"] != "period" {
            return self.temporal(value, pointer).map(DateOrPeriod::Date);
        }
        let known = ["kind", "start", "end", "duration"];
        let hint = "{\"kind\":\"period\",\"start\":…} and end or duration";
        let members = self.object(value, pointer, &known, &["kind", "start"], hint)?;
        let start = self.temporal(&members["start"], &at(pointer, "start"));
        let end = match (members.get("end"), members.get("duration")) {
            (Some(end), None) => self.temporal(end, &at(pointer, "end")).map(Ok),
            (None, Some(length)) => {
                let place = at(pointer, "duration");
                let text = self.text(length, &place, 1)?;
                match kalends_core::ical::duration::Duration::parse(&text) {
                    Some(_) => Some(Err(text.into())),
                    None => self.note(&place, "duration_invalid", "Send a duration such as PT1H30M."),
                }
            }
            _ => self.note(pointer, "shape_mismatch", "Send either end or duration of the period."),
        };
        Some(DateOrPeriod::Period(Period {
            start: start?,
            end: end?,
        }))
    }

    // ---- references ---------------------------------------------------------------------------------------------

    /// A `revisionReference`, of this kind where one is given.
    pub(crate) fn revision(&mut self, value: &Value, pointer: &str, only: Option<Kind>) -> Option<Revision> {
        let known = ["href", "entityUid", "entityKind", "entityTag"];
        let hint = "the entityRevision of calendar_resources_get or of another result, whole and unchanged";
        let members = self.object(value, pointer, &known, &known, hint)?;
        let mut text = |name: &str| self.text(&members[name], &at(pointer, name), 1);
        let (href, uid, tag) = (text("href"), text("entityUid"), text("entityTag"));
        let kinds = [("event", Kind::Event), ("todo", Kind::Todo)];
        let place = at(pointer, "entityKind");
        let kind = self.token(&members["entityKind"], &place, &kinds)?;
        if only.is_some_and(|only| only != kind) {
            let text = format!("This tool changes a resource of the other kind than {}.", kind.name());
            return self.note(&place, "value_not_allowed", text);
        }
        Some(Revision {
            href: href?,
            uid: uid?,
            kind,
            tag: tag?,
        })
    }

    /// A `calendarDestination`.
    pub(crate) fn destination(&mut self, value: &Value, pointer: &str) -> Option<Destination> {
        let hint = "{\"mode\":\"default\"} or {\"mode\":\"selected\",\"calendar\":{\"by\":\"name\",\"name\":…}}";
        let selected = value["mode"] != "default";
        let known: &[&str] = if selected { &["mode", "calendar"] } else { &["mode"] };
        let members = self.object(value, pointer, known, known, hint)?;
        self.token(
            &members["mode"],
            &at(pointer, "mode"),
            &[("default", ()), ("selected", ())],
        )?;
        if !selected {
            return Some(Destination::Default);
        }
        let (value, pointer) = (&members["calendar"], at(pointer, "calendar"));
        let by = if value["by"] == "href" { "href" } else { "name" };
        let hint = "{\"by\":\"name\",\"name\":…} or {\"by\":\"href\",\"href\":…}";
        let members = self.object(value, &pointer, &["by", by], &["by", by], hint)?;
        self.token(&members["by"], &at(&pointer, "by"), &[("name", ()), ("href", ())])?;
        let text = self.text(&members[by], &at(&pointer, by), 1)?;
        Some(Destination::Selected(match by {
            "href" => CalendarChoice::Href(text),
            _ => CalendarChoice::Name(text),
        }))
    }

    /// A `mutationTarget`.
    pub(crate) fn target(&mut self, value: &Value, pointer: &str) -> Option<Target> {
        let scopes = ["master", "entire-set", "one-occurrence", "this-and-future"].map(|scope| (scope, scope));
        let hint =
            "{\"scope\":\"master\"}, or entire-set, or one-occurrence or this-and-future with recurrenceIdentity";
        let single = matches!(value["scope"].as_str(), Some("one-occurrence" | "this-and-future"));
        let known: &[&str] = if single {
            &["scope", "recurrenceIdentity"]
        } else {
            &["scope"]
        };
        let members = self.object(value, pointer, known, known, hint)?;
        let scope = self.token(&members["scope"], &at(pointer, "scope"), &scopes)?;
        let mut identity = || self.identity(&members["recurrenceIdentity"], &at(pointer, "recurrenceIdentity"));
        Some(match scope {
            "master" => Target::Master,
            "entire-set" => Target::EntireSet,
            "one-occurrence" => Target::Occurrence(identity()?),
            _ => Target::ThisAndFuture(identity()?),
        })
    }

    /// Octets that are to be stored, as text or in base64.
    pub(crate) fn body(&mut self, arguments: &Value) -> Option<Bytes> {
        let (plain, coded) = (arguments.get("utf8Resource"), arguments.get("base64Utf8Resource"));
        match (plain, coded) {
            (Some(text), None) => self.text(text, "/utf8Resource", 1).map(Bytes::from),
            (None, Some(text)) => {
                let text = self.text(text, "/base64Utf8Resource", 1)?;
                match STANDARD.decode(text) {
                    Ok(octets) => Some(Bytes::from(octets)),
                    Err(_) => self.note(
                        "/base64Utf8Resource",
                        "format_mismatch",
                        "Send the octets in base64 with its padding (RFC 4648, section 4), or send utf8Resource.",
                    ),
                }
            }
            (None, None) => {
                let text = "Send utf8Resource: the whole VCALENDAR as text. Or send base64Utf8Resource.";
                self.note("/utf8Resource", "required_member", text)
            }
            (Some(_), Some(_)) => {
                let text = "Send utf8Resource or base64Utf8Resource, not both.";
                self.note("/base64Utf8Resource", "shape_mismatch", text)
            }
        }
    }

    // ---- new ones -----------------------------------------------------------------------------------------------

    /// An `eventCreateEntity` or `todoCreateEntity`: UID, fields and series.
    pub(crate) fn entity(
        &mut self,
        value: &Value,
        kind: Kind,
    ) -> Option<(Option<String>, NewFields, Option<NewSeries>)> {
        let hint = "{\"kind\":\"event\",\"fields\":{…}}, or kind todo";
        let members = self.object(value, "/entity", &["kind", "uid", "fields"], &["kind", "fields"], hint)?;
        self.token(&members["kind"], "/entity/kind", &[(kind.name(), ())]);
        let uid = match members.get("uid") {
            Some(uid) => Some(self.text(uid, "/entity/uid", 1)?),
            None => None,
        };
        let fields = self.fields(&members["fields"], "/entity/fields", kind, true)?;
        let pointer = "/entity/fields/recurrenceSet";
        let series = match members["fields"].get("recurrenceSet") {
            Some(set) => Some(self.series(set, pointer, kind)?),
            None => None,
        };
        Some((uid, fields, series))
    }

    fn fields(&mut self, value: &Value, pointer: &str, kind: Kind, recurs: bool) -> Option<NewFields> {
        const EVENT: [&str; 15] = [
            "summary",
            "description",
            "start",
            "end",
            "duration",
            "location",
            "geo",
            "status",
            "transparency",
            "classification",
            "priority",
            "categories",
            "url",
            "structuredData",
            "recurrenceSet",
        ];
        const TODO: [&str; 10] = [
            "summary",
            "description",
            "start",
            "due",
            "duration",
            "status",
            "priority",
            "categories",
            "structuredData",
            "recurrenceSet",
        ];
        let all: &[&str] = match kind {
            Kind::Event => &EVENT,
            Kind::Todo => &TODO,
        };
        // The last one is not for overrides.
        let known = &all[..all.len() - usize::from(!recurs)];
        let members = self.object(value, pointer, known, &[], "the fields of the new resource")?;
        let before = self.found.len();
        let mut fields = NewFields::default();
        for (name, value) in members {
            let place = at(pointer, name);
            match name.as_str() {
                "summary" => fields.summary = self.text(value, &place, 0),
                "description" => fields.description = self.text(value, &place, 0),
                "start" => fields.start = self.temporal(value, &place),
                "end" | "due" => fields.end = self.temporal(value, &place),
                "duration" => fields.duration = self.text(value, &place, 0),
                "location" => fields.location = self.text(value, &place, 0),
                "geo" => fields.geo = self.geo(value, &place),
                "status" => fields.status = self.text(value, &place, 0),
                "transparency" => fields.transparency = self.text(value, &place, 0),
                "classification" => fields.classification = self.text(value, &place, 0),
                "priority" => fields.priority = self.number(value, &place, 9),
                "url" => fields.url = self.text(value, &place, 0),
                "categories" => {
                    let read = self.each(value, &place, |input, item, at| input.text(item, at, 0));
                    fields.categories = read.unwrap_or_default();
                }
                "structuredData" => {
                    let read = StructuredData::from_json(value, kind, &place);
                    fields.structured = self.took(read).unwrap_or_default();
                }
                _ => {}
            }
        }
        (self.found.len() == before).then_some(fields)
    }

    fn geo(&mut self, value: &Value, pointer: &str) -> Option<Geo> {
        let known = ["latitude", "longitude"];
        let members = self.object(value, pointer, &known, &known, "{\"latitude\":52.5,\"longitude\":13.4}")?;
        let mut degrees = |name: &str, most: f64| {
            let place = at(pointer, name);
            match members[name].as_f64() {
                Some(degrees) if degrees.abs() <= most => Some(degrees),
                Some(_) => self.note(&place, "out_of_range", format!("Send -{most} to {most}.")),
                None => self.note(&place, "invalid_type", "Send a number."),
            }
        };
        let (latitude, longitude) = (degrees("latitude", 90.0), degrees("longitude", 180.0));
        Some(Geo {
            latitude: latitude?,
            longitude: longitude?,
        })
    }

    fn recurrence(&mut self, members: &Members, pointer: &str) -> Option<NewRecurrence> {
        let mut set = NewRecurrence::default();
        let before = self.found.len();
        if let Some(rrule) = members.get("rrule") {
            set.rrule = self.text(rrule, &at(pointer, "rrule"), 1);
        }
        if let Some(dates) = members.get("rdates") {
            set.rdates = self.each(dates, &at(pointer, "rdates"), Self::date_or_period);
        }
        if let Some(dates) = members.get("exdates") {
            set.exdates = self.each(dates, &at(pointer, "exdates"), Self::temporal);
        }
        (self.found.len() == before).then_some(set)
    }

    fn series(&mut self, value: &Value, pointer: &str, kind: Kind) -> Option<NewSeries> {
        let members = self.object(value, pointer, &SET, &[], SET_HINT)?;
        let set = self.recurrence(members, pointer);
        let overrides = match members.get("overrides") {
            Some(list) => self.each(list, &at(pointer, "overrides"), |input, value, pointer| {
                input.new_override(value, pointer, kind)
            }),
            None => Some(Vec::new()),
        };
        Some(NewSeries {
            set: set?,
            overrides: overrides?,
        })
    }

    fn new_override(&mut self, value: &Value, pointer: &str, kind: Kind) -> Option<NewOverride> {
        let (members, name) = self.override_name(value, pointer, false)?;
        let states = [("active", false), ("cancelled", true)];
        let cancelled = self.token(&members["status"], &at(pointer, "status"), &states);
        let fields = self.fields(&members["fields"], &at(pointer, "fields"), kind, false);
        Some(NewOverride {
            identity: name.identity,
            future: name.future,
            cancelled: cancelled?,
            fields: fields?,
        })
    }

    /// Of what is stored already, the name counts and what results show beside it is not looked at.
    fn override_name<'a>(
        &mut self,
        value: &'a Value,
        pointer: &str,
        stored: bool,
    ) -> Option<(&'a Members, OverrideName)> {
        let hint = "{\"recurrenceIdentity\":…,\"status\":\"active\",\"fields\":{…}}, and range this-and-future or none";
        let known: &[&str] = if stored {
            &[
                "recurrenceIdentity",
                "range",
                "status",
                "fields",
                "entityKind",
                "movedStart",
                "movedEnd",
            ]
        } else {
            &["recurrenceIdentity", "range", "status", "fields"]
        };
        let required: &[&str] = if stored {
            &["recurrenceIdentity"]
        } else {
            &["recurrenceIdentity", "status", "fields"]
        };
        let members = self.object(value, pointer, known, required, hint)?;
        let identity = self.identity(&members["recurrenceIdentity"], &at(pointer, "recurrenceIdentity"));
        let future = match members.get("range") {
            Some(range) => self.token(range, &at(pointer, "range"), &[("this-and-future", true)]),
            None => Some(false),
        };
        let name = OverrideName {
            identity: identity?,
            future: future?,
        };
        Some((members, name))
    }

    // ---- patches ------------------------------------------------------------------------------------------------

    /// An `eventSemanticPatch` or `todoSemanticPatch`.
    pub(crate) fn patch(&mut self, value: &Value, pointer: &str, kind: Kind) -> Option<Patch> {
        let hint = "{\"scalars\":[{\"field\":\"summary\",\"operation\":\"set\",\"value\":\"New title\"}]}, or collections, or both";
        let members = self.object(value, pointer, &["scalars", "collections"], &[], hint)?;
        if members.is_empty() {
            return self.note(pointer, "required_member", format!("Send {hint}."));
        }
        for (name, list) in members {
            if list.as_array().is_some_and(Vec::is_empty) {
                let place = at(pointer, name);
                self.note::<()>(
                    &place,
                    "item_count_out_of_range",
                    "Send at least one, or leave this out.",
                );
            }
        }
        let scalars = members.get("scalars").map_or(Some(Vec::new()), |list| {
            self.each(list, &at(pointer, "scalars"), |input, value, pointer| {
                input.scalar(value, pointer, kind)
            })
        });
        let collections = members.get("collections").map_or(Some(Vec::new()), |list| {
            self.each(list, &at(pointer, "collections"), |input, value, pointer| {
                input.took(CollectionPatch::from_json(value, kind, pointer))
            })
        });
        Some(Patch {
            scalars: scalars?,
            collections: collections?,
        })
    }

    fn scalar(&mut self, value: &Value, pointer: &str, kind: Kind) -> Option<ScalarPatch> {
        const EVENT: &[&str] = &[
            "summary",
            "description",
            "start",
            "end",
            "duration",
            "location",
            "geo",
            "status",
            "transparency",
            "classification",
            "priority",
            "url",
            "recurrenceSet",
            "organizer",
        ];
        const TODO: &[&str] = &[
            "percentComplete",
            "summary",
            "description",
            "start",
            "due",
            "duration",
            "status",
            "priority",
            "recurrenceSet",
            "organizer",
        ];
        let hint = "{\"field\":…,\"operation\":\"set\",\"value\":…} or {\"field\":…,\"operation\":\"clear\"}";
        let sets = value["operation"] != "clear";
        let is_set = value["field"] == "recurrenceSet";
        let mut known = vec!["field", "operation"];
        if sets {
            known.push("value");
        }
        let required = known.clone();
        if is_set {
            known.push("orphanReconciliations");
        }
        let members = self.object(value, pointer, &known, &required, hint)?;
        self.token(
            &members["operation"],
            &at(pointer, "operation"),
            &[("set", ()), ("clear", ())],
        )?;
        let fields: Vec<_> = match kind {
            Kind::Event => EVENT,
            Kind::Todo => TODO,
        }
        .iter()
        .map(|field| (*field, *field))
        .collect();
        let field = self.token(&members["field"], &at(pointer, "field"), &fields)?;
        let (value, place) = (members.get("value"), at(pointer, "value"));
        /// What is set, read; or cleared.
        macro_rules! set {
            ($read:expr) => {
                match value {
                    Some(value) => {
                        let read: fn(&mut Self, &Value, &str) -> Option<_> = $read;
                        Some(read(self, value, &place)?)
                    }
                    None => None,
                }
            };
        }
        let text = |input: &mut Self, value: &Value, place: &str| input.text(value, place, 0);
        Some(match field {
            "summary" => ScalarPatch::Summary(set!(text)),
            "description" => ScalarPatch::Description(set!(text)),
            "start" => ScalarPatch::Start(set!(Self::temporal)),
            "end" | "due" => ScalarPatch::End(set!(Self::temporal)),
            "duration" => ScalarPatch::Duration(set!(text)),
            "location" => ScalarPatch::Location(set!(text)),
            "geo" => ScalarPatch::Geo(set!(Self::geo)),
            "status" => ScalarPatch::Status(set!(text)),
            "transparency" => ScalarPatch::Transparency(set!(text)),
            "classification" => ScalarPatch::Classification(set!(text)),
            "priority" => ScalarPatch::Priority(set!(|input, value, place| input.number(value, place, 9))),
            "percentComplete" => {
                ScalarPatch::PercentComplete(set!(|input, value, place| input.number(value, place, 100)))
            }
            "url" => ScalarPatch::Url(set!(text)),
            "organizer" => ScalarPatch::Organizer(set!(|input, value, place| {
                input.took(NamedUri::from_json(value, place))
            })),
            _ => {
                let orphans = match members.get("orphanReconciliations") {
                    Some(list) => self.each(list, &at(pointer, "orphanReconciliations"), Self::orphan)?,
                    None => Vec::new(),
                };
                let set = set!(Self::replacement);
                ScalarPatch::RecurrenceSet { set, orphans }
            }
        })
    }

    fn replacement(&mut self, value: &Value, pointer: &str) -> Option<NewRecurrence> {
        let members = self.object(value, pointer, &SET, &[], SET_HINT)?;
        let mut set = self.recurrence(members, pointer)?;
        if let Some(list) = members.get("overrides") {
            let names = self.each(list, &at(pointer, "overrides"), |input, value, pointer| {
                input.override_name(value, pointer, true).map(|(_, name)| name)
            });
            set.overrides = Some(names?);
        }
        Some(set)
    }

    fn orphan(&mut self, value: &Value, pointer: &str) -> Option<Orphan> {
        let is_override = value["kind"] == "override";
        let known: &[&str] = if is_override {
            &["kind", "recurrenceIdentity", "disposition", "overrideKind"]
        } else {
            &["kind", "recurrenceIdentity", "disposition"]
        };
        let hint = "{\"kind\":\"exdate\",\"recurrenceIdentity\":…,\"disposition\":\"remove\"}, or kind override with overrideKind individual or this-and-future";
        let members = self.object(value, pointer, known, known, hint)?;
        self.token(
            &members["kind"],
            &at(pointer, "kind"),
            &[("exdate", ()), ("override", ())],
        )?;
        self.token(&members["disposition"], &at(pointer, "disposition"), &[("remove", ())])?;
        let identity = self.identity(&members["recurrenceIdentity"], &at(pointer, "recurrenceIdentity"))?;
        if !is_override {
            return Some(Orphan::Exdate(identity));
        }
        let kinds = [("individual", false), ("this-and-future", true)];
        let future = self.token(&members["overrideKind"], &at(pointer, "overrideKind"), &kinds)?;
        Some(Orphan::Override(OverrideName { identity, future }))
    }
}

const SET: [&str; 4] = ["rrule", "rdates", "exdates", "overrides"];
const SET_HINT: &str = "{\"rrule\":\"FREQ=WEEKLY;BYDAY=TU\"}, and rdates, exdates, overrides as needed";

/// `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    shaped(text, "0000-00-00")
}

/// `YYYY-MM-DDTHH:MM:SS`, and a fraction of a second.
fn is_local(text: &str) -> bool {
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    shaped(whole, "0000-00-00T00:00:00") && fraction.is_none_or(digits)
}

fn shaped(text: &str, shape: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}
