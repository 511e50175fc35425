//! The files of `tests/corpus`: their octets stay, and their faults are those that its README.md names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kalends_core::ical::document::Document;
use kalends_core::ical::entity::Entity;

#[test]
fn every_file_keeps_its_octets_and_has_the_faults_that_are_told() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let readme = fs::read_to_string(corpus.join("README.md")).expect("a table");
    let row = |line: &str| {
        let cells: Vec<_> = line
            .split(" | ")
            .map(|cell| cell.trim_matches([' ', '|', '`']).to_owned())
            .collect();
        cells[0].ends_with(".ics").then(|| (cells[0].clone(), cells[2].clone()))
    };
    let mut told: BTreeMap<String, String> = readme
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(row)
        .collect();
    for entry in fs::read_dir(&corpus).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "ics") {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let octets = fs::read(&path).expect("readable");
        let document = Document::parse(octets.clone().into()).expect("small");
        assert_eq!(document.bytes(), &octets, "{name}");
        let faults = document
            .faults()
            .iter()
            .map(|fault| format!("{:?} {}", fault.kind, fault.line));
        let faults: Vec<_> = faults.collect();
        let want = told
            .remove(name)
            .unwrap_or_else(|| panic!("README.md does not tell of {name}"));
        assert_eq!(faults.join(", "), want, "{name}");
        let entity = Entity::read(octets.into());
        let shown = serde_json::to_value((entity.diagnostics(), entity.projection(), entity.calendar_properties()));
        assert!(shown.is_ok(), "{name}");
    }
    assert!(told.is_empty(), "README.md tells of files that are not there: {told:?}");
}
