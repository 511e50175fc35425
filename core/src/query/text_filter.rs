//! Which components a text and categories select. Evaluated locally, always: server filters answer too much and too
//! little.

use crate::ical::entity::Entity;

/// The longest filter text, in characters.
pub const MAX_TEXT: usize = 256;
/// The most terms of a filter text.
pub const MAX_TERMS: usize = 16;
/// The most categories of a filter.
pub const MAX_CATEGORIES: usize = 16;
/// The longest category of a filter, in characters.
pub const MAX_CATEGORY: usize = 128;

/// Terms that must all be found, and categories that must all be there. Empty selects everything.
///
/// A term is found, ignoring case, inside the summary, the description, the location or a single category;
/// different terms may be found in different ones. A category has to equal one category of the component, both
/// trimmed, ignoring case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFilter {
    terms: Vec<String>,
    categories: Vec<String>,
    /// What every selected resource has in some content line, if a text or category is plain enough to tell.
    run: Option<String>,
}

impl TextFilter {
    /// Splits the text at white space and folds everything.
    #[must_use]
    pub fn new(text: Option<&str>, categories: &[String]) -> Self {
        let terms: Vec<String> = text.unwrap_or("").split_whitespace().map(fold).collect();
        let categories: Vec<String> = categories.iter().map(|category| fold(category.trim())).collect();
        let run = longest_run(&categories)
            .or_else(|| longest_run(&terms))
            .map(str::to_owned);
        Self { terms, categories, run }
    }

    /// Whether everything is selected, so that no component need be looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.categories.is_empty()
    }

    /// What has to be found, folded.
    #[must_use]
    pub fn terms(&self) -> &[String] {
        &self.terms
    }

    /// The categories that have to be there, trimmed and folded.
    #[must_use]
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// Whether a component of an entity is selected, named as in [`Entity::components`].
    #[must_use]
    pub fn selects_component(&self, entity: &Entity, component: Option<usize>) -> bool {
        if self.is_empty() {
            return true;
        }
        if !self.may_select(entity) {
            return false;
        }
        let own = entity.searchable(component);
        let texts = [
            own.summary.as_deref(),
            own.description.as_deref(),
            own.location.as_deref(),
        ];
        self.selects(&texts, &own.categories)
    }

    /// Whether any component of an entity is selected.
    #[must_use]
    pub fn selects_any(&self, entity: &Entity) -> bool {
        self.is_empty()
            || entity
                .components()
                .any(|component| self.selects_component(entity, component))
    }

    /// Whether the stored octets have what no selected component can be without: cheaper than to decode the component.
    fn may_select(&self, entity: &Entity) -> bool {
        let run = self.run.as_deref();
        run.is_none_or(|run| entity.document().has_text(run.as_bytes()))
    }

    /// Whether one component is selected: by its texts (summary, description, location) and its categories.
    #[must_use]
    pub fn selects(&self, texts: &[Option<&str>], categories: &[String]) -> bool {
        if self.is_empty() {
            return true;
        }
        let categories: Vec<String> = categories.iter().map(|category| fold(category.trim())).collect();
        if !self.categories.iter().all(|wanted| categories.contains(wanted)) {
            return false;
        }
        let texts: Vec<String> = texts.iter().flatten().map(|text| fold(text)).collect();
        self.terms
            .iter()
            .all(|term| texts.iter().chain(&categories).any(|text| text.contains(term.as_str())))
    }
}

/// The shortest run that tells anything, in characters.
const SHORTEST: usize = 3;

/// The first of the longest runs of printable ASCII without characters that iCalendar escapes or XML and servers treat
/// apart. A text that holds the folded text holds it, whatever is escaped.
pub(super) fn longest_run(texts: &[String]) -> Option<&str> {
    let eligible = |c: char| (' '..='~').contains(&c) && !matches!(c, '\\' | ',' | ';' | ':' | '"');
    let runs = texts
        .iter()
        .flat_map(|text| text.split(|c| !eligible(c)))
        .map(str::trim)
        .filter(|run| run.len() >= SHORTEST);
    runs.fold(None, |best: Option<&str>, run| match best {
        Some(best) if best.len() >= run.len() => Some(best),
        _ => Some(run),
    })
}

/// Lower case: ASCII by ASCII rules; other characters by Unicode's simple mapping, but never into ASCII (U+212A) and
/// never into several characters (U+0130). No normalisation.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                _ if c.is_ascii() => c.to_ascii_lowercase(),
                (Some(one), None) if !one.is_ascii() => one,
                _ => c,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_stays_in_its_script() {
        for (given, folded) in [
            ("ABC", "abc"),
            ("ÄÖÜ", "äöü"),
            ("\u{212a}", "\u{212a}"),
            ("\u{130}", "\u{130}"),
            ("ΣΑΣ", "σασ"),
            ("ß", "ß"),
        ] {
            assert_eq!(fold(given), folded);
        }
    }

    #[test]
    fn terms_may_hit_different_properties_and_categories_must_equal() {
        let component = |filter: &TextFilter| {
            filter.selects(
                &[Some("Team lunch"), Some("bring cake"), None],
                &["WORK".into(), " Food ".into()],
            )
        };
        for (text, categories, selected) in [
            (None, vec![], true),
            (Some("LUNCH cake"), vec![], true),
            (Some("lunch work"), vec![], true),
            (Some("lunch sushi"), vec![], false),
            (Some("lunchbring"), vec![], false),
            (None, vec!["work".to_owned()], true),
            (None, vec!["food".to_owned(), "WORK".to_owned()], true),
            (None, vec!["foo".to_owned()], false),
            (Some("sushi"), vec!["work".to_owned()], false),
        ] {
            assert_eq!(
                component(&TextFilter::new(text, &categories)),
                selected,
                "{text:?} {categories:?}"
            );
        }
    }
}
