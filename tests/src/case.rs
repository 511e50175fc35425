//! The cases of `tests/cases`: each a question that somebody met in the wild, with its inputs and the right answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kalends_core::ical::document::Document;
use kalends_core::ical::zone::Zone;
use serde_json::Value;

/// One folder.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it lies.
    pub folder: PathBuf,
    /// The number that its folder begins with.
    pub number: u32,
    /// One sentence.
    pub title: String,
    /// The area that it is about.
    pub kind: String,
    /// `expected.json`.
    pub expected: Value,
}

impl Case {
    /// All cases, in the order of their numbers.
    ///
    /// # Panics
    /// If one of them is not written as `FORMAT.md` says.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
        let entries = std::fs::read_dir(root)
            .expect("the cases")
            .map(|entry| entry.expect("an entry").path());
        let mut cases: Vec<_> = entries.filter(|path| path.is_dir()).map(Self::read).collect();
        cases.sort_by_key(|case| case.number);
        cases
    }

    fn read(folder: PathBuf) -> Self {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
        let number = name[..3].parse().expect("a number");
        let text = std::fs::read_to_string(folder.join("case.md")).expect("case.md");
        let mut lines = text.lines();
        let mut field = |name: &str| {
            let value = lines
                .next()
                .and_then(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or_else(|| panic!("{number}: no {name}")).to_owned()
        };
        let [title, _source, kind, _input, _expected] =
            ["title", "source", "kind", "input", "expected"].map(&mut field);
        Self {
            number,
            title,
            kind,
            expected: serde_json::from_slice(&std::fs::read(folder.join("expected.json")).expect("expected.json"))
                .expect("JSON"),
            folder,
        }
    }

    /// The octets of a file.
    ///
    /// # Panics
    /// If it is not there.
    #[must_use]
    pub fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap_or_else(|error| panic!("{} {name}: {error}", self.number))
    }

    /// A file of JSON.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.file(name)).expect("JSON")
    }

    /// The names of its iCalendar files.
    ///
    /// # Panics
    /// If the folder cannot be read.
    #[must_use]
    pub fn calendars(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
        let mut names: Vec<_> = names.filter(|name| name.ends_with(".ics")).collect();
        names.sort();
        names
    }

    /// The resources that a server would hold of a file: one for each UID (RFC 4791, 4.1). A file with one UID is
    /// stored as it is.
    ///
    /// # Panics
    /// If the file holds no iCalendar.
    #[must_use]
    pub fn resources(&self, name: &str) -> Vec<Vec<u8>> {
        let octets = self.file(name);
        let document = Document::parse(octets.clone().into()).expect("small");
        let calendar = document.roots().next().expect("a VCALENDAR");
        let mut head = b"BEGIN:VCALENDAR\r\n".to_vec();
        for property in calendar.properties() {
            head.extend_from_slice(property.slice());
        }
        let mut by_uid: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for component in calendar.children() {
            match component.first("UID") {
                None => head.extend_from_slice(component.slice()),
                Some(uid) => by_uid
                    .entry(uid.value().into_owned())
                    .or_default()
                    .extend_from_slice(component.slice()),
            }
        }
        if by_uid.len() < 2 {
            return vec![octets];
        }
        let wrap = |components: Vec<u8>| [&head[..], &components, b"END:VCALENDAR\r\n"].concat();
        by_uid.into_values().map(wrap).collect()
    }

    /// The zone that the answer is evaluated in, UTC where none is named.
    ///
    /// # Panics
    /// If it is not known.
    #[must_use]
    pub fn zone(&self) -> Zone {
        let name = self.expected["evaluation_time_zone"].as_str().unwrap_or("UTC");
        Zone::iana(name).expect("a known zone")
    }
}
