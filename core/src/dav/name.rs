//! The XML names that are understood (RFC 4918 section 14 and 15, RFC 3744, RFC 4791, RFC 6638, and the properties of
//! Apple, CalendarServer and Nextcloud), as small numbers.

/// A namespace that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `DAV:`; also `DAV`, which SOGo writes in errors.
    Dav,
    /// `urn:ietf:params:xml:ns:caldav`.
    CalDav,
    /// `urn:ietf:params:xml:ns:carddav`.
    CardDav,
    /// `http://calendarserver.org/ns/`.
    CalendarServer,
    /// `http://apple.com/ns/ical/`.
    Apple,
    /// `http://nextcloud.com/ns` and `http://nextcloud.org/ns`, which its answers mix.
    Nextcloud,
    /// No namespace.
    Missing,
    /// A namespace that is not understood.
    Other,
}

impl Space {
    /// The namespace with this name. Any name is taken, relative ones too.
    #[must_use]
    pub fn of(uri: &str) -> Self {
        match uri {
            "DAV:" | "DAV" => Self::Dav,
            "urn:ietf:params:xml:ns:caldav" => Self::CalDav,
            "urn:ietf:params:xml:ns:carddav" => Self::CardDav,
            "http://calendarserver.org/ns/" => Self::CalendarServer,
            "http://apple.com/ns/ical/" => Self::Apple,
            "http://nextcloud.com/ns" | "http://nextcloud.org/ns" => Self::Nextcloud,
            "" => Self::Missing,
            _ => Self::Other,
        }
    }

    /// The name of the namespace; empty where it is not understood.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Self::Dav => "DAV:",
            Self::CalDav => "urn:ietf:params:xml:ns:caldav",
            Self::CardDav => "urn:ietf:params:xml:ns:carddav",
            Self::CalendarServer => "http://calendarserver.org/ns/",
            Self::Apple => "http://apple.com/ns/ical/",
            Self::Nextcloud => "http://nextcloud.com/ns",
            Self::Missing | Self::Other => "",
        }
    }
}

/// Any element name, in the shape of the results.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolName {
    /// The name of the namespace, empty where there is none.
    pub namespace_uri: String,
    /// The local name.
    pub local_name: String,
}

macro_rules! names {
    ($($variant:ident = $space:ident $local:literal,)*) => {
        /// An element name: namespace and local name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Name {
            /// Any name that is not listed here.
            Unknown,
            $(#[doc = concat!("`", $local, "`")] $variant,)*
        }

        impl Name {
            const ALL: &[Self] = &[Self::Unknown, $(Self::$variant,)*];

            /// The listed name with this namespace and local name.
            #[must_use]
            pub fn of(space: Space, local: &str) -> Self {
                match (space, local) {
                    $((Space::$space, $local) => Self::$variant,)*
                    _ => Self::Unknown,
                }
            }

            /// The local name; `unknown` for a name that is not listed.
            #[must_use]
            pub fn local(self) -> &'static str {
                match self {
                    Self::Unknown => "unknown",
                    $(Self::$variant => $local,)*
                }
            }

            /// The namespace.
            #[must_use]
            pub fn space(self) -> Space {
                match self {
                    Self::Unknown => Space::Other,
                    $(Self::$variant => Space::$space,)*
                }
            }

            /// Whether any listed name has this local name.
            #[must_use]
            pub fn has_local(local: &str) -> bool {
                matches!(local, $($local)|*)
            }
        }
    };
}

names! {
    Multistatus = Dav "multistatus",
    Response = Dav "response",
    Href = Dav "href",
    Status = Dav "status",
    Propstat = Dav "propstat",
    Prop = Dav "prop",
    Error = Dav "error",
    ResponseDescription = Dav "responsedescription",
    SyncToken = Dav "sync-token",
    ResourceType = Dav "resourcetype",
    Collection = Dav "collection",
    Principal = Dav "principal",
    Displayname = Dav "displayname",
    DavDescription = Dav "description",
    Etag = Dav "getetag",
    ContentLength = Dav "getcontentlength",
    ContentType = Dav "getcontenttype",
    CurrentUserPrincipal = Dav "current-user-principal",
    PrincipalUrl = Dav "principal-URL",
    Unauthenticated = Dav "unauthenticated",
    Owner = Dav "owner",
    CurrentUserPrivilegeSet = Dav "current-user-privilege-set",
    Privilege = Dav "privilege",
    All = Dav "all",
    Read = Dav "read",
    Write = Dav "write",
    WriteContent = Dav "write-content",
    WriteProperties = Dav "write-properties",
    Bind = Dav "bind",
    Unbind = Dav "unbind",
    Unlock = Dav "unlock",
    ReadAcl = Dav "read-acl",
    WriteAcl = Dav "write-acl",
    ReadCurrentUserPrivilegeSet = Dav "read-current-user-privilege-set",
    SupportedReportSet = Dav "supported-report-set",
    SupportedReport = Dav "supported-report",
    Report = Dav "report",
    SyncCollection = Dav "sync-collection",
    Calendar = CalDav "calendar",
    ScheduleInbox = CalDav "schedule-inbox",
    ScheduleOutbox = CalDav "schedule-outbox",
    CalendarHomeSet = CalDav "calendar-home-set",
    CalendarUserAddressSet = CalDav "calendar-user-address-set",
    ScheduleInboxUrl = CalDav "schedule-inbox-URL",
    ScheduleOutboxUrl = CalDav "schedule-outbox-URL",
    CalendarDescription = CalDav "calendar-description",
    CalendarTimezone = CalDav "calendar-timezone",
    SupportedCalendarComponentSet = CalDav "supported-calendar-component-set",
    MaxResourceSize = CalDav "max-resource-size",
    MaxInstances = CalDav "max-instances",
    MaxAttendeesPerInstance = CalDav "max-attendees-per-instance",
    MinDateTime = CalDav "min-date-time",
    MaxDateTime = CalDav "max-date-time",
    Comp = CalDav "comp",
    CalendarData = CalDav "calendar-data",
    CalendarQuery = CalDav "calendar-query",
    CalendarMultiget = CalDav "calendar-multiget",
    FreeBusyQuery = CalDav "free-busy-query",
    ReadFreeBusy = CalDav "read-free-busy",
    Addressbook = CardDav "addressbook",
    Ctag = CalendarServer "getctag",
    Subscribed = CalendarServer "subscribed",
    Shared = CalendarServer "shared",
    Notification = CalendarServer "notification",
    Notifications = CalendarServer "notifications",
    DropboxHome = CalendarServer "dropbox-home",
    CalendarProxyRead = CalendarServer "calendar-proxy-read",
    CalendarProxyWrite = CalendarServer "calendar-proxy-write",
    CalendarColor = Apple "calendar-color",
    CalendarOrder = Apple "calendar-order",
    TrashBin = Nextcloud "trash-bin",
    DeletedCalendar = Nextcloud "deleted-calendar",
}

/// A set of listed names. [`Name::Unknown`] is a member when any other name was met.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct NameSet(u128);

impl NameSet {
    /// Adds a name.
    pub fn insert(&mut self, name: Name) {
        self.0 |= 1 << (name as u8);
    }

    /// Whether the name was added.
    #[must_use]
    pub fn contains(self, name: Name) -> bool {
        self.0 & (1 << (name as u8)) != 0
    }

    /// Whether one of the names was added.
    #[must_use]
    pub fn contains_any(self, names: &[Name]) -> bool {
        names.iter().any(|name| self.contains(*name))
    }

    /// The names of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names, in the order of [`Name`].
    pub fn iter(self) -> impl Iterator<Item = Name> {
        Name::ALL.iter().copied().filter(move |name| self.contains(*name))
    }
}

impl std::fmt::Debug for NameSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<Name> for NameSet {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        let mut set = Self::default();
        names.into_iter().for_each(|name| set.insert(name));
        set
    }
}

const _: () = assert!(Name::ALL.len() <= 128, "a name is a bit of NameSet");
