//! What of a text filter a server can be asked, so that less is downloaded. A pure reduction: nothing that the filter
//! selects is lost, and everything is filtered again.
//!
//! A server compares with `i;ascii-casemap` (RFC 4790, 9.2), so only a run of printable ASCII is sent. It holds no
//! character that iCalendar escapes, since some servers compare the escaped text; nor a colon or a quotation mark, which
//! some writers escape, too, and not every server decodes.

use super::text_filter::{TextFilter, longest_run};

/// Where a term of the text may be found.
const TEXTS: [&str; 4] = ["SUMMARY", "DESCRIPTION", "LOCATION", "CATEGORIES"];
/// Where a category may be found.
const CATEGORIES: [&str; 1] = ["CATEGORIES"];

/// A text that a selected component has to contain, in one of these properties at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe<'a> {
    /// Names of iCalendar properties.
    pub properties: &'static [&'static str],
    /// Printable ASCII in lower case.
    pub run: &'a str,
}

/// What every member that is selected has to answer to: at most one probe for the categories and one for the text, of
/// their longest runs. None if nothing is long enough.
#[must_use]
pub fn probes(filter: &TextFilter) -> Vec<Probe<'_>> {
    let category = longest_run(filter.categories()).map(|run| Probe {
        properties: &CATEGORIES,
        run,
    });
    let term = longest_run(filter.terms()).map(|run| Probe {
        properties: &TEXTS,
        run,
    });
    category.into_iter().chain(term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_run_of_plain_characters_is_asked_for() {
        let found = |text: Option<&str>, categories: &[&str]| {
            let categories: Vec<String> = categories.iter().map(|name| (*name).to_owned()).collect();
            let filter = TextFilter::new(text, &categories);
            probes(&filter)
                .iter()
                .map(|probe| (probe.properties.len(), probe.run.to_owned()))
                .collect::<Vec<_>>()
        };
        let text = |run: &str| vec![(4, run.to_owned())];
        for (given, expected) in [
            ("Lunch", text("lunch")),
            ("an Lunch dinner", text("dinner")),
            ("one two", text("one")),
            ("ab", vec![]),
            ("zo\u{eb}", vec![]),
            ("caf\u{e9}teria", text("teria")),
            ("a,b;c\\d", vec![]),
            ("abc,defg", text("defg")),
            ("noon:thirty", text("thirty")),
            ("\"cheese\"", text("cheese")),
        ] {
            assert_eq!(found(Some(given), &[]), expected, "{given}");
        }
        assert_eq!(found(None, &["Team Lunch"]), [(1, "team lunch".to_owned())]);
        assert_eq!(
            found(Some("cake"), &["ab", "Work"]),
            [(1, "work".to_owned()), (4, "cake".to_owned())]
        );
        assert_eq!(found(None, &[]), []);
    }
}
