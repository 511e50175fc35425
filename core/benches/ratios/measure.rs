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

/// What the arguments ask for.
#[derive(Default)]
pub(crate) struct Options {
    /// Only measures whose name holds one of these words, if there are any.
    pub(crate) words: Vec<String>,
    /// `--lines`: one line of measure, contender and nanoseconds each, between tabs, instead of a table.
    pub(crate) lines: bool,
}

/// Measures and writes what was found.
pub(crate) fn report(measures: Vec<Measure<'_>>, options: &Options) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if !options.lines {
        writeln!(
            out,
            "\n{:<58} {:>11}  {:<9} {:>11} {:>9} {:>8}  reached",
            "CPU time of one operation, best of 7", "kalends", "against", "", "ratio", "goal"
        )?;
    }
    let wanted = |measure: &Measure<'_>| {
        options.words.is_empty() || options.words.iter().any(|word| measure.name.contains(word.as_str()))
    };
    for mut measure in measures.into_iter().filter(wanted) {
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
        let mut times = best(runs.collect())
            .into_iter()
            .map(|time| time / measure.operations as f64);
        let ours = times.next().expect("ours is one of them");
        if options.lines {
            writeln!(out, "{}\tkalends\t{ours:.1}", measure.name)?;
        }
        for (other, time) in measure.others.iter().zip(times) {
            if options.lines {
                writeln!(out, "{}\t{}\t{time:.1}", measure.name, other.name)?;
                continue;
            }
            let ratio = time / ours;
            let (goal, reached) = other.goal.map_or((String::new(), ""), |goal| {
                (number(goal), if ratio >= goal { "yes" } else { "NO" })
            });
            writeln!(
                out,
                "{:<58} {:>11}  {:<9} {:>11} {:>9} {goal:>8}  {reached}",
                measure.name,
                duration(ours),
                other.name,
                duration(time),
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
