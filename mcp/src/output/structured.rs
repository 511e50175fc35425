//! `structuredData`: attendees, alarms and the like.

use super::form::Form;
use super::object;
use super::shape::{Member, Shape, always, may, spared};
use super::value::{
    ANY_TEXT, BOOLEAN, COUNT, GEO, NAME, OPEN_TOKEN, PARAMETERS, POSITIVE, PRIORITY, TEXTS, URI, URIS, UTC, list,
};

/// A property with its parameters.
macro_rules! property {
    ($name:literal: $shape:expr) => {
        object![always($name, $shape), spared("parameters", &PARAMETERS)]
    };
}

static TEXT: Shape = property!("value": &ANY_TEXT);
static URI_PROPERTY: Shape = property!("uri": &URI);
static UTC_PROPERTY: Shape = property!("value": &UTC);
static GEO_PROPERTY: Shape = property!("value": &GEO);
static COUNT_PROPERTY: Shape = property!("value": &COUNT);
static POSITIVE_PROPERTY: Shape = property!("value": &POSITIVE);
static PRIORITY_PROPERTY: Shape = property!("value": &PRIORITY);
static TEXT_LIST: Shape = property!("value": &TEXTS);
static DURATION: Shape = property!("value": &NAME);
static TOKEN: Shape = property!("value": &OPEN_TOKEN);
static TEXTS_OR_TOKEN: Shape = Shape::ListOr(&TEXTS, &OPEN_TOKEN);
static TEXT_LIST_OR_TOKEN: Shape = property!("value": &TEXTS_OR_TOKEN);

static TEXTS_LIST: Shape = list(&TEXT);
static URI_LIST: Shape = list(&URI_PROPERTY);

static EFFECTIVE_TOKEN: Shape = object![may("explicitValue", &OPEN_TOKEN), always("effectiveValue", &OPEN_TOKEN)];
static EFFECTIVE_BOOLEAN: Shape = object![may("explicitValue", &BOOLEAN), always("effectiveValue", &BOOLEAN)];

static NAMED_URI: Shape = object![
    always("uri", &URI),
    may("label", &ANY_TEXT),
    spared("parameters", &PARAMETERS)
];
static NAMED_URIS: Shape = list(&NAMED_URI);

static RELATIONS: Shape = list(&object![
    always("value", &NAME),
    may("relationType", &EFFECTIVE_TOKEN),
    spared("parameters", &PARAMETERS)
]);

static STATUS_CODE: Shape = super::text(0, usize::MAX, Form::Status);
static REQUEST_STATUSES: Shape = list(&object![
    always("code", &STATUS_CODE),
    always("description", &ANY_TEXT),
    may("exceptionData", &ANY_TEXT),
    spared("parameters", &PARAMETERS)
]);

static ATTENDEES: Shape = list(&object![
    always("uri", &URI),
    may("commonName", &ANY_TEXT),
    may("role", &EFFECTIVE_TOKEN),
    may("partStat", &EFFECTIVE_TOKEN),
    may("cutype", &EFFECTIVE_TOKEN),
    may("rsvp", &EFFECTIVE_BOOLEAN),
    may("delegatedTo", &URIS),
    may("delegatedFrom", &URIS),
    may("sentBy", &URI),
    may("directory", &URI),
    spared("parameters", &PARAMETERS)
]);

/// What locations and resources have in common.
const COMPONENT: [Member; 9] = [
    always("uid", &NAME),
    may("name", &TEXT),
    spared("parameters", &PARAMETERS),
    may("description", &TEXT),
    may("geo", &GEO_PROPERTY),
    may("relatedTo", &RELATIONS),
    may("concepts", &URI_LIST),
    may("links", &NAMED_URIS),
    may("structuredDataUris", &URI_LIST),
];
static LOCATIONS: Shape = list(&object![joined COMPONENT, [
    may("componentTypes", &TEXT_LIST_OR_TOKEN),
    may("url", &URI_PROPERTY),
]]);
static RESOURCES: Shape = list(&object![joined COMPONENT, [may("componentTypes", &TOKEN)]]);

static PARTICIPANTS: Shape = list(&object![
    always("uid", &TEXT),
    always("participantType", &OPEN_TOKEN),
    spared("schedulable", &BOOLEAN),
    may("calendarAddress", &URI_PROPERTY),
    may("created", &UTC_PROPERTY),
    may("description", &TEXT),
    may("timestamp", &UTC_PROPERTY),
    may("geo", &GEO_PROPERTY),
    may("lastModified", &UTC_PROPERTY),
    may("priority", &PRIORITY_PROPERTY),
    may("sequence", &COUNT_PROPERTY),
    may("status", &OPEN_TOKEN),
    may("summary", &TEXT),
    may("url", &URI_PROPERTY),
    may("attachments", &NAMED_URIS),
    may("categories", &TEXT_LIST),
    may("comments", &TEXTS_LIST),
    may("contacts", &TEXTS_LIST),
    may("locations", &TEXTS_LIST),
    may("requestStatuses", &REQUEST_STATUSES),
    may("relatedTo", &RELATIONS),
    may("resources", &TEXTS_LIST),
    may("styledDescriptions", &TEXTS_LIST),
    may("structuredDataUris", &URI_LIST),
    may("locationUris", &LOCATIONS),
    may("resourceUris", &RESOURCES)
]);

static ALARMS: Shape = list(&object![
    always("action", &TOKEN),
    always("trigger", &TEXT),
    may("description", &TEXT),
    may("repeat", &POSITIVE_PROPERTY),
    may("duration", &DURATION),
    may("summary", &TEXT),
    may("attendees", &ATTENDEES),
    may("attachments", &NAMED_URIS),
    may("uid", &TEXT),
    may("acknowledged", &UTC_PROPERTY),
    may("proximity", &TOKEN),
    may("relatedTo", &RELATIONS),
    may("proximityLocations", &LOCATIONS)
]);

/// `structuredData`.
pub(super) static STRUCTURED_DATA: Shape = object![
    may("organizer", &NAMED_URI),
    may("attendees", &ATTENDEES),
    may("participants", &PARTICIPANTS),
    may("contacts", &TEXTS_LIST),
    may("resources", &TEXTS_LIST),
    may("relatedTo", &RELATIONS),
    may("requestStatuses", &REQUEST_STATUSES),
    may("alarms", &ALARMS),
    may("attachments", &NAMED_URIS),
    may("comments", &TEXTS_LIST),
    may("styledDescriptions", &TEXTS_LIST),
    may("images", &NAMED_URIS),
    may("conferences", &NAMED_URIS),
    may("links", &NAMED_URIS),
    may("concepts", &URI_LIST),
    may("structuredDataUris", &URI_LIST),
    may("locationUris", &LOCATIONS),
    may("resourceUris", &RESOURCES)
];
