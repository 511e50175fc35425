//! What each collection and each of its members is, in results and in iCalendar: the tables that reading, writing,
//! checking and showing share.
//!
//! RFC 5545 has most of them, RFC 7986 IMAGE and CONFERENCE, RFC 9073 the components, STYLED-DESCRIPTION and
//! STRUCTURED-DATA, RFC 9074 what alarms have more, RFC 9253 CONCEPT and LINK.

/// A member of a component: one property or several, or components inside.
#[derive(Debug)]
pub(in super::super) struct Field {
    /// Its name in results and inputs.
    pub(in super::super) member: &'static str,
    /// The name of its property or component.
    pub(in super::super) name: &'static str,
    pub(super) shape: Shape,
    /// A list in results.
    pub(super) many: bool,
    /// Without it, its component is none.
    pub(super) required: bool,
}

impl Field {
    /// Whether its values stand in comma lists.
    pub(in super::super) fn is_list(&self) -> bool {
        matches!(self.shape, Shape::Property(held) if held.kind == Kind::Each)
    }

    pub(in super::super) fn is_component(&self) -> bool {
        matches!(self.shape, Shape::Component(_))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Property(&'static Type),
    Component(&'static [Field]),
}

/// What a property holds.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) kind: Kind,
    pub(super) form: Form,
    /// What VALUE may say; the first is what is meant where nothing is said.
    pub(super) types: &'static [&'static str],
    /// There is no default (or another one), so VALUE is written.
    pub(super) declared: bool,
    /// Parameters with a member of their own.
    pub(super) named: &'static [Named],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// At least one character.
    Name,
    /// A comma list of TEXT as one element.
    List,
    /// A comma list of TEXT whose values are elements.
    Each,
    Uri,
    /// One of these, or `X-`.
    Token(&'static [&'static str]),
    /// From this to that.
    Integer(u32, u32),
    Geo,
    Utc,
    Duration,
    /// A DURATION or a time.
    Trigger,
    RequestStatus,
}

/// How a property looks in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An object with `parameters`.
    Object,
    /// A bare enumerated value in results, whose parameters are not shown; an object in inputs.
    BareToken,
    /// An object whose value is one token in results and a list with one in inputs.
    ListOfOne,
    /// A bare string; its parameters are not shown.
    Bare,
    /// A bare string; its parameters are those of the object around it.
    Hoisted,
}

/// A parameter with a member of its own.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) member: &'static str,
    pub(super) name: &'static str,
    pub(super) kind: NamedKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedKind {
    Text,
    /// One of these, or `X-`; the first is meant where nothing is said.
    Token(&'static [&'static str]),
    /// False where nothing is said.
    Boolean,
    Uri,
    Uris,
}

/// Words for ROLE in inputs.
pub(super) const ROLES: [(&str, &str); 4] = [
    ("CHAIR", "CHAIR"),
    ("REQUIRED", "REQ-PARTICIPANT"),
    ("OPTIONAL", "OPT-PARTICIPANT"),
    ("NON-PARTICIPANT", "NON-PARTICIPANT"),
];

/// Of PARTSTAT, what a To-do has and an Event has not (RFC 5545, 3.2.12).
pub(super) const TODO_PART_STAT: [&str; 2] = ["COMPLETED", "IN-PROCESS"];

/// The members of an Event or To-do that hold structured data.
pub(super) static ENTITY: &[Field] = &[
    one("organizer", "ORGANIZER", &ORGANIZER),
    many("attendees", "ATTENDEE", &ATTENDEE),
    inner("participants", "PARTICIPANT", PARTICIPANT),
    many("contacts", "CONTACT", &TEXT),
    many("resources", "RESOURCES", &EACH),
    many("relatedTo", "RELATED-TO", &RELATION),
    many("requestStatuses", "REQUEST-STATUS", &REQUEST_STATUS),
    inner("alarms", "VALARM", ALARM),
    many("attachments", "ATTACH", &ATTACHMENT),
    many("comments", "COMMENT", &TEXT),
    many("styledDescriptions", "STYLED-DESCRIPTION", &STYLED),
    many("images", "IMAGE", &DECLARED),
    many("conferences", "CONFERENCE", &DECLARED),
    many("links", "LINK", &LINK),
    many("concepts", "CONCEPT", &URI),
    many("structuredDataUris", "STRUCTURED-DATA", &STRUCTURED_DATA),
    inner("locationUris", "VLOCATION", LOCATION),
    inner("resourceUris", "VRESOURCE", RESOURCE),
];

/// A collection that can be patched, and is a field of its own in results.
pub(super) static CATEGORIES: Field = many("categories", "CATEGORIES", &CATEGORY);

static PARTICIPANT: &[Field] = &[
    required("uid", "UID", &NAME),
    required("participantType", "PARTICIPANT-TYPE", &PARTICIPANT_TYPE),
    one("calendarAddress", "CALENDAR-ADDRESS", &ADDRESS),
    one("created", "CREATED", &UTC),
    one("description", "DESCRIPTION", &TEXT),
    one("timestamp", "DTSTAMP", &UTC),
    one("geo", "GEO", &GEO),
    one("lastModified", "LAST-MODIFIED", &UTC),
    one("priority", "PRIORITY", &PRIORITY),
    one("sequence", "SEQUENCE", &SEQUENCE),
    one("status", "STATUS", &STATUS),
    one("summary", "SUMMARY", &TEXT),
    one("url", "URL", &URI),
    many("attachments", "ATTACH", &ATTACHMENT),
    one("categories", "CATEGORIES", &LIST),
    many("comments", "COMMENT", &TEXT),
    many("contacts", "CONTACT", &TEXT),
    many("locations", "LOCATION", &TEXT),
    many("requestStatuses", "REQUEST-STATUS", &REQUEST_STATUS),
    many("relatedTo", "RELATED-TO", &RELATION),
    many("resources", "RESOURCES", &EACH),
    many("styledDescriptions", "STYLED-DESCRIPTION", &STYLED),
    many("structuredDataUris", "STRUCTURED-DATA", &STRUCTURED_DATA),
    inner("locationUris", "VLOCATION", LOCATION),
    inner("resourceUris", "VRESOURCE", RESOURCE),
];

static ALARM: &[Field] = &[
    required("action", "ACTION", &ACTION),
    required("trigger", "TRIGGER", &TRIGGER),
    one("description", "DESCRIPTION", &TEXT),
    one("repeat", "REPEAT", &REPEAT),
    one("duration", "DURATION", &DURATION),
    one("summary", "SUMMARY", &TEXT),
    many("attendees", "ATTENDEE", &ATTENDEE),
    many("attachments", "ATTACH", &ATTACHMENT),
    one("uid", "UID", &TEXT),
    one("acknowledged", "ACKNOWLEDGED", &UTC),
    one("proximity", "PROXIMITY", &PROXIMITY),
    many("relatedTo", "RELATED-TO", &RELATION),
    inner("proximityLocations", "VLOCATION", LOCATION),
];

static LOCATION: &[Field] = &[
    required("uid", "UID", &UID),
    one("name", "NAME", &TEXT),
    one("description", "DESCRIPTION", &TEXT),
    one("geo", "GEO", &GEO),
    one("componentTypes", "LOCATION-TYPE", &LIST),
    one("url", "URL", &URI),
    many("relatedTo", "RELATED-TO", &RELATION),
    many("concepts", "CONCEPT", &URI),
    many("links", "LINK", &LINK),
    many("structuredDataUris", "STRUCTURED-DATA", &STRUCTURED_DATA),
];

static RESOURCE: &[Field] = &[
    required("uid", "UID", &UID),
    one("name", "NAME", &TEXT),
    one("description", "DESCRIPTION", &TEXT),
    one("geo", "GEO", &GEO),
    one("componentTypes", "RESOURCE-TYPE", &RESOURCE_TYPE),
    many("relatedTo", "RELATED-TO", &RELATION),
    many("concepts", "CONCEPT", &URI),
    many("links", "LINK", &LINK),
    many("structuredDataUris", "STRUCTURED-DATA", &STRUCTURED_DATA),
];

static TEXT: Type = plain(Kind::Text, &["TEXT"]);
static NAME: Type = plain(Kind::Name, &["TEXT"]);
static EACH: Type = plain(Kind::Each, &["TEXT"]);
static LIST: Type = plain(Kind::List, &["TEXT"]);
static URI: Type = plain(Kind::Uri, &["URI"]);
static ADDRESS: Type = plain(Kind::Uri, &["CAL-ADDRESS", "URI"]);
static UTC: Type = plain(Kind::Utc, &["DATE-TIME"]);
static GEO: Type = plain(Kind::Geo, &["FLOAT"]);
static DURATION: Type = plain(Kind::Duration, &["DURATION"]);
static TRIGGER: Type = plain(Kind::Trigger, &["DURATION", "DATE-TIME"]);
static REQUEST_STATUS: Type = plain(Kind::RequestStatus, &["TEXT"]);
static PRIORITY: Type = plain(Kind::Integer(0, 9), &["INTEGER"]);
static SEQUENCE: Type = plain(Kind::Integer(0, i32::MAX as u32), &["INTEGER"]);
static REPEAT: Type = plain(Kind::Integer(1, i32::MAX as u32), &["INTEGER"]);
static ACTION: Type = plain(Kind::Token(&["DISPLAY", "AUDIO", "EMAIL"]), &["TEXT"]);
static PROXIMITY: Type = plain(Kind::Token(&["ARRIVE", "DEPART", "CONNECT", "DISCONNECT"]), &["TEXT"]);
static RESOURCE_TYPE: Type = Type {
    form: Form::ListOfOne,
    ..plain(
        Kind::Token(&[
            "PROJECTOR",
            "ROOM",
            "REMOTE-CONFERENCE-AUDIO",
            "REMOTE-CONFERENCE-VIDEO",
        ]),
        &["TEXT"],
    )
};
static CATEGORY: Type = Type {
    form: Form::Bare,
    ..plain(Kind::Each, &["TEXT"])
};
static UID: Type = Type {
    form: Form::Hoisted,
    ..plain(Kind::Name, &["TEXT"])
};
static PARTICIPANT_TYPE: Type = Type {
    form: Form::BareToken,
    ..plain(
        Kind::Token(&[
            "ACTIVE",
            "INACTIVE",
            "SPONSOR",
            "CONTACT",
            "BOOKING-CONTACT",
            "EMERGENCY-CONTACT",
            "PUBLICITY-CONTACT",
            "PLANNER-CONTACT",
            "PERFORMER",
            "SPEAKER",
        ]),
        &["TEXT"],
    )
};
/// RFC 5545, 3.8.1.11, has others for each component; a participant may stand in any.
static STATUS: Type = Type {
    form: Form::BareToken,
    ..plain(
        Kind::Token(&[
            "TENTATIVE",
            "CONFIRMED",
            "CANCELLED",
            "NEEDS-ACTION",
            "COMPLETED",
            "IN-PROCESS",
            "DRAFT",
            "FINAL",
        ]),
        &["TEXT"],
    )
};
static STYLED: Type = Type {
    declared: true,
    ..plain(Kind::Text, &["TEXT", "URI"])
};
static STRUCTURED_DATA: Type = Type {
    declared: true,
    ..plain(Kind::Uri, &["URI"])
};
static LABEL: &[Named] = &[named("label", "LABEL", NamedKind::Text)];
static ATTACHMENT: Type = Type {
    named: LABEL,
    ..plain(Kind::Uri, &["URI"])
};
static DECLARED: Type = Type {
    declared: true,
    named: LABEL,
    ..plain(Kind::Uri, &["URI"])
};
static LINK: Type = Type {
    declared: true,
    named: LABEL,
    ..plain(Kind::Uri, &["URI", "XML-REFERENCE"])
};
static RELATION: Type = Type {
    named: &[named(
        "relationType",
        "RELTYPE",
        NamedKind::Token(&[
            "PARENT",
            "CHILD",
            "SIBLING",
            "FINISHTOSTART",
            "FINISHTOFINISH",
            "STARTTOFINISH",
            "STARTTOSTART",
            "FIRST",
            "NEXT",
            "DEPENDS-ON",
            "REFID",
            "CONCEPT",
            "SNOOZE",
        ]),
    )],
    ..plain(Kind::Name, &["TEXT", "UID", "URI"])
};
pub(super) static ORGANIZER: Type = Type {
    named: &[named("label", "CN", NamedKind::Text)],
    ..plain(Kind::Uri, &["CAL-ADDRESS", "URI"])
};
static ATTENDEE: Type = Type {
    named: &[
        named("commonName", "CN", NamedKind::Text),
        named(
            "role",
            "ROLE",
            NamedKind::Token(&["REQ-PARTICIPANT", "CHAIR", "OPT-PARTICIPANT", "NON-PARTICIPANT"]),
        ),
        named(
            "partStat",
            "PARTSTAT",
            NamedKind::Token(&[
                "NEEDS-ACTION",
                "ACCEPTED",
                "DECLINED",
                "TENTATIVE",
                "DELEGATED",
                TODO_PART_STAT[0],
                TODO_PART_STAT[1],
            ]),
        ),
        named(
            "cutype",
            "CUTYPE",
            NamedKind::Token(&["INDIVIDUAL", "GROUP", "RESOURCE", "ROOM", "UNKNOWN"]),
        ),
        named("rsvp", "RSVP", NamedKind::Boolean),
        named("delegatedTo", "DELEGATED-TO", NamedKind::Uris),
        named("delegatedFrom", "DELEGATED-FROM", NamedKind::Uris),
        named("sentBy", "SENT-BY", NamedKind::Uri),
        named("directory", "DIR", NamedKind::Uri),
    ],
    ..plain(Kind::Uri, &["CAL-ADDRESS", "URI"])
};

const fn plain(kind: Kind, types: &'static [&'static str]) -> Type {
    Type {
        kind,
        form: Form::Object,
        types,
        declared: false,
        named: &[],
    }
}

const fn named(member: &'static str, name: &'static str, kind: NamedKind) -> Named {
    Named { member, name, kind }
}

const fn one(member: &'static str, name: &'static str, held: &'static Type) -> Field {
    Field {
        member,
        name,
        shape: Shape::Property(held),
        many: false,
        required: false,
    }
}

const fn required(member: &'static str, name: &'static str, held: &'static Type) -> Field {
    Field {
        required: true,
        ..one(member, name, held)
    }
}

const fn many(member: &'static str, name: &'static str, held: &'static Type) -> Field {
    Field {
        many: true,
        ..one(member, name, held)
    }
}

const fn inner(member: &'static str, name: &'static str, fields: &'static [Field]) -> Field {
    Field {
        member,
        name,
        shape: Shape::Component(fields),
        many: true,
        required: false,
    }
}

/// The field of an Event or To-do that can be patched as a collection.
pub(in super::super) fn collection(member: &str) -> Option<&'static Field> {
    std::iter::once(&CATEGORIES)
        .chain(ENTITY)
        .find(|field| field.many && field.member == member)
}
