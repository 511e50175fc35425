//! A folder of Calendars: one folder each, one `.ics` file for each member.
//!
//! Nothing is held that the file system has not confirmed: every listing looks at every file, and only the summary
//! of content that provably has not changed is kept. Writes go to a temporary file, which is flushed and then
//! renamed. Symbolic links below the root are not followed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::metadata::Metadata;
use crate::path::is_safe;
use crate::store::{Guard, Member, Store, Trouble};
use crate::summary::Summary;

/// Larger files are not read.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// The name of the file with a Calendar's [`Metadata`].
const METADATA: &str = ".calendar.json";
/// A larger metadata file counts as empty.
const MAX_METADATA: u64 = 1024 * 1024;
/// The name of the file that writers lock.
const LOCK: &str = ".kalends.lock";
/// How often a folder that keeps changing is read.
const MAX_TRIES: u32 = 5;
/// A file that was changed this recently may change again without a visible trace: clocks of file systems are
/// coarse, that of FAT steps by two seconds.
const RACY: Duration = Duration::from_secs(3);

pub(crate) struct Folder {
    root: PathBuf,
    known: Mutex<BTreeMap<String, Arc<Known>>>,
    writing: Mutex<()>,
    temporary: AtomicU64,
}

type Known = BTreeMap<String, (Stamp, Arc<Summary>)>;

/// What changes whenever a file changes, unless that happens within one tick of the file system's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
    /// Inode, and the time of the last change to it, which no program can set back.
    #[cfg(unix)]
    inode: (u64, i64, i64),
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> io::Result<Self> {
        Ok(Self {
            modified: metadata.modified()?,
            length: metadata.len(),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt;
                (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
            },
        })
    }

    /// Whether the file was left alone long enough before `now` for its stamp to be trusted.
    fn settled(&self, now: SystemTime) -> bool {
        let old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > RACY);
        #[cfg(unix)]
        {
            let changed = u64::try_from(self.inode.1).unwrap_or(0);
            if !old(SystemTime::UNIX_EPOCH + Duration::from_secs(changed)) {
                return false;
            }
        }
        old(self.modified)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        if matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory) {
            Self::Missing
        } else if matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            Self::Full
        } else if matches!(
            kind,
            ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::InvalidInput
                | ErrorKind::InvalidFilename
                | ErrorKind::IsADirectory
                | ErrorKind::FileTooLarge
        ) || error.raw_os_error().is_some_and(is_link)
        {
            Self::Refused
        } else {
            Self::Failed
        }
    }
}

/// Whether a file was not opened because it is a symbolic link.
#[cfg(unix)]
fn is_link(code: i32) -> bool {
    code == rustix::io::Errno::LOOP.raw_os_error()
}

#[cfg(not(unix))]
fn is_link(_: i32) -> bool {
    false
}

/// Opens without following a link or waiting for a pipe.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        options.custom_flags(i32::try_from(flags.bits()).expect("open flags fit"));
    }
    options.open(path)
}

/// The content of a regular file.
fn read(path: &Path, limit: u64) -> Result<(Stamp, Bytes), Trouble> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(Trouble::Refused);
    }
    let file = open(OpenOptions::new().read(true), path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > limit {
        return Err(Trouble::Refused);
    }
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    (&file).take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(Trouble::Refused);
    }
    Ok((Stamp::of(&metadata)?, content.into()))
}

/// Makes a rename in this folder last, where the system can do that.
fn flush_folder(path: &Path) {
    // Windows cannot open folders this way and needs no such flush.
    if let Ok(folder) = File::open(path) {
        drop(folder.sync_all());
    }
}

/// Whether a name is that of a member.
pub(crate) fn is_member(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("ics"))
}

/// All entries of a Calendar's folder whose names are those of members.
///
/// A file that is replaced while a system reads the folder may be given twice or not at all, so the folder is read
/// again if it has changed meanwhile; a few times, for it may never rest.
fn list(folder: &Path) -> io::Result<BTreeMap<String, io::Result<fs::Metadata>>> {
    let mut before = Stamp::of(&fs::metadata(folder)?)?;
    let mut tries = 0;
    loop {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().into_string().ok();
            if let Some(name) = name.filter(|name| is_safe(name) && is_member(name)) {
                entries.insert(name, entry.metadata());
            }
        }
        let after = Stamp::of(&fs::metadata(folder)?)?;
        tries += 1;
        if before == after || tries == MAX_TRIES {
            return Ok(entries);
        }
        before = after;
    }
}

struct Locked<'a> {
    _within: MutexGuard<'a, ()>,
    _across: File,
}

impl Guard for Locked<'_> {}

impl Folder {
    /// Opens a folder, which is created if it is missing.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&root)?;
        fs::read_dir(&root)?;
        Ok(Self {
            root,
            known: Mutex::default(),
            writing: Mutex::default(),
            temporary: AtomicU64::new(0),
        })
    }

    /// The path of a Calendar that is there.
    fn calendar(&self, calendar: &str) -> Result<PathBuf, Trouble> {
        let path = self.root.join(calendar);
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            Ok(path)
        } else {
            Err(Trouble::Missing)
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Known>>> {
        // Every change of the map is a single call.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of all files in the folder of a Calendar, if they are its members, its metadata and what a crash has
    /// left behind. Anything else is somebody's who does not know that it would go.
    fn own_files(folder: &Path) -> Result<Vec<OsString>, Trouble> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let own = name.to_str().is_some_and(|name| {
                name == METADATA
                    || is_safe(name) && is_member(name)
                    || name.starts_with(".kalends-") && name.ends_with(".tmp")
            });
            if !own || !entry.file_type()?.is_file() {
                return Err(Trouble::Refused);
            }
            names.push(name);
        }
        Ok(names)
    }

    /// Writes a whole file that then takes the place of the one at `path`.
    fn replace(&self, folder: &Path, path: &Path, content: &[u8]) -> Result<(), Trouble> {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!(".kalends-{}-{number}.tmp", std::process::id()));
        let written = (|| {
            // What a process of the same number left behind is worthless.
            let mut file = match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    fs::remove_file(&temporary)?;
                    OpenOptions::new().write(true).create_new(true).open(&temporary)?
                }
                opened => opened?,
            };
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        })();
        if written.is_err() {
            drop(fs::remove_file(&temporary));
        }
        flush_folder(folder);
        Ok(written?)
    }
}

impl Store for Folder {
    fn calendars(&self) -> Result<Vec<String>, Trouble> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name().into_string().ok().filter(|name| is_safe(name));
            if let Some(name) = name
                && entry.file_type()?.is_dir()
            {
                names.push(name);
            }
        }
        names.sort();
        self.known().retain(|known, _| names.contains(known));
        Ok(names)
    }

    fn create(&self, calendar: &str, metadata: &Metadata) -> Result<(), Trouble> {
        // Made aside and renamed, so that no one sees the folder without its metadata.
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = self.root.join(format!(".kalends-{}-{number}.new", std::process::id()));
        let made = (|| {
            drop(fs::remove_dir_all(&temporary));
            fs::create_dir(&temporary)?;
            if *metadata != Metadata::default() {
                let json = serde_json::to_vec_pretty(metadata).map_err(|_| Trouble::Failed)?;
                self.replace(&temporary, &temporary.join(METADATA), &json)?;
            }
            Ok(fs::rename(&temporary, self.root.join(calendar))?)
        })();
        if made.is_err() {
            drop(fs::remove_dir_all(&temporary));
        }
        flush_folder(&self.root);
        made
    }

    fn describe(&self, calendar: &str, metadata: &Metadata) -> Result<(), Trouble> {
        let folder = self.calendar(calendar)?;
        let json = serde_json::to_vec_pretty(metadata).map_err(|_| Trouble::Failed)?;
        if json.len() as u64 > MAX_METADATA {
            return Err(Trouble::Full);
        }
        self.replace(&folder, &folder.join(METADATA), &json)
    }

    fn discard(&self, calendar: &str) -> Result<(), Trouble> {
        let folder = self.calendar(calendar)?;
        let names = Self::own_files(&folder)?;
        // Renamed first, so that no one sees half of it. What another program adds meanwhile stays there.
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let aside = self.root.join(format!(".kalends-{}-{number}.gone", std::process::id()));
        fs::rename(&folder, &aside)?;
        flush_folder(&self.root);
        for name in names {
            drop(fs::remove_file(aside.join(name)));
        }
        drop(fs::remove_dir(&aside));
        Ok(())
    }

    fn metadata(&self, calendar: &str) -> Result<Metadata, Trouble> {
        let path = self.calendar(calendar)?.join(METADATA);
        let content = read(&path, MAX_METADATA).ok();
        let metadata = content.and_then(|(_, content)| serde_json::from_slice(&content).ok());
        Ok(metadata.unwrap_or_default())
    }

    fn members(&self, calendar: &str) -> Result<Vec<Member>, Trouble> {
        let path = self.calendar(calendar)?;
        let before = self.known().get(calendar).cloned().unwrap_or_default();
        let (mut members, mut after) = (Vec::new(), Known::new());
        for (name, metadata) in list(&path)? {
            let metadata = match metadata {
                Ok(metadata) if metadata.is_file() => metadata,
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    let content = Err(error.into());
                    members.push(Member { name, content });
                    continue;
                }
            };
            let stamp = Stamp::of(&metadata)?;
            let known = before.get(&name).filter(|(known, _)| *known == stamp);
            let content = match known {
                Some((_, summary)) => {
                    after.insert(name.clone(), (stamp, Arc::clone(summary)));
                    Ok(Arc::clone(summary))
                }
                None => {
                    let now = SystemTime::now();
                    match read(&path.join(&name), MAX_FILE) {
                        Ok((stamp, content)) => {
                            let summary = Arc::new(Summary::read(&content));
                            if stamp.settled(now) {
                                after.insert(name.clone(), (stamp, Arc::clone(&summary)));
                            }
                            Ok(summary)
                        }
                        // Removed while we looked.
                        Err(Trouble::Missing) => continue,
                        Err(trouble) => Err(trouble),
                    }
                }
            };
            members.push(Member { name, content });
        }
        self.known().insert(calendar.to_owned(), Arc::new(after));
        Ok(members)
    }

    fn read(&self, calendar: &str, name: &str) -> Result<Bytes, Trouble> {
        let (_, content) = read(&self.calendar(calendar)?.join(name), MAX_FILE)?;
        Ok(content)
    }

    fn write(&self, calendar: &str, name: &str, content: &Bytes) -> Result<(), Trouble> {
        let folder = self.calendar(calendar)?;
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_file() => return Err(Trouble::Refused),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        self.replace(&folder, &path, content)
    }

    fn remove(&self, calendar: &str, name: &str) -> Result<(), Trouble> {
        let folder = self.calendar(calendar)?;
        let path = folder.join(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(Trouble::Refused);
        }
        fs::remove_file(&path)?;
        flush_folder(&folder);
        Ok(())
    }

    fn relocate(&self, from: (&str, &str), to: (&str, &str)) -> Result<(), Trouble> {
        let (source, destination) = (self.calendar(from.0)?, self.calendar(to.0)?);
        let (old, new) = (source.join(from.1), destination.join(to.1));
        if !fs::symlink_metadata(&old)?.is_file() {
            return Err(Trouble::Refused);
        }
        match fs::symlink_metadata(&new) {
            Ok(metadata) if !metadata.is_file() => return Err(Trouble::Refused),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        fs::rename(&old, &new)?;
        // The new place first: what a crash takes back is then the removal.
        flush_folder(&destination);
        flush_folder(&source);
        Ok(())
    }

    fn lock(&self) -> Result<Box<dyn Guard + '_>, Trouble> {
        let within = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let across = open(&mut options, &self.root.join(LOCK))?;
        // Released by the system when the file is closed, also by a crash. A file system without locks still has
        // the renames.
        #[cfg(unix)]
        let _ = rustix::io::retry_on_intr(|| rustix::fs::flock(&across, rustix::fs::FlockOperation::LockExclusive));
        Ok(Box::new(Locked {
            _within: within,
            _across: across,
        }))
    }
}
