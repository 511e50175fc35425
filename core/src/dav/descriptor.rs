//! What a collection is, and a Calendar's description for people (RFC 4791, 4.2 and 5.2).

use crate::calendar::{
    Access, CalendarDescriptor, CapabilityState, EntityKindCapability, EntityKinds, Evidence, NameProvenance,
};
use crate::dav::name::{Name, NameSet};
use crate::dav::props::Props;
use crate::href::{Href, HrefKey};
use crate::outcome::CalendarReference;

/// The longest `getctag` that is reported, in bytes.
const MAX_CHANGE_TAG: usize = 1024;

/// What a listed resource is to a client that looks for Calendars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    /// A Calendar, subscribed ones included.
    Calendar,
    /// A collection that Calendars may lie in.
    Plain,
    /// A collection that serves another purpose, by name; not to be entered.
    Service(&'static str),
    /// A Calendar in Nextcloud's trash bin.
    Deleted,
    /// No collection.
    Other,
}

/// What the resource at `href` is. `scheduling` holds the principal's schedule inbox and outbox: DAViCal lists these
/// as calendars.
#[must_use]
pub fn kind(props: &Props, href: &Href, scheduling: &[HrefKey]) -> CollectionKind {
    let types = props.resource_type.unwrap_or_default();
    let has = |name| types.contains(name);
    let named_scheduling = types.contains_any(&[Name::ScheduleInbox, Name::ScheduleOutbox]);
    if has(Name::DeletedCalendar) {
        return CollectionKind::Deleted;
    }
    if has(Name::Calendar) {
        // SOGo's default calendar is its own outbox and says so; an outbox that says nothing is no calendar.
        let own = href.as_collection().key();
        let unnamed = !named_scheduling && scheduling.contains(&own);
        return if has(Name::ScheduleInbox) || unnamed {
            CollectionKind::Service("schedule")
        } else {
            CollectionKind::Calendar
        };
    }
    for (name, service) in [
        (Name::ScheduleInbox, "schedule-inbox"),
        (Name::ScheduleOutbox, "schedule-outbox"),
        (Name::Notification, "notification"),
        (Name::Notifications, "notification"),
        (Name::DropboxHome, "dropbox-home"),
        // Lists of principals; DAViCal has them in the home, as collections.
        (Name::CalendarProxyRead, "principal"),
        (Name::CalendarProxyWrite, "principal"),
        (Name::TrashBin, "trash-bin"),
        (Name::Addressbook, "addressbook"),
        // A subscription without the type calendar is a link to another place, without members.
        (Name::Subscribed, "subscribed"),
    ] {
        if has(name) {
            return CollectionKind::Service(service);
        }
    }
    match (has(Name::Collection), has(Name::Principal)) {
        (true, _) if scheduling.contains(&href.as_collection().key()) => CollectionKind::Service("schedule"),
        (true, _) => CollectionKind::Plain,
        (false, true) => CollectionKind::Service("principal"),
        (false, false) => CollectionKind::Other,
    }
}

/// The keys of the principal's scheduling collections, for [`kind`]. `base` is the URL that answered.
#[must_use]
pub fn scheduling_keys(principal: &Props, base: &Href) -> Vec<HrefKey> {
    let urls = [&principal.schedule_inbox_url, &principal.schedule_outbox_url];
    let hrefs = urls.into_iter().flatten().filter_map(|url| base.resolve(url));
    hrefs.map(|href| href.as_collection().key()).collect()
}

/// Describes the Calendar at `href`.
#[must_use]
pub fn describe(props: &Props, href: &Href) -> CalendarDescriptor {
    let href = href.as_collection();
    let text = |value: &Option<String>| {
        value
            .as_deref()
            .map(str::trim)
            .filter(|v| !v.is_empty())
            .map(str::to_owned)
    };
    let given = text(&props.display_name);
    let derived = given.is_none().then(|| href.last_segment()).flatten();
    let provenance = match (&given, &derived) {
        (Some(_), _) => NameProvenance::DavDisplayname,
        (None, Some(_)) => NameProvenance::DerivedFromHref,
        (None, None) => NameProvenance::Missing,
    };
    let raw_color = text(&props.calendar_color);
    CalendarDescriptor {
        calendar: CalendarReference {
            href: href.as_str().to_owned(),
        },
        display_name: given.or(derived),
        display_name_provenance: provenance,
        description: text(&props.calendar_description),
        dav_description: text(&props.dav_description),
        color: raw_color.as_deref().and_then(color),
        order: props.calendar_order.filter(|order| i32::try_from(*order).is_ok()),
        change_tag: text(&props.ctag).filter(|tag| tag.len() <= MAX_CHANGE_TAG),
        entity_kinds: EntityKinds {
            event: capability(props, "VEVENT"),
            todo: capability(props, "VTODO"),
        },
        raw_color,
        access: props.privileges.map_or(Access::Unknown, access),
    }
}

/// Whether members can be written with these privileges (RFC 3744, 3: `DAV:write` and `DAV:all` aggregate the rest). A
/// set without a member is no statement, since the Calendar could not have been listed with it.
fn access(privileges: NameSet) -> Access {
    if privileges.is_empty() {
        Access::Unknown
    } else if privileges.contains_any(&[Name::All, Name::Write, Name::WriteContent, Name::Bind]) {
        Access::Writable
    } else {
        Access::ReadOnly
    }
}

/// `#RRGGBB` in upper case of `#RRGGBB`, `RRGGBB` and both with alpha at the end.
fn color(raw: &str) -> Option<String> {
    let digits = raw.strip_prefix('#').unwrap_or(raw);
    let legal = matches!(digits.len(), 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    legal.then(|| format!("#{}", digits[..6].to_ascii_uppercase()))
}

fn capability(props: &Props, component: &str) -> EntityKindCapability {
    let Some(components) = &props.components else {
        return EntityKindCapability {
            state: CapabilityState::Unknown,
            evidence: Vec::new(),
        };
    };
    let listed = components.iter().any(|listed| listed == component);
    EntityKindCapability {
        state: if listed {
            CapabilityState::Advertised
        } else {
            CapabilityState::NotAdvertised
        },
        evidence: vec![Evidence {
            source: "supported-calendar-component-set",
            value: components.join(","),
        }],
    }
}
