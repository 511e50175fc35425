//! Where Calendars and their members are kept: what the [folder](crate::folder) and the
//! [memory](crate::memory) have in common.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;

use crate::metadata::Metadata;
use crate::summary::Summary;

/// Why something cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is not there.
    Missing,
    /// The system or this server does not allow it, or cannot hold it.
    Refused,
    /// No room.
    Full,
    /// The request's body is not XML.
    NotXml,
    /// Anything else.
    Failed,
}

impl Trouble {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Missing => StatusCode::NOT_FOUND,
            Self::Refused => StatusCode::FORBIDDEN,
            Self::Full => StatusCode::INSUFFICIENT_STORAGE,
            Self::NotXml => StatusCode::BAD_REQUEST,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// A member of a Calendar. One that cannot be read is still a member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) content: Result<Arc<Summary>, Trouble>,
}

/// Held while something is looked at and then changed.
pub(crate) trait Guard {}

/// A tree of two levels. All names given to it are [safe](crate::path::is_safe).
pub(crate) trait Store: Send + Sync {
    /// The names of all Calendars, in order.
    fn calendars(&self) -> Result<Vec<String>, Trouble>;

    /// Adds an empty Calendar that is not there yet.
    fn create(&self, calendar: &str, metadata: &Metadata) -> Result<(), Trouble>;

    /// Changes what is known of a Calendar that is there.
    fn describe(&self, calendar: &str, metadata: &Metadata) -> Result<(), Trouble>;

    /// Removes a Calendar with its members, all at once; [`Trouble::Refused`] if anything else is in it.
    fn discard(&self, calendar: &str) -> Result<(), Trouble>;

    /// What is known of a Calendar; [`Trouble::Missing`] if there is none.
    fn metadata(&self, calendar: &str) -> Result<Metadata, Trouble>;

    /// All members, in order of their names.
    fn members(&self, calendar: &str) -> Result<Vec<Member>, Trouble>;

    /// The content of a member.
    fn read(&self, calendar: &str, name: &str) -> Result<Bytes, Trouble>;

    /// Stores or replaces a member: afterwards the old or the new content is there, whole, whatever happens.
    fn write(&self, calendar: &str, name: &str, content: &Bytes) -> Result<(), Trouble>;

    /// Removes a member.
    fn remove(&self, calendar: &str, name: &str) -> Result<(), Trouble>;

    /// Gives a member another place, where it takes the place of what is there: it is never at both or at neither.
    fn relocate(&self, from: (&str, &str), to: (&str, &str)) -> Result<(), Trouble>;

    /// Keeps every other writer out while the guard lives, those of other processes included.
    fn lock(&self) -> Result<Box<dyn Guard + '_>, Trouble>;
}
