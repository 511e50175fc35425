//! Changes to a document that touch only the octets they are about.
//!
//! [`Changes`] collects replacements of octets and applies them in one copy; what no change names stays as it is, to
//! the octet. New lines end as the BEGIN line of their component does.

use std::ops::Range;

use bytes::Bytes;

use super::document::{Component, Document, Property, TooLarge};
use super::encode::{ContentLine, LineEnd, NewComponent, Unwritable, fold};

/// Replacements that have not been made yet.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    document: &'a Document,
    splices: Vec<(Range<usize>, Vec<u8>)>,
}

impl<'a> Changes<'a> {
    /// No changes.
    #[must_use]
    pub fn of(document: &'a Document) -> Self {
        Self {
            document,
            splices: Vec::new(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// What has been collected, in that order: octets of the document, none for an insertion, and what comes in their place.
    pub fn splices(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        self.splices.iter().map(|(range, octets)| (range.clone(), &octets[..]))
    }

    /// Gives a property another value, in the syntax of its type. Name and parameters stay as they are stored.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn set_value(&mut self, property: Property<'a>, value: &str) -> Result<(), Unwritable> {
        let line = ContentLine::like(property, &[], &[], value)?;
        let range = property.value_range();
        let before = &self.document.bytes()[property.range().start..range.start];
        let physical = before.iter().rposition(|octet| *octet == b'\n').map_or(0, |at| at + 1);
        let mut octets = Vec::with_capacity(value.len() + 16);
        let value = &line.octets()[line.octets().len() - value.len()..];
        fold(
            value,
            before.len() - physical,
            self.line_end(property.range()),
            &mut octets,
        );
        self.splices.push((range, octets));
        Ok(())
    }

    /// Puts lines in the place of a property; none remove it.
    pub fn replace(&mut self, property: Property<'a>, lines: &[ContentLine]) {
        let range = property.range();
        let octets = self.written(self.line_end(range.clone()), lines, &[]);
        self.splices.push((range, octets));
    }

    /// Adds properties before a property.
    pub fn add_before(&mut self, property: Property<'a>, lines: &[ContentLine]) {
        let range = property.range();
        let octets = self.written(self.line_end(range.clone()), lines, &[]);
        self.splices.push((range.start..range.start, octets));
    }

    /// Puts octets in the place of others, as they are.
    pub(super) fn splice(&mut self, range: Range<usize>, octets: Vec<u8>) {
        self.splices.push((range, octets));
    }

    /// Takes a component out, from its BEGIN through its END line.
    pub fn remove(&mut self, component: Component<'a>) {
        self.splices.push((component.range(), Vec::new()));
    }

    /// Adds properties to a component, after those that it has and before the components in it.
    pub fn add(&mut self, component: Component<'a>, lines: &[ContentLine]) {
        self.insert(component, component.properties_end(), lines, &[]);
    }

    /// Adds components to a component, after everything in it.
    pub fn add_components(&mut self, component: Component<'a>, components: &[NewComponent]) {
        self.insert(component, component.inner_end(), &[], components);
    }

    /// Adds components to a component, before the components in it.
    pub fn add_components_first(&mut self, component: Component<'a>, components: &[NewComponent]) {
        self.insert(component, component.properties_end(), &[], components);
    }

    fn insert(&mut self, component: Component<'a>, at: usize, lines: &[ContentLine], components: &[NewComponent]) {
        let begin = component.range().start;
        let end = self.line_end(begin..component.begin_end());
        let mut octets = self.written(end, lines, components);
        if at == self.document.bytes().len() && !self.document.bytes().ends_with(b"\n") {
            octets.splice(..0, end.octets().iter().copied());
        }
        self.splices.push((at..at, octets));
    }

    fn written(&self, end: LineEnd, lines: &[ContentLine], components: &[NewComponent]) -> Vec<u8> {
        let mut octets = Vec::new();
        lines.iter().for_each(|line| line.write(end, &mut octets));
        components
            .iter()
            .for_each(|component| component.write(end, &mut octets));
        octets
    }

    /// How the line in this range ends; CRLF if it does not end.
    pub(super) fn line_end(&self, line: Range<usize>) -> LineEnd {
        let line = &self.document.bytes()[line];
        if line.ends_with(b"\n") && !line.ends_with(b"\r\n") {
            LineEnd::Lf
        } else {
            LineEnd::CrLf
        }
    }

    /// The octets with all changes made. Of several insertions in one place the first comes first.
    ///
    /// # Panics
    /// If two changes are about the same octets.
    #[must_use]
    pub fn octets(mut self) -> Bytes {
        if self.splices.is_empty() {
            return self.document.bytes().clone();
        }
        self.splices.sort_by_key(|(range, _)| (range.start, range.end));
        let source = self.document.bytes();
        let added: usize = self.splices.iter().map(|(_, octets)| octets.len()).sum();
        let (mut out, mut at) = (Vec::with_capacity(source.len() + added), 0);
        for (range, octets) in &self.splices {
            assert!(range.start >= at, "changes are about different octets");
            out.extend_from_slice(&source[at..range.start]);
            out.extend_from_slice(octets);
            at = range.end;
        }
        out.extend_from_slice(&source[at..]);
        out.into()
    }

    /// The changed document.
    ///
    /// # Errors
    /// [`TooLarge`] if it grew over the limits.
    ///
    /// # Panics
    /// As [`Self::octets`].
    pub fn apply(self) -> Result<Document, TooLarge> {
        Document::parse(self.octets())
    }
}

#[cfg(test)]
mod tests;
