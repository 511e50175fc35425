//! `KALENDS_TZDATA`: a newer IANA database from a zoneinfo folder, read once at start.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use kalends_core::ical::zone::{Release, TZDATA_VERSION, bundled_names};

#[cfg(test)]
mod tests;

pub(crate) const VARIABLE: &str = "KALENDS_TZDATA";
const SYSTEM: &str = "/usr/share/zoneinfo";
/// The largest file that is read, in octets. `tzdata.zi` has about 110,000.
const MAX_OCTETS: u64 = 1024 * 1024;

/// The folder that the variable names, if any.
pub(crate) fn folder(value: Option<&str>) -> Result<Option<PathBuf>, &'static str> {
    match value {
        None | Some("" | "bundled") => Ok(None),
        Some("system") => Ok(Some(SYSTEM.into())),
        Some(path) if Path::new(path).is_absolute() => Ok(Some(path.into())),
        Some(_) => Err("must be bundled, system or the absolute path of a zoneinfo folder"),
    }
}

/// Uses the database in a folder if it is newer than the bundled one, and tells which one is used.
pub(crate) fn use_newer(folder: &Path) -> String {
    let installed = read(folder).and_then(|release| {
        let version = release.version().to_owned();
        release.install().map_err(|refusal| refusal.to_string())?;
        Ok(version)
    });
    match installed {
        Ok(version) => format!("kalends: time zones by tzdata {version} of {}", folder.display()),
        Err(reason) => format!(
            "kalends: time zones by the bundled tzdata {TZDATA_VERSION}, not by {}: {reason}",
            folder.display()
        ),
    }
}

/// Reads a folder: its version by the first line of `tzdata.zi` or by `+VERSION`, then the zones that `tzdata.zi` or the
/// bundled database names. One that has no file, since distributions keep old names in a package of their own, is that
/// which `tzdata.zi` says it is a link to.
fn read(folder: &Path) -> Result<Release, String> {
    let file = |name: &str| read_file(&folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let index = String::from_utf8_lossy(&file("tzdata.zi")?.unwrap_or_default()).into_owned();
    let version = match index.lines().next().and_then(|line| line.strip_prefix("# version ")) {
        Some(version) => version.to_owned(),
        None => String::from_utf8_lossy(&file("+VERSION")?.ok_or("it tells no version")?).into_owned(),
    };
    let version = version.trim();
    let mut release = Release::new(version).map_err(|refusal| format!("{version:.20}: {refusal}"))?;
    let mut targets: BTreeMap<_, _> = bundled_names().map(|name| (name, name)).collect();
    targets.extend(index.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        match (words.next()?, words.next()?, words.next()?) {
            ("Z", name, _) => Some((name, name)),
            ("L", target, name) => Some((name, target)),
            _ => None,
        }
    }));
    targets.retain(|name, target| is_plain(name) && is_plain(target));
    let mut found = false;
    for (name, target) in targets {
        let tzif = match file(name)? {
            Some(tzif) => Some(tzif),
            None => file(target)?,
        };
        if let Some(tzif) = tzif {
            release
                .add(name, &tzif)
                .map_err(|refusal| format!("{name}: {refusal}"))?;
            found = true;
        }
    }
    found.then_some(release).ok_or_else(|| "it has no zones".to_owned())
}

/// A file's octets; `None` if it is not there.
fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut octets = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(MAX_OCTETS).read_to_end(&mut octets).map(|_| Some(octets)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a name stays below its folder.
fn is_plain(name: &str) -> bool {
    name.split('/').all(|part| !part.is_empty() && !part.starts_with('.')) && !name.contains(['\\', ':'])
}
