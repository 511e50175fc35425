//! How fast the core is, as ratios to other crates measured in the same run: `cargo bench -p kalends-core --bench ratios`.
//!
//! Machines and their load differ, ratios hardly do: contenders take turns on one thread, CPU time counts, and the
//! best of several rounds stands. Each contender returns a number that shows what it found, and all have to agree,
//! so that nobody is fast by doing something else.

mod expansion;
mod input;
mod measure;
mod multistatus;
mod parsing;
mod zone;

fn main() -> std::io::Result<()> {
    let event = input::event();
    // The largest calendar that is read has 4 MiB.
    let calendar = input::calendar(4 << 20);
    let referred = input::multistatus(10_000, input::Data::References);
    let section = input::multistatus(10_000, input::Data::Section);
    let mut measures = parsing::measures(&event, &calendar);
    measures.extend(expansion::measures());
    measures.extend(zone::measures());
    measures.extend(multistatus::measures(&referred, &section));
    measure::table(measures)
}
