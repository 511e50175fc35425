//! Elements of one collection of one component: added, removed, or replaced as a whole.
//!
//! Elements are compared by what they mean, not by their octets. What stays keeps its octets, and what results leave out
//! (such as an attachment with its content inline) is not an element and stays too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;

use super::{fault, refusal, scalar, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::Component;
use crate::ical::encode::Unwritable;
use crate::ical::entity::Kind;
use crate::ical::structured::{
    Element, Field, NamedUri, Place, Unit, Walk, Written, check_authored, collection, is_derived, key, list_value,
    organizer, same_parameters, units, written, written_list,
};
use crate::outcome::{Code, Error, Phase, Violation};

/// A change of one collection, as the `collectionPatch` of the semantic toolset has it.
#[derive(Clone, Debug)]
pub struct CollectionPatch {
    field: &'static Field,
    operation: Operation,
}

#[derive(Clone, Debug, PartialEq)]
enum Operation {
    /// What is there already is not added again.
    AddRemove { add: Vec<Element>, remove: Vec<Element> },
    /// None clear it.
    ReplaceAll(Vec<Element>),
}

/// The same elements of the same field.
impl PartialEq for CollectionPatch {
    fn eq(&self, other: &Self) -> bool {
        self.field() == other.field() && self.operation == other.operation
    }
}

impl CollectionPatch {
    /// Whether it takes the place of all that is stored.
    #[must_use]
    pub fn replaces_all(&self) -> bool {
        matches!(self.operation, Operation::ReplaceAll(_))
    }

    /// What it does to how many elements of which field, for a person.
    #[must_use]
    pub fn described(&self) -> String {
        match &self.operation {
            Operation::AddRemove { add, remove } => {
                format!("{}: add {}, remove {}", self.field(), add.len(), remove.len())
            }
            Operation::ReplaceAll(values) if values.is_empty() => format!("{}: remove all", self.field()),
            Operation::ReplaceAll(values) => format!("{}: replace all by {}", self.field(), values.len()),
        }
    }

    /// Reads a patch from the inputs: its shape, not yet whether its elements can be written. `pointer` says where it
    /// stands in the arguments.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn from_json(value: &Value, kind: Kind, pointer: &str) -> Result<Self, Vec<Violation>> {
        let mut walk = Walk::at(pointer, kind);
        let known = ["field", "operation", "add", "remove", "values"];
        let object = walk.object(value, &known, &["field", "operation"]);
        let word = |name: &str| object.and_then(|object| object.get(name)?.as_str());
        let field = word("field").and_then(collection);
        if field.is_none() && object.is_some_and(|object| object.contains_key("field")) {
            walk.below("field", |walk| {
                walk.note(
                    "value_not_allowed",
                    "Send the name of a collection, like attendees or categories.",
                );
            });
        }
        let (needed, refused): (&[&str], &[&str]) = match word("operation") {
            Some("addRemove") => (&[], &["values"]),
            Some("replaceAll") => (&["values"], &["add", "remove"]),
            _ => {
                if object.is_some_and(|object| object.contains_key("operation")) {
                    walk.below("operation", |walk| {
                        walk.note("value_not_allowed", "Send addRemove or replaceAll.");
                    });
                }
                (&[], &[])
            }
        };
        for name in needed
            .iter()
            .filter(|name| object.is_some_and(|object| !object.contains_key(**name)))
        {
            walk.below(name, |walk| {
                walk.note("required_member", "Send values: an empty array clears.")
            });
        }
        for name in refused
            .iter()
            .filter(|name| object.is_some_and(|object| object.contains_key(**name)))
        {
            walk.below(name, |walk| {
                walk.note(
                    "unknown_member",
                    "Send add and remove with addRemove, values with replaceAll.",
                );
            });
        }
        let mut elements = |name: &str| match (object.and_then(|object| object.get(name)), field) {
            (Some(value), Some(field)) => {
                walk.below(name, |walk| walk.list(value, |walk, item| walk.element(item, field)))
            }
            (None, _) | (_, None) => Vec::new(),
        };
        let [add, remove, values] = ["add", "remove", "values"].map(&mut elements);
        let operation = if word("operation") == Some("replaceAll") {
            Operation::ReplaceAll(values)
        } else {
            let filled = |name: &str| {
                object
                    .and_then(|object| object.get(name)?.as_array())
                    .is_some_and(|it| !it.is_empty())
            };
            let some = filled("add") || filled("remove");
            if word("operation") == Some("addRemove") && !some {
                walk.note("item_count_out_of_range", "Send add or remove with at least 1 item.");
            }
            Operation::AddRemove { add, remove }
        };
        let field = walk.finish(field)?;
        // Without violations there is a field.
        let field = field.ok_or_else(Vec::new)?;
        Ok(Self { field, operation })
    }

    /// Whether its elements are components, not properties.
    pub(super) fn is_of_components(&self) -> bool {
        self.field.is_component()
    }

    /// The name of the collection.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field.member
    }
}

/// What becomes of an element to remove that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The patch is refused.
    Refused,
    /// There is nothing to do: the component is one of several that a patch is about.
    Skipped,
}

/// Adds what a patch changes in a component. Patches that add components come after those that add properties: what is
/// added in one place stands in the order in which it was added.
///
/// # Errors
/// `invalid_input`, `not_found` and `ambiguous`, with pointers that begin with `pointer`.
pub(super) fn apply<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    patch: &CollectionPatch,
    missing: Missing,
    pointer: &str,
) -> Result<(), Box<Error>> {
    let stored = units(component, patch.field).ok_or_else(|| refusal(Code::LimitExhausted, TOO_MANY))?;
    let keys = stored
        .iter()
        .map(|unit| unit.elements.iter().map(|element| key(element, patch.field)).collect());
    let edit = Edit {
        component,
        field: patch.field,
        kind: if component.is("VTODO") { Kind::Todo } else { Kind::Event },
        keys: keys.collect(),
        stored,
        missing,
        pointer,
        changes,
    };
    match &patch.operation {
        Operation::AddRemove { add, remove } => edit.add_remove(add, remove),
        Operation::ReplaceAll(values) => edit.replace_all(values),
    }
}

/// Gives a component another organizer, or none. The whole property is replaced, unless it says so already.
///
/// # Errors
/// `invalid_input` if it is derived from something else.
pub(super) fn set_organizer<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    organizer: Option<&NamedUri>,
    pointer: &str,
) -> Result<(), Box<Error>> {
    let field = self::organizer();
    scalar::derived(component, field.name, pointer)?;
    let keys: Vec<_> = units(component, field)
        .unwrap_or_default()
        .iter()
        .flat_map(|unit| &unit.elements)
        .map(|element| key(element, field))
        .collect();
    let mut all = component.all(field.name);
    let first = all.next();
    match (organizer, first) {
        (None, None) => return Ok(()),
        (Some(NamedUri(new)), Some(_)) if keys == [key(new, field)] => return Ok(()),
        (None, Some(first)) => changes.replace(first, &[]),
        (Some(NamedUri(new)), first) => {
            let line = match written(new, field).map_err(|fault| unwritable(pointer, fault))? {
                Written::Line(line) => line,
                Written::Component(_) => return Err(unwritable(pointer, Unwritable::Value)),
            };
            match first {
                Some(first) => changes.replace(first, &[line]),
                None => changes.add(component, &[line]),
            }
        }
    }
    all.for_each(|other| changes.replace(other, &[]));
    Ok(())
}

struct Edit<'a, 'c> {
    changes: &'c mut Changes<'a>,
    component: Component<'a>,
    field: &'static Field,
    kind: Kind,
    stored: Vec<Unit<'a>>,
    /// Of the elements in `stored`.
    keys: Vec<Vec<String>>,
    missing: Missing,
    pointer: &'c str,
}

impl Edit<'_, '_> {
    fn add_remove(self, add: &[Element], remove: &[Element]) -> Result<(), Box<Error>> {
        let mut places: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for (unit, keys) in self.keys.iter().enumerate() {
            for (at, key) in keys.iter().enumerate() {
                places.entry(key).or_default().push((unit, at));
            }
        }
        let mut wanted = BTreeSet::new();
        let added: BTreeSet<_> = add.iter().map(|element| key(element, self.field)).collect();
        let mut removed: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (at, element) in remove.iter().enumerate() {
            let pointer = format!("{}/remove/{at}", self.pointer);
            let key = key(element, self.field);
            let found = places.get(key.as_str()).map_or(&[][..], Vec::as_slice);
            let (unit, at) = match found {
                [] if self.missing == Missing::Skipped => continue,
                [] => return Err(unmatched(Code::NotFound, pointer, NO_MATCH)),
                [_, _, ..] => return Err(unmatched(Code::Ambiguous, pointer, SEVERAL)),
                [_] if wanted.contains(&key) => return Err(unmatched(Code::Ambiguous, pointer, TWICE)),
                [place] => *place,
            };
            self.refuse_derived(unit, &pointer)?;
            if !added.contains(&key) {
                removed.entry(unit).or_default().insert(at);
            }
            wanted.insert(key);
        }
        let mut seen: BTreeSet<_> = places.keys().map(|key| (*key).to_owned()).collect();
        let mut new = Vec::new();
        let mut violations = Vec::new();
        for (at, element) in add.iter().enumerate() {
            if seen.insert(key(element, self.field)) {
                let pointer = format!("{}/add/{at}", self.pointer);
                violations.extend(check_authored(element, self.field, self.kind, &pointer));
                new.push(element);
            }
        }
        refuse(violations)?;
        for (unit, gone) in removed {
            let unit = &self.stored[unit];
            let kept = unit.elements.iter().enumerate();
            let kept: Vec<_> = kept.filter(|(at, _)| !gone.contains(at)).map(|(_, it)| it).collect();
            match unit.place {
                Place::Line(property) if !kept.is_empty() => self
                    .changes
                    .set_value(property, &list_value(kept.into_iter()))
                    .map_err(|fault| unwritable(self.pointer, fault))?,
                Place::Line(property) => self.changes.replace(property, &[]),
                Place::Component(component) => self.changes.remove(component),
            }
        }
        for unit in self.grouped(&new) {
            match self.written(&unit)? {
                Written::Line(line) => self.changes.add(self.component, &[line]),
                Written::Component(component) => self.changes.add_components(self.component, &[component]),
            }
        }
        Ok(())
    }

    /// What the old and the new list begin and end with stays. Between, each new line or component takes the place of
    /// an old one, and its octets where it means the same as one of them; those that are left over come after them.
    fn replace_all(self, values: &[Element]) -> Result<(), Box<Error>> {
        let wanted: Vec<_> = values.iter().map(|element| key(element, self.field)).collect();
        let (old, new) = between(&self.keys, &wanted);
        self.check_values(values, &wanted, old.clone(), new.clone())?;
        // An old line or component is used once.
        let mut same: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
        for at in old.clone().rev() {
            same.entry(&self.keys[at]).or_default().push(at);
        }
        let (mut used, mut places, mut more) = (BTreeSet::new(), old.clone(), Vec::new());
        for group in self.grouped(&values[new].iter().collect::<Vec<_>>()) {
            let keys: Vec<_> = group.iter().map(|element| key(element, self.field)).collect();
            let source = same.get_mut(keys.as_slice()).and_then(Vec::pop);
            used.extend(source);
            let place = places.next();
            if place.is_some() && place == source {
                continue;
            }
            let unit = place.map(|place| &self.stored[place]);
            if let (None, Some(Place::Line(property))) = (source, unit.map(|unit| unit.place))
                && self.field.is_list()
                && unit.is_some_and(|unit| same_parameters(&unit.elements[0], group[0], self.field))
            {
                self.changes
                    .set_value(property, &list_value(group.into_iter()))
                    .map_err(|fault| unwritable(self.pointer, fault))?;
                continue;
            }
            let octets = match source {
                Some(source) => self.component.document().bytes()[range(&self.stored[source])].to_vec(),
                None => self.octets(&group)?,
            };
            match unit {
                Some(unit) => self.changes.splice(range(unit), octets),
                None => more.extend(octets),
            }
        }
        for place in places {
            self.changes.splice(range(&self.stored[place]), Vec::new());
        }
        for place in old.clone().filter(|place| !used.contains(place)) {
            self.refuse_derived(place, &format!("{}/values", self.pointer))?;
        }
        if !more.is_empty() {
            let at = self.end_of(&old);
            self.changes.splice(at..at, more);
        }
        Ok(())
    }

    /// What replaces something has to be writable; what is there already, however odd, may stay.
    fn check_values(
        &self,
        values: &[Element],
        keys: &[String],
        old: Range<usize>,
        new: Range<usize>,
    ) -> Result<(), Box<Error>> {
        let known: BTreeSet<_> = self.keys[old].iter().flatten().collect();
        let fresh = new.filter(|at| !known.contains(&keys[*at]));
        let violations = fresh.flat_map(|at| {
            let pointer = format!("{}/values/{at}", self.pointer);
            check_authored(&values[at], self.field, self.kind, &pointer)
        });
        refuse(violations.collect())
    }

    /// A property that is derived from others cannot be edited (RFC 9073, 5.3).
    fn refuse_derived(&self, unit: usize, pointer: &str) -> Result<(), Box<Error>> {
        match self.stored[unit].place {
            Place::Line(property) if is_derived(property) => {
                let message = "This property is derived from others: change those instead.";
                Err(fault(pointer, "value_not_allowed", message))
            }
            Place::Line(_) | Place::Component(_) => Ok(()),
        }
    }

    /// Elements by the line or component that they make: alone, but for comma lists.
    fn grouped<'e>(&self, elements: &[&'e Element]) -> Vec<Vec<&'e Element>> {
        let mut groups: Vec<Vec<&Element>> = Vec::new();
        for element in elements.iter().copied() {
            match groups.last_mut() {
                Some(group) if self.field.is_list() && same_parameters(group[0], element, self.field) => {
                    group.push(element)
                }
                Some(_) | None => groups.push(vec![element]),
            }
        }
        groups
    }

    fn written(&self, group: &[&Element]) -> Result<Written, Box<Error>> {
        written_list(group, self.field).map_err(|fault| unwritable(self.pointer, fault))
    }

    fn octets(&self, group: &[&Element]) -> Result<Vec<u8>, Box<Error>> {
        let mut octets = Vec::new();
        let begin = self.component.range().start..self.component.begin_end();
        let end = self.changes.line_end(begin);
        match self.written(group)? {
            Written::Line(line) => line.write(end, &mut octets),
            Written::Component(component) => component.write(end, &mut octets),
        }
        Ok(octets)
    }

    /// After the last of these, or where it would be.
    fn end_of(&self, units: &Range<usize>) -> usize {
        let before = units.end.checked_sub(1).and_then(|last| self.stored.get(last));
        match (before, self.stored.get(units.end)) {
            (Some(unit), _) => range(unit).end,
            (None, Some(unit)) => range(unit).start,
            (None, None) if self.field.is_component() => self.component.inner_end(),
            (None, None) => self.component.properties_end(),
        }
    }
}

/// The parts of two lists that are left without what both begin and end with. An entry of the old list stands for
/// one or several of the new.
fn between(old: &[Vec<String>], new: &[String]) -> (Range<usize>, Range<usize>) {
    let (mut first, mut from) = (0, 0);
    while let Some(keys) = old.get(first).filter(|keys| new[from..].starts_with(keys)) {
        (first, from) = (first + 1, from + keys.len());
    }
    let (mut last, mut to) = (old.len(), new.len());
    while let Some(keys) = old[first..last].last().filter(|keys| new[from..to].ends_with(keys)) {
        (last, to) = (last - 1, to - keys.len());
    }
    (first..last, from..to)
}

fn range(unit: &Unit<'_>) -> Range<usize> {
    match unit.place {
        Place::Line(property) => property.range(),
        Place::Component(component) => component.range(),
    }
}

const NO_MATCH: &str =
    "Send an element that is there: with all of its members and parameters, as the resource shows it.";
const SEVERAL: &str = "Several elements are the same as this one. Use replaceAll with those that are to stay.";
const TOO_MANY: &str =
    "The collection has more than 8,000 elements and parameters, and cannot be changed element by element.";
const TWICE: &str = "Send each element once.";

fn unmatched(code: Code, pointer: String, message: &'static str) -> Box<Error> {
    let violation = Violation {
        pointer,
        code: "value_not_allowed",
        message: Some(message.to_owned()),
    };
    Box::new(Error {
        violations: vec![violation],
        ..*refusal(code, message)
    })
}

fn refuse(violations: Vec<Violation>) -> Result<(), Box<Error>> {
    if violations.is_empty() {
        return Ok(());
    }
    Err(Error::violations(Phase::CompleteResourceSemantics, violations))
}

#[cfg(test)]
mod tests;
