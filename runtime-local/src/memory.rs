//! Calendars in memory: for tests, and for programs that bring their own storage.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::metadata::Metadata;
use crate::store::{Guard, Member, Store, Trouble};
use crate::summary::Summary;

#[derive(Default)]
pub(crate) struct Memory {
    calendars: Mutex<BTreeMap<String, Calendar>>,
    writing: Mutex<()>,
}

#[derive(Default)]
struct Calendar {
    metadata: Metadata,
    members: BTreeMap<String, (Bytes, Arc<Summary>)>,
}

impl Memory {
    fn calendars(&self) -> MutexGuard<'_, BTreeMap<String, Calendar>> {
        // Every change of the map is a single call.
        self.calendars.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guard for MutexGuard<'_, ()> {}

impl Store for Memory {
    fn calendars(&self) -> Result<Vec<String>, Trouble> {
        Ok(self.calendars().keys().cloned().collect())
    }

    fn create(&self, calendar: &str, metadata: &Metadata) -> Result<(), Trouble> {
        let entry = Calendar {
            metadata: metadata.clone(),
            ..Calendar::default()
        };
        self.calendars().insert(calendar.to_owned(), entry);
        Ok(())
    }

    fn describe(&self, calendar: &str, metadata: &Metadata) -> Result<(), Trouble> {
        let mut calendars = self.calendars();
        let calendar = calendars.get_mut(calendar).ok_or(Trouble::Missing)?;
        calendar.metadata = metadata.clone();
        Ok(())
    }

    fn discard(&self, calendar: &str) -> Result<(), Trouble> {
        let removed = self.calendars().remove(calendar);
        removed.map(drop).ok_or(Trouble::Missing)
    }

    fn metadata(&self, calendar: &str) -> Result<Metadata, Trouble> {
        let calendars = self.calendars();
        let calendar = calendars.get(calendar).ok_or(Trouble::Missing)?;
        Ok(calendar.metadata.clone())
    }

    fn members(&self, calendar: &str) -> Result<Vec<Member>, Trouble> {
        let calendars = self.calendars();
        let calendar = calendars.get(calendar).ok_or(Trouble::Missing)?;
        let members = calendar.members.iter().map(|(name, (_, summary))| Member {
            name: name.clone(),
            content: Ok(Arc::clone(summary)),
        });
        Ok(members.collect())
    }

    fn read(&self, calendar: &str, name: &str) -> Result<Bytes, Trouble> {
        let calendars = self.calendars();
        let member = calendars.get(calendar).and_then(|calendar| calendar.members.get(name));
        member.map(|(content, _)| content.clone()).ok_or(Trouble::Missing)
    }

    fn write(&self, calendar: &str, name: &str, content: &Bytes) -> Result<(), Trouble> {
        let summary = Arc::new(Summary::read(content));
        let mut calendars = self.calendars();
        let calendar = calendars.get_mut(calendar).ok_or(Trouble::Missing)?;
        calendar.members.insert(name.to_owned(), (content.clone(), summary));
        Ok(())
    }

    fn remove(&self, calendar: &str, name: &str) -> Result<(), Trouble> {
        let mut calendars = self.calendars();
        let removed = calendars
            .get_mut(calendar)
            .and_then(|calendar| calendar.members.remove(name));
        removed.map(drop).ok_or(Trouble::Missing)
    }

    fn relocate(&self, from: (&str, &str), to: (&str, &str)) -> Result<(), Trouble> {
        let mut calendars = self.calendars();
        if !calendars.contains_key(to.0) {
            return Err(Trouble::Missing);
        }
        let source = calendars.get_mut(from.0).ok_or(Trouble::Missing)?;
        let member = source.members.remove(from.1).ok_or(Trouble::Missing)?;
        if let Some(destination) = calendars.get_mut(to.0) {
            destination.members.insert(to.1.to_owned(), member);
        }
        Ok(())
    }

    fn lock(&self) -> Result<Box<dyn Guard + '_>, Trouble> {
        Ok(Box::new(self.writing.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
