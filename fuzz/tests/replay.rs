//! Every fuzz target over its committed corpus, and over every seed cut short.

use std::fs;
use std::path::Path;

use kalends_fuzz::TARGETS;

/// The most lengths of the seeds of one target that are tried, and the longest one.
const CUTS: usize = 4000;
const CUT: usize = 2048;

#[test]
fn every_target_survives_its_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in TARGETS {
        let mut seeds: Vec<_> = fs::read_dir(corpus.join(name))
            .unwrap_or_else(|error| panic!("the corpus of {name}: {error}"))
            .map(|entry| entry.expect("readable").path())
            .collect();
        assert!(!seeds.is_empty(), "{name} has no corpus");
        seeds.sort();
        let seeds: Vec<_> = seeds.iter().map(|seed| fs::read(seed).expect("readable")).collect();
        let lengths: usize = seeds.iter().map(|data| data.len().min(CUT)).sum();
        for data in seeds {
            target(&data);
            for end in (0..data.len().min(CUT)).step_by(lengths / CUTS + 1) {
                target(&data[..end]);
            }
        }
    }
}

#[test]
fn every_target_has_its_binary() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let mut files: Vec<_> = fs::read_dir(targets)
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    let mut names: Vec<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}
