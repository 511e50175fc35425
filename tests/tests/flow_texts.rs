//! Text and category filters: whether and how a server is asked to look for texts changes no answer.

use std::cell::Cell;

use bytes::Bytes;
use kalends_core::ical::completion::CompletionState;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::zone::Zone;
use kalends_core::operation::Operation;
use kalends_core::ops::query_entities::QueryEntities;
use kalends_core::ops::query_occurrences::QueryOccurrences;
use kalends_core::ops::query_todos::QueryTodos;
use kalends_core::ops::scope::Scope;
use kalends_core::outcome::Outcome;
use kalends_core::query::text_filter::TextFilter;
use kalends_core::resource::Resource;
use kalends_local::Local;
use kalends_tests::account::{ENV, unknown};
use kalends_tests::explore::Choices;
use kalends_tests::host::sequential;
use kalends_tests::promises::MAX_REQUESTS;
use kalends_tests::server::{Oddity, Server};
use kalends_tests::world::Simulated;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

/// What is hard to compare: case, escapes, and letters that fold in their own ways.
const WORDS: [&str; 18] = [
    "Lunch",
    "LUNCH",
    "lunchtime",
    "team lunch",
    "Zo\u{eb}",
    "ZO\u{cb}",
    "lunch, dinner",
    "semi;colon",
    "back\\slash",
    "at 10:30 sharp",
    "say \"cheese\"",
    "two\nlines",
    "\u{130}stanbul",
    "lunc\u{212a}",
    "caf\u{e9}teria",
    "\u{df}tra\u{df}e",
    "a<b>&amp;",
    "  spaces  ",
];

/// What is asked for: words and parts of them, in other case.
const ASKED: [&str; 20] = [
    "lunch",
    "LUNCH",
    "unch",
    "zo\u{cb}",
    "zo",
    "dinner",
    "lunch,",
    "semi;colon",
    "colon",
    "back\\slash",
    "slash",
    "10:30",
    "at 10:30",
    "\"cheese\"",
    "lines",
    "lunch dinner",
    "\u{e9}teria",
    "tra\u{df}e",
    "b>&amp;",
    "stanbul",
];

/// How a writer escapes: as RFC 5545 says, or colons and quotation marks, too.
fn escaped(text: &str, everything: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | ',' | ';' => out.extend(['\\', c]),
            ':' | '"' if everything => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    out
}

/// A content line, folded after so many characters.
fn folded(line: &str, width: usize) -> String {
    let mut out = String::new();
    for (at, c) in line.chars().enumerate() {
        if at > 0 && at % width == 0 {
            out.push_str("\r\n ");
        }
        out.push(c);
    }
    out + "\r\n"
}

/// Texts of one component: property names and words.
type Texts = Vec<(&'static str, &'static str)>;

#[derive(Clone, Debug)]
struct Item {
    kind: &'static str,
    master: Texts,
    moved: Option<Texts>,
    everything: bool,
    width: usize,
}

fn texts() -> impl Strategy<Value = Texts> {
    const NAMES: [&str; 6] = [
        "SUMMARY",
        "DESCRIPTION",
        "LOCATION",
        "CATEGORIES",
        "CATEGORIES",
        "COMMENT",
    ];
    prop::collection::vec((select(NAMES.as_slice()), select(WORDS.as_slice())), 0..4)
}

fn item() -> impl Strategy<Value = Item> {
    let kind = select(["VEVENT", "VEVENT", "VTODO"].as_slice());
    (kind, texts(), prop::option::of(texts()), any::<bool>(), 5..80_usize).prop_map(
        |(kind, master, moved, everything, width)| Item {
            kind,
            master,
            moved,
            everything,
            width,
        },
    )
}

impl Item {
    fn octets(&self, uid: usize) -> Bytes {
        let Self {
            kind,
            everything,
            width,
            ..
        } = *self;
        let component = |times: &str, texts: &Texts| {
            let mut out = format!("BEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{times}");
            for (name, word) in texts {
                out.push_str(&folded(&format!("{name}:{}", escaped(word, everything)), width));
            }
            // What an alarm says is not looked for.
            out + "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nDESCRIPTION:dinner\r\nEND:VALARM\r\n"
        };
        let series = "DTSTART:20261201T100000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY;COUNT=3\r\n";
        let moved = "RECURRENCE-ID:20261202T100000Z\r\nDTSTART:20261202T150000Z\r\nDURATION:PT1H\r\n";
        let mut components = vec![component(series, &self.master)];
        components.extend(self.moved.as_ref().map(|texts| component(moved, texts)));
        let body = components.join(&format!("END:{kind}\r\n"));
        format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\n{body}END:{kind}\r\nEND:VCALENDAR\r\n").into()
    }
}

/// A Calendar with these items, and so many others that it is worth looking for texts.
fn calendar(items: &[Item]) -> Local {
    let mut local = Local::memory().with_calendar("work", "Work");
    for kind in ["VEVENT", "VTODO"] {
        let other = Item {
            kind,
            master: vec![("SUMMARY", "Other")],
            moved: None,
            everything: false,
            width: 80,
        };
        for at in 0..51 {
            local = local.put(&format!("work/{kind}-{at}.ics"), other.octets(1000 + at));
        }
    }
    let items = items.iter().enumerate();
    items.fold(local, |local, (at, item)| {
        local.put(&format!("work/item-{at}.ics"), item.octets(at))
    })
}

type There = Option<(Index, bool)>;

/// A filter for words that these items have, or else for something else.
fn filter(items: &[Item], (text, category, other): (There, There, &str)) -> TextFilter {
    let all = items
        .iter()
        .flat_map(|item| item.master.iter().chain(item.moved.iter().flatten()));
    let pick = |there: There, of: &[&str]| {
        let (index, upper) = there.filter(|_| !of.is_empty())?;
        let word = index.get(of);
        Some(if upper {
            word.to_ascii_uppercase()
        } else {
            (*word).to_owned()
        })
    };
    let words: Vec<&str> = all.clone().flat_map(|(_, word)| word.split_whitespace()).collect();
    let named: Vec<&str> = all
        .filter(|(name, _)| *name == "CATEGORIES")
        .map(|(_, word)| *word)
        .collect();
    let category = pick(category, &named);
    let text = pick(text, &words).or_else(|| category.is_none().then(|| other.to_owned()));
    TextFilter::new(text.as_deref(), &category.into_iter().collect::<Vec<_>>())
}

/// What three queries find, and how often a text was looked for.
fn found(server: &Server, filter: &TextFilter) -> (Vec<String>, usize) {
    let time = |text: &str| text.parse().expect("a time");
    let shown = |resource: &Resource| resource.href.last_segment().unwrap_or_default();
    let occurrences = QueryOccurrences {
        scope: Scope::All,
        from: time("2026-11-30T00:00:00Z"),
        to: time("2026-12-07T00:00:00Z"),
        evaluation: Zone::utc(),
        filter: filter.clone(),
    };
    let entities = QueryEntities {
        scope: Scope::All,
        kinds: vec![Kind::Event, Kind::Todo],
        window: None,
        filter: filter.clone(),
    };
    let todos = QueryTodos {
        scope: Scope::All,
        states: [CompletionState::Open].into(),
        window: None,
        due: None,
        evaluation: Zone::utc(),
        filter: filter.clone(),
    };
    let (mut rows, mut searches) = (Vec::new(), 0);
    let (found, asked) = ask(server, occurrences);
    rows.extend(
        found
            .rows
            .iter()
            .map(|row| format!("{} {}", row.instance.from, shown(&row.resource))),
    );
    searches += asked;
    let (found, asked) = ask(server, entities);
    rows.extend(found.rows.iter().map(|row| shown(row)));
    searches += asked;
    let (found, asked) = ask(server, todos);
    rows.extend(found.rows.iter().map(|row| format!("to-do {}", shown(&row.resource))));
    (rows, searches + asked)
}

/// The answer to a fresh account, since what is known need not be looked for.
fn ask<T, O: Operation<Outcome = Outcome<T>>>(server: &Server, operation: O) -> (T, usize) {
    let mut world = Simulated::new(Choices::default(), server.clone(), 0, MAX_REQUESTS);
    let (outcome, _) = sequential(operation.start(ENV, &unknown()), &mut world, None);
    (outcome.expect("no fault"), world.searches)
}

#[test]
fn a_filter_finds_the_same_however_the_server_looks_for_texts() {
    use Oddity::{FiltersIgnored, OverridesNotSearched, TextsEscaped, TextsRefused, TextsSearched};
    let servers: [&[Oddity]; 11] = [
        &[TextsSearched],
        &[TextsSearched, TextsEscaped],
        &[TextsSearched, FiltersIgnored],
        &[OverridesNotSearched],
        &[TextsRefused(403, "supported-filter")],
        &[TextsRefused(403, "supported-collation")],
        &[TextsRefused(403, "")],
        &[TextsRefused(405, "")],
        &[TextsRefused(501, "")],
        &[TextsRefused(500, "")],
        &[TextsRefused(413, "")],
    ];
    let (looked, hits) = (Cell::new([0; 11]), Cell::new(0));
    // Mostly something that is there, in any case, and mostly of a server that looks for it.
    let there = || prop::option::of((any::<Index>(), any::<bool>()));
    let asked = (there(), there(), select(ASKED.as_slice()));
    let which = prop_oneof![3 => 0..2_usize, 2 => 2..servers.len()];
    let cases = (prop::collection::vec(item(), 1..6), asked, which);
    let config = Config {
        cases: 120,
        failure_persistence: None,
        ..Config::default()
    };
    let run = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(Default::default()),
    )
    .run(&cases, |(items, asked, at)| {
        let filter = filter(&items, asked);
        let (truth, _) = found(&Server::from(calendar(&items)), &filter);
        let (rows, searches) = found(&Server::odd(calendar(&items), servers[at]), &filter);
        prop_assert_eq!(&rows, &truth, "{:?}", servers[at]);
        let mut counts = looked.get();
        counts[at] += searches;
        looked.set(counts);
        hits.set(hits.get() + truth.len());
        Ok(())
    });
    if let Err(failure) = run {
        panic!("{failure}");
    }
    assert!(hits.get() > 0, "nothing is ever found");
    for (oddities, count) in servers.iter().zip(looked.get()) {
        let tells = !oddities.contains(&OverridesNotSearched);
        assert_eq!(count > 0, tells, "{oddities:?}: looked for texts {count} times");
    }
}
