//! CPU time of runs that take turns, and the table of their ratios.

use std::io::{self, Write};

use rustix::time::{ClockId, clock_gettime};

/// How often each contender runs; the best time counts.
const ROUNDS: usize = 7;
/// A round lasts at least as long, in nanoseconds.
const ROUND: u64 = 20_000_000;

/// What one contender does, and a number that shows what it found: contenders of one measure have to agree.
pub(crate) type Run<'a> = Box<dyn FnMut() -> u64 + 'a>;

/// One thing that several can do.
pub(crate) struct Measure<'a> {
    pub(crate) name: String,
    /// How many operations a run is made of.
    pub(crate) operations: usize,
    pub(crate) ours: Run<'a>,
    pub(crate) others: Vec<Other<'a>>,
}

/// Who does the same.
pub(crate) struct Other<'a> {
    pub(crate) name: &'static str,
    /// How many times as long it should take, if there is a goal: above 1 it should be slower than this library.
    pub(crate) goal: Option<f64>,
    pub(crate) run: Run<'a>,
}

/// Measures and writes one row for each other contender. Arguments keep only the measures with a name that holds one.
pub(crate) fn table(mut measures: Vec<Measure<'_>>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    measures.retain(|measure| wanted.is_empty() || wanted.iter().any(|word| measure.name.contains(word.as_str())));
    writeln!(
        out,
        "\n{:<58} {:>11}  {:<9} {:>11} {:>9} {:>8}  reached",
        "CPU time of one operation, best of 7", "kalends", "against", "", "ratio", "goal"
    )?;
    for mut measure in measures {
        let found = (measure.ours)();
        for other in &mut measure.others {
            assert_eq!(
                (other.run)(),
                found,
                "{} finds something else: {}",
                other.name,
                measure.name
            );
        }
        let runs = std::iter::once(&mut measure.ours).chain(measure.others.iter_mut().map(|other| &mut other.run));
        let times = best(runs.collect());
        let each = |time: f64| time / measure.operations as f64;
        for (other, time) in measure.others.iter().zip(&times[1..]) {
            let ratio = time / times[0];
            let (goal, reached) = other.goal.map_or((String::new(), ""), |goal| {
                (number(goal), if ratio >= goal { "yes" } else { "NO" })
            });
            writeln!(
                out,
                "{:<58} {:>11}  {:<9} {:>11} {:>9} {goal:>8}  {reached}",
                measure.name,
                duration(each(times[0])),
                other.name,
                duration(each(*time)),
                number(ratio),
            )?;
        }
    }
    Ok(())
}

/// The best time of each run, in nanoseconds.
fn best(mut runs: Vec<&mut Run<'_>>) -> Vec<f64> {
    let repeats: Vec<u64> = runs.iter_mut().map(|run| repeats(run)).collect();
    let mut best = vec![f64::INFINITY; runs.len()];
    for _ in 0..ROUNDS {
        for ((run, repeats), best) in runs.iter_mut().zip(&repeats).zip(&mut best) {
            *best = best.min(time(run, *repeats) as f64 / *repeats as f64);
        }
    }
    best
}

/// How often a run fits into a round.
fn repeats(run: &mut Run<'_>) -> u64 {
    let mut repeats = 1;
    loop {
        let taken = time(run, repeats);
        if taken >= ROUND / 4 {
            return (ROUND * repeats / taken.max(1)).max(1);
        }
        repeats *= 4;
    }
}

fn time(run: &mut Run<'_>, repeats: u64) -> u64 {
    let start = cpu();
    for _ in 0..repeats {
        std::hint::black_box(run());
    }
    cpu() - start
}

/// CPU time of this thread in nanoseconds.
fn cpu() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        under if under < 1e3 => format!("{under:.1} ns"),
        under if under < 1e6 => format!("{:.2} us", under / 1e3),
        over => format!("{:.2} ms", over / 1e6),
    }
}

fn number(ratio: f64) -> String {
    if ratio < 100.0 {
        format!("{ratio:.1}x")
    } else {
        format!("{ratio:.0}x")
    }
}
