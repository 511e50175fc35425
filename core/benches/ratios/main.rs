//! How fast the core is, as ratios to other crates measured in the same run: `cargo bench -p kalends-core --bench ratios`.
//!
//! Machines and their load differ, ratios hardly do: contenders take turns on one thread, CPU time counts, and the
//! best of several rounds stands. Each contender returns a number that shows what it found, and all have to agree,
//! so that nobody is fast by doing something else.
//!
//! Words after `--` choose measures by their names. `--lines` and `--inputs=FOLDER` (which writes the calendars that are
//! parsed) are for `tests/bench/ical_peers.sh`.

mod expansion;
mod input;
mod measure;
mod multistatus;
mod parsing;
mod zone;

use measure::Options;

fn main() -> std::io::Result<()> {
    let mut options = Options::default();
    let mut inputs = None;
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("--inputs", folder)) => inputs = Some(folder.to_owned()),
            None if argument == "--lines" => options.lines = true,
            // Cargo says --bench.
            None if argument == "--bench" => {}
            _ => options.words.push(argument),
        }
    }
    let event = input::event();
    // The largest calendar that is read has 4 MiB.
    let calendar = input::calendar(4 << 20);
    if let Some(folder) = inputs {
        std::fs::write(format!("{folder}/event.ics"), &event)?;
        std::fs::write(format!("{folder}/calendar.ics"), &calendar)?;
    }
    let referred = input::multistatus(10_000, input::Data::References);
    let section = input::multistatus(10_000, input::Data::Section);
    let mut measures = parsing::measures(&event, &calendar);
    measures.extend(expansion::measures());
    measures.extend(zone::measures());
    measures.extend(multistatus::measures(&referred, &section));
    measure::report(measures, &options)
}
