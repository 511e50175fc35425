//! The values of the properties that are understood, from one `DAV:prop`.

use crate::dav::etag::EntityTag;
use crate::dav::name::{Name, NameSet, ProtocolName};
use crate::dav::xml::{Reader, XmlFault};

/// The most members of a property that holds a list.
pub const MAX_LIST: usize = 64;
/// The longest name of a report or privilege that is kept, namespace and local name together, in bytes.
const MAX_NAME: usize = 512;
/// The longest language tag and date that are kept, in bytes.
const MAX_TOKEN: usize = 64;

/// Property values. A property that the answer does not give with status 200 is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Props {
    /// The understood properties that were given, whatever their value is worth.
    pub given: NameSet,
    /// `DAV:resourcetype`.
    pub resource_type: Option<NameSet>,
    /// `DAV:displayname`, as it stands.
    pub display_name: Option<String>,
    /// `DAV:current-user-principal` (RFC 5397).
    pub current_user_principal: Option<String>,
    /// `DAV:current-user-principal` is `DAV:unauthenticated`: the server saw no credentials.
    pub unauthenticated: bool,
    /// `DAV:owner` (RFC 3744, 5.1).
    pub owner: Option<String>,
    /// `DAV:principal-URL` (RFC 3744, 4.2).
    pub principal_url: Option<String>,
    /// `CALDAV:calendar-home-set` (RFC 4791, 6.2.1).
    pub calendar_home_set: Vec<String>,
    /// `CALDAV:calendar-user-address-set` (RFC 6638, 2.4.1).
    pub calendar_user_address_set: Vec<String>,
    /// `CALDAV:schedule-inbox-URL` (RFC 6638, 2.2.1).
    pub schedule_inbox_url: Option<String>,
    /// `CALDAV:schedule-outbox-URL` (RFC 6638, 2.1.1).
    pub schedule_outbox_url: Option<String>,
    /// `DAV:getetag`, where it holds a usable tag.
    pub etag: Option<EntityTag>,
    /// `DAV:getcontentlength`, in bytes.
    pub content_length: Option<u64>,
    /// `DAV:getcontenttype`.
    pub content_type: Option<String>,
    /// `CALDAV:calendar-data`, with the line ends that XML leaves: not the octets as stored.
    pub calendar_data: Option<String>,
    /// `CALDAV:supported-calendar-component-set`, in upper case.
    pub components: Option<Vec<String>>,
    /// `CALDAV:calendar-description`.
    pub calendar_description: Option<String>,
    /// The language of that description (XML 1.0, 2.12), where one is declared.
    pub description_language: Option<String>,
    /// `CALDAV:calendar-timezone`.
    pub calendar_timezone: Option<String>,
    /// `DAV:description`.
    pub dav_description: Option<String>,
    /// Apple `calendar-color`, as it stands.
    pub calendar_color: Option<String>,
    /// Apple `calendar-order`, where it is a number from 0.
    pub calendar_order: Option<u32>,
    /// CalendarServer `getctag`.
    pub ctag: Option<String>,
    /// `DAV:sync-token` (RFC 6578, 4).
    pub sync_token: Option<String>,
    /// `DAV:current-user-privilege-set` (RFC 3744, 5.4).
    pub privileges: Option<NameSet>,
    /// The names of all privileges in that set, known or not, at most [`MAX_LIST`].
    pub privilege_names: Vec<ProtocolName>,
    /// `DAV:supported-report-set` (RFC 3253, 3.1.5), at most [`MAX_LIST`].
    pub report_names: Vec<ProtocolName>,
    /// `CALDAV:max-resource-size` (RFC 4791, 5.2.5), in bytes.
    pub max_resource_size: Option<u64>,
    /// `CALDAV:max-instances` (RFC 4791, 5.2.8).
    pub max_instances: Option<u64>,
    /// `CALDAV:max-attendees-per-instance` (RFC 4791, 5.2.9).
    pub max_attendees: Option<u64>,
    /// `CALDAV:min-date-time` (RFC 4791, 5.2.6), as it stands.
    pub min_date_time: Option<String>,
    /// `CALDAV:max-date-time` (RFC 4791, 5.2.7), as it stands.
    pub max_date_time: Option<String>,
}

impl Props {
    /// Reads the property that is open, to its end.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "names are open: what is not read is skipped"
    )]
    pub(crate) fn read(&mut self, name: Name, xml: &mut Reader<'_>) -> Result<(), XmlFault> {
        if name != Name::Unknown {
            self.given.insert(name);
        }
        match name {
            Name::ResourceType => self.resource_type = Some(names(xml)?),
            Name::Displayname => self.display_name = Some(xml.text()?),
            Name::CurrentUserPrincipal => {
                let (hrefs, unauthenticated) = hrefs(xml)?;
                self.current_user_principal = hrefs.into_iter().next();
                self.unauthenticated = unauthenticated;
            }
            Name::Owner => self.owner = hrefs(xml)?.0.into_iter().next(),
            Name::PrincipalUrl => self.principal_url = hrefs(xml)?.0.into_iter().next(),
            Name::CalendarHomeSet => self.calendar_home_set = hrefs(xml)?.0,
            Name::CalendarUserAddressSet => self.calendar_user_address_set = hrefs(xml)?.0,
            Name::ScheduleInboxUrl => self.schedule_inbox_url = hrefs(xml)?.0.into_iter().next(),
            Name::ScheduleOutboxUrl => self.schedule_outbox_url = hrefs(xml)?.0.into_iter().next(),
            Name::Etag => self.etag = EntityTag::parse(&xml.text()?),
            Name::ContentLength => self.content_length = xml.text()?.trim().parse().ok(),
            Name::ContentType => self.content_type = Some(xml.text()?),
            Name::CalendarData => self.calendar_data = Some(xml.text()?),
            Name::SupportedCalendarComponentSet => self.components = Some(components(xml)?),
            Name::CalendarDescription => {
                self.description_language = xml.language().and_then(token);
                self.calendar_description = Some(xml.text()?);
            }
            Name::CalendarTimezone => self.calendar_timezone = Some(xml.text()?),
            Name::DavDescription => self.dav_description = Some(xml.text()?),
            Name::CalendarColor => self.calendar_color = Some(xml.text()?),
            Name::CalendarOrder => self.calendar_order = xml.text()?.trim().parse().ok(),
            Name::Ctag => self.ctag = Some(xml.text()?),
            Name::SyncToken => self.sync_token = Some(xml.text()?),
            Name::CurrentUserPrivilegeSet => {
                let (set, names) = names_within(xml, &[Name::Privilege])?;
                (self.privileges, self.privilege_names) = (Some(set), names);
            }
            Name::SupportedReportSet => {
                self.report_names = names_within(xml, &[Name::SupportedReport, Name::Report])?.1;
            }
            Name::MaxResourceSize => self.max_resource_size = xml.text()?.trim().parse().ok(),
            Name::MaxInstances => self.max_instances = xml.text()?.trim().parse().ok(),
            Name::MaxAttendeesPerInstance => self.max_attendees = xml.text()?.trim().parse().ok(),
            Name::MinDateTime => self.min_date_time = token(&xml.text()?),
            Name::MaxDateTime => self.max_date_time = token(&xml.text()?),
            _ => xml.skip()?,
        }
        Ok(())
    }

    /// Takes the values of a further `DAV:propstat` of the same resource; where both have one, the later is kept.
    pub(crate) fn absorb(&mut self, other: Self) {
        fn take<T>(mine: &mut Option<T>, theirs: Option<T>) {
            if theirs.is_some() {
                *mine = theirs;
            }
        }
        fn extend<T>(mine: &mut Vec<T>, theirs: Vec<T>) {
            if !theirs.is_empty() {
                *mine = theirs;
            }
        }
        self.given = self.given.union(other.given);
        take(&mut self.resource_type, other.resource_type);
        take(&mut self.display_name, other.display_name);
        take(&mut self.current_user_principal, other.current_user_principal);
        self.unauthenticated |= other.unauthenticated;
        take(&mut self.owner, other.owner);
        take(&mut self.principal_url, other.principal_url);
        extend(&mut self.calendar_home_set, other.calendar_home_set);
        extend(&mut self.calendar_user_address_set, other.calendar_user_address_set);
        take(&mut self.schedule_inbox_url, other.schedule_inbox_url);
        take(&mut self.schedule_outbox_url, other.schedule_outbox_url);
        take(&mut self.etag, other.etag);
        take(&mut self.content_length, other.content_length);
        take(&mut self.content_type, other.content_type);
        take(&mut self.calendar_data, other.calendar_data);
        take(&mut self.components, other.components);
        take(&mut self.calendar_description, other.calendar_description);
        take(&mut self.description_language, other.description_language);
        take(&mut self.calendar_timezone, other.calendar_timezone);
        take(&mut self.dav_description, other.dav_description);
        take(&mut self.calendar_color, other.calendar_color);
        take(&mut self.calendar_order, other.calendar_order);
        take(&mut self.ctag, other.ctag);
        take(&mut self.sync_token, other.sync_token);
        take(&mut self.privileges, other.privileges);
        extend(&mut self.privilege_names, other.privilege_names);
        extend(&mut self.report_names, other.report_names);
        take(&mut self.max_resource_size, other.max_resource_size);
        take(&mut self.max_instances, other.max_instances);
        take(&mut self.max_attendees, other.max_attendees);
        take(&mut self.min_date_time, other.min_date_time);
        take(&mut self.max_date_time, other.max_date_time);
    }
}

/// The names of the children.
fn names(xml: &mut Reader<'_>) -> Result<NameSet, XmlFault> {
    let mut set = NameSet::default();
    while let Some(name) = xml.child()? {
        set.insert(name);
        xml.skip()?;
    }
    Ok(set)
}

/// A short text without the white space around it.
fn token(text: &str) -> Option<String> {
    let text = text.trim();
    (1..=MAX_TOKEN).contains(&text.len()).then(|| text.to_owned())
}

/// The names of all descendants but the wrapping elements. A privilege or report needs one level, aggregates more.
fn names_within(xml: &mut Reader<'_>, wrappers: &[Name]) -> Result<(NameSet, Vec<ProtocolName>), XmlFault> {
    let (mut set, mut names, mut level) = (NameSet::default(), Vec::new(), 0usize);
    loop {
        match xml.child()? {
            Some(name) if wrappers.contains(&name) => level += 1,
            Some(name) => {
                set.insert(name);
                let (namespace, local) = (xml.namespace(), xml.local());
                if names.len() < MAX_LIST && namespace.len() + local.len() <= MAX_NAME {
                    names.push(ProtocolName {
                        namespace_uri: namespace.to_owned(),
                        local_name: local.to_owned(),
                    });
                }
                xml.skip()?;
            }
            None if level == 0 => return Ok((set, names)),
            None => level -= 1,
        }
    }
}

/// The hrefs within, trimmed, without empty ones, and whether `DAV:unauthenticated` stands there.
pub(crate) fn hrefs(xml: &mut Reader<'_>) -> Result<(Vec<String>, bool), XmlFault> {
    let (mut hrefs, mut unauthenticated) = (Vec::new(), false);
    while let Some(name) = xml.child()? {
        if name != Name::Href || hrefs.len() == MAX_LIST {
            unauthenticated |= name == Name::Unauthenticated;
            xml.skip()?;
            continue;
        }
        let text = xml.text()?;
        if !text.trim().is_empty() {
            hrefs.push(text.trim().to_owned());
        }
    }
    Ok((hrefs, unauthenticated))
}

fn components(xml: &mut Reader<'_>) -> Result<Vec<String>, XmlFault> {
    let mut components = Vec::new();
    while let Some(name) = xml.child()? {
        if name == Name::Comp && components.len() < MAX_LIST {
            components.extend(xml.attribute("name")?.map(|name| name.trim().to_ascii_uppercase()));
        }
        xml.skip()?;
    }
    Ok(components)
}
