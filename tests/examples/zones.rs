//! Answers questions about time zones for `tests/zones/check.py`: one on each line of standard input, with tabs between
//! its parts, and one answer on each line of standard output, `-` for none.
//!
//! | question | answer |
//! |---|---|
//! | `utc`, IANA name, Unix second | the offset in seconds |
//! | `local`, IANA name, seconds of the local clock since 1970-01-01 00:00 | Unix second, `Plain`, `Gap` or `Fold` |
//! | `vtimezone`, IANA name, year, `Open` or `Through2100` | the VTIMEZONE as a JSON string |
//! | `windows`, Windows name | the IANA name |
//! | `version` | the release of the IANA database |

use std::io::{self, BufRead, BufWriter, Write};

use kalends_core::ical::encode::LineEnd;
use kalends_core::ical::vtimezone::{Horizon, vtimezone};
use kalends_core::ical::windows_zone;
use kalends_core::ical::zone::{TZDATA_VERSION, Zone};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for question in io::stdin().lock().lines() {
        let question = question?;
        let parts: Vec<_> = question.split('\t').collect();
        writeln!(out, "{}", answer(&parts).unwrap_or_else(|| "-".to_owned()))?;
    }
    out.flush()
}

fn answer(question: &[&str]) -> Option<String> {
    match *question {
        ["utc", name, second] => {
            let offset = Zone::iana(name)?.offset_at(second.parse().ok()?);
            Some(offset.to_string())
        }
        ["local", name, second] => {
            let local = Zone::utc().local_at(second.parse().ok()?);
            let found = Zone::iana(name)?.resolve_local(local);
            Some(format!("{}\t{:?}", found.second, found.kind))
        }
        ["vtimezone", name, year, horizon] => {
            let horizon = match horizon {
                "Open" => Horizon::Open,
                "Through2100" => Horizon::Through2100,
                _ => return None,
            };
            let mut out = Vec::new();
            vtimezone(name, year.parse().ok()?, horizon)?.write(LineEnd::CrLf, &mut out);
            serde_json::to_string(&String::from_utf8(out).ok()?).ok()
        }
        ["windows", name] => windows_zone::iana(name).map(str::to_owned),
        ["version"] => Some(TZDATA_VERSION.to_owned()),
        _ => None,
    }
}
