//! A newer IANA database in a folder: the real binary takes it, and leaves one that is not newer.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod client;

use client::{Folder, run};

/// A TZif of version 2 (RFC 9636) that is UTC.
fn tzif() -> Vec<u8> {
    let mut half = b"TZif2".to_vec();
    half.extend([0; 15]);
    [0_u32, 0, 0, 0, 1, 4]
        .iter()
        .for_each(|count| half.extend(count.to_be_bytes()));
    half.extend(b"\0\0\0\0\0\0XYZ\0");
    [&half[..], &half, b"\nXYZ0\n"].concat()
}

#[test]
fn a_zone_of_a_newer_database_can_be_configured() {
    let account = Folder::new();
    for (version, code, word) in [
        ("9998b", 0, "kalends: time zones by tzdata 9998b of "),
        ("2026a", 1, "2026a: it is not newer"),
        ("garbage", 1, "garbage: the version is none like 2026f"),
    ] {
        let index = format!("# version {version}\nZ Moon/Sea 0 - XYZ\n");
        let zoneinfo = Folder::new()
            .calendar("Moon", &[("Sea", &tzif())])
            .calendar(".", &[("tzdata.zi", index.as_bytes())]);
        let environment = [
            ("CALDAV_URL", &*account.url()),
            ("CALDAV_EVALUATION_TIME_ZONE", "Moon/Sea"),
            ("KALENDS_TZDATA", zoneinfo.0.to_str().unwrap()),
        ];
        let output = run(&environment, &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(word), "{said}");
        assert_eq!(said.contains("must be an IANA time zone name"), code == 1, "{said}");
        assert!(output.stdout.is_empty());
    }
}
