//! Servers as they were met.

use super::{DAVICAL, Header, Oddity, SABRE};

/// A server that no package registry has, or one whose oddities matter for reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persona {
    /// sabre/dav 4.7.1 and Baikal 0.12.1.
    SabreFour,
    /// Nextcloud 32.0.1.
    Nextcloud,
    /// Google Calendar, by its documents and by reports.
    Google,
    /// iCloud, by reports.
    ICloud,
    /// SOGo 5.8.0.
    Sogo,
    /// DAViCal 1.1.12.
    Davical,
    /// Cyrus 3.6.1.
    Cyrus,
    /// Radicale 3.9.0.
    Radicale,
    /// Xandikos 0.4.10.
    Xandikos,
}

/// All of them.
pub const PERSONAS: [Persona; 9] = [
    Persona::SabreFour,
    Persona::Nextcloud,
    Persona::Google,
    Persona::ICloud,
    Persona::Sogo,
    Persona::Davical,
    Persona::Cyrus,
    Persona::Radicale,
    Persona::Xandikos,
];

impl Persona {
    /// The path of the calendar home.
    pub(super) fn home(self) -> &'static str {
        match self {
            Self::SabreFour => "/calendars/ana/",
            Self::Nextcloud => "/remote.php/dav/calendars/ana/",
            Self::Google => "/caldav/v2/ana%40example.test/",
            Self::ICloud => "/1234/calendars/",
            Self::Sogo => "/SOGo/dav/ana/Calendar/",
            Self::Davical => "/caldav.php/ana/",
            Self::Cyrus => "/dav/calendars/user/ana/",
            Self::Radicale => "/ana/",
            Self::Xandikos => "/ana/calendars/",
        }
    }

    /// What its sync tokens begin with; a number follows.
    pub(super) fn token(self) -> &'static str {
        match self {
            Self::SabreFour | Self::Nextcloud => "http://sabre.io/ns/sync/",
            Self::Google => "https://www.google.com/calendar/sync/",
            Self::ICloud => "HwoQEgwAAAAAAAAA",
            Self::Sogo => "17960496",
            Self::Davical => "data:,",
            Self::Cyrus => "data:,1796049457-",
            Self::Radicale => "http://radicale.org/ns/sync/",
            Self::Xandikos => "5f2c",
        }
    }

    /// What its answers say about it.
    pub(super) fn headers(self) -> &'static [Header] {
        match self {
            Self::SabreFour | Self::Nextcloud => SABRE,
            Self::Davical => DAVICAL,
            Self::Cyrus => &[("server", "Cyrus-HTTP/3.6.1")],
            Self::Xandikos => &[("server", "Python/3.11 aiohttp/3.13.2")],
            Self::Google | Self::ICloud | Self::Sogo | Self::Radicale => &[],
        }
    }

    /// What is odd about it.
    #[must_use]
    pub fn oddities(self) -> &'static [Oddity] {
        use Oddity::*;
        match self {
            Self::SabreFour => &[
                SpelledOtherwise,
                MissingLeftOut,
                EndlessEndsIn2037,
                StartAloneNotFound,
                TextsSearched,
                AnyToken,
                CollectionReported,
                NoTagInAnswer,
                UidAccepted,
                RenameRefused,
                OrderRefused,
                AutoSchedule,
                ScheduleStatusAdded,
            ],
            Self::Nextcloud => &[
                TrashBin,
                SpelledOtherwise,
                MissingLeftOut,
                EndlessEndsIn2037,
                StartAloneNotFound,
                DurationIgnored,
                TextsSearched,
                CutDelta,
                FirstReportWhole,
                RecreatedLooksRemoved,
                AnyToken,
                CollectionReported,
                NoTagInAnswer,
                UidTaken(400, ""),
                RenameRefused,
                PatchNotAtomic,
                AutoSchedule,
                ScheduleStatusAdded,
            ],
            Self::Google => &[FiltersIgnored, NoFreeBusy, AbsenceIgnored, NoMove, NoMake, AutoSchedule],
            Self::ICloud => &[
                HomeElsewhere,
                CharacterData,
                SecondPropstat,
                FreeBusyIs400,
                AnyReversed,
                EndNeeded,
                AutoSchedule,
            ],
            Self::Sogo => &[
                WellKnownPage,
                OwnOutbox,
                SpelledOtherwise,
                FiltersIgnored,
                RepeatedTags,
                AnyToken,
                ChangesRepeated,
                NoFreeBusy,
                AbsenceIgnored,
                MatchIgnoredOnDelete,
                MatchIgnoredOnMove,
                AnyMatchesNothing,
                ClassAdded,
                ScheduleStatusAdded,
                UidTaken(409, ""),
                AnyComponent,
                MoveNamesByUid,
                OverwriteIgnored,
                DestinationNeedsHost,
                MakeDrops,
                PatchRefused,
                AutoSchedule,
            ],
            Self::Davical => &[
                SchedulingListed,
                MissingLeftOut,
                TodoRangeFindsNothing,
                OverridesNotSearched,
                UnknownTokenListsAll,
                ChangesRepeated,
                UidAccepted,
                AnyComponent,
                MoveIs200,
                OrderRefused,
                ZoneDropped,
                ScheduleStatusAdded,
            ],
            Self::Cyrus => &[
                SpelledOtherwise,
                EndlessEndsIn2037,
                TextsSearched,
                TextsEscaped,
                WeakMatches,
                CategoriesSplit,
                ScheduleStatusAdded,
                NoTagInAnswer,
                UidTaken(403, "unique-scheduling-object-resource"),
                UidUniqueEverywhere,
                EndNeeded,
                MediaTypeNeeded,
                OrderRefused,
                AutoSchedule,
            ],
            Self::Radicale => &[
                OccurrencesLimited,
                MatchIgnoredOnMove,
                Reordered,
                AnyComponent,
                DeleteIs200,
                PatchNotAtomic,
            ],
            Self::Xandikos => &[
                MissingIs207,
                SpelledOtherwise,
                ZoneIgnored,
                CutDelta,
                MatchIgnoredOnMove,
                Reordered,
                UidTaken(412, "no-uid-conflict"),
                MakeIs207,
                PatchNotAtomic,
            ],
        }
    }
}
