//! Zoneinfo folders as systems have them, and damaged ones.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A zoneinfo folder that is deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kalends-tzdata-{}-{number}", std::process::id()));
        for (name, octets) in files {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, octets).unwrap();
        }
        Self(path)
    }

    fn read(&self) -> Result<String, String> {
        read(&self.0).map(|release| format!("{release:?}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A TZif of version 2 (RFC 9636) with one offset and no transition.
fn tzif(offset: i32) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..2 {
        out.extend(b"TZif2");
        out.extend([0; 15]);
        [0_u32, 0, 0, 0, 1, 4]
            .iter()
            .for_each(|count| out.extend(count.to_be_bytes()));
        out.extend(offset.to_be_bytes());
        out.extend(b"\0\0XYZ\0");
    }
    out.extend(b"\nXYZ-5\n");
    out
}

const INDEX: &[u8] = b"# version 9998b\n# This zic input file is in the public domain.\nR d 1916 o - Jun 14 23s 1 S\n\
    Z Europe/Berlin 0:53:28 - LMT 1893 Ap\n1 d CE%sT 1945 May 24 2\nZ Moon/Sea -1 - XYZ\nZ ../out 1 - XYZ\n\
    L Europe/Berlin Europe/Old\nL Moon/Sea Moon/Gone\nL Moon/Dust Moon/Blank\n";

#[test]
fn a_newer_folder_is_read_with_its_new_names_and_links() {
    let five = tzif(18_000);
    let files = [
        ("tzdata.zi", INDEX),
        ("Europe/Berlin", &five),
        ("Moon/Sea", &five),
        ("zone.tab", b"#"),
    ];
    let folder = Folder::new(&files);
    // Berlin, Old, Sea, Gone; the others are those of the bundled database.
    assert_eq!(folder.read().unwrap(), "Release { version: \"9998b\", zones: 4 }");
    let folder = Folder::new(&[("+VERSION", b"9998b\n"), ("Europe/Berlin", &five)]);
    assert_eq!(folder.read().unwrap(), "Release { version: \"9998b\", zones: 1 }");
}

#[test]
fn what_is_not_newer_or_damaged_is_not_read() {
    let five = tzif(18_000);
    let bundled = format!("# version {TZDATA_VERSION}\n");
    for (index, zone, reason) in [
        ("# version 2025b\n", five.as_slice(), "2025b: it is not newer"),
        (&bundled, &five, "it is not newer"),
        ("# version unknown\n", &five, "unknown: the version is none like 2026f"),
        ("# version \n", &five, "the version is none like 2026f"),
        ("\0\u{1}garbage", &five, "it tells no version"),
        ("", &five, "it tells no version"),
        ("# version 9998b\n", b"garbage", "Europe/Berlin: a file is damaged"),
        ("# version 9998b\n", &five[..70], "Europe/Berlin: a file is damaged"),
        ("# version 9998b\n", &[7; 2 << 20], "Europe/Berlin: a file is damaged"),
    ] {
        let folder = Folder::new(&[("tzdata.zi", index.as_bytes()), ("Europe/Berlin", zone)]);
        let found = folder.read().unwrap_err();
        assert!(found.ends_with(reason), "{found}, not {reason}");
    }
    assert_eq!(
        Folder::new(&[("tzdata.zi", INDEX)]).read().unwrap_err(),
        "it has no zones"
    );
    assert_eq!(Folder::new(&[]).read().unwrap_err(), "it tells no version");
    assert_eq!(read(Path::new("/dev/null")).unwrap_err(), "it tells no version");
}

#[test]
fn the_variable_names_a_folder_or_none() {
    let path = |text: &str| folder(Some(text)).map(|folder| folder.map(|path| path.display().to_string()));
    assert_eq!(folder(None), Ok(None));
    assert_eq!(path(""), Ok(None));
    assert_eq!(path("bundled"), Ok(None));
    assert_eq!(path("system"), Ok(Some(SYSTEM.to_owned())));
    assert_eq!(path("/opt/zoneinfo"), Ok(Some("/opt/zoneinfo".to_owned())));
    assert!(
        ["System", "zoneinfo", "true", "../x"]
            .iter()
            .all(|text| path(text).is_err())
    );
}
