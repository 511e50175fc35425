//! What holds for definitions of any kind.

use proptest::prelude::*;

use super::tests::{definition, observance, second};
use super::*;
use crate::ical::document::Document;
use crate::ical::gregorian::DAY;

prop_compose! {
    fn dates()(year in 1601..2100, month in 1..=12, day in 1..=28, hour in 0..24) -> String {
        format!("{year:04}{month:02}{day:02}T{hour:02}0000")
    }
}

fn rules() -> impl Strategy<Value = String> {
    let parts = prop::sample::subsequence(
        vec![
            "BYMONTH=3",
            "BYMONTH=11",
            "BYDAY=-1SU",
            "BYDAY=2MO",
            "BYDAY=5SA",
            "BYDAY=TU",
            "BYMONTHDAY=29,30,31",
            "BYMONTHDAY=-7,-6,-5,-4,-3,-2,-1",
            "BYYEARDAY=366",
            "BYSETPOS=-2",
            "BYHOUR=1",
            "COUNT=9",
            "COUNT=300",
            "UNTIL=20301231",
            "UNTIL=19001231T000000Z",
        ],
        0..4,
    );
    parts.prop_map(|parts| format!("RRULE:FREQ=YEARLY;{}", parts.join(";")))
}

prop_compose! {
    fn observances()(
        start in dates(),
        from in -95..96,
        to in -95..96,
        rule in prop::option::of(rules()),
        more in prop::collection::vec(dates(), 0..4),
    ) -> String {
        let offset = |quarters: i32| {
            let sign = if quarters < 0 { '-' } else { '+' };
            format!("{sign}{:02}{:02}", quarters.abs() / 4, quarters.abs() % 4 * 15)
        };
        let more = if more.is_empty() { String::new() } else { format!("RDATE:{}", more.join(",")) };
        let more = format!("{}\n{more}", rule.unwrap_or_default());
        observance("STANDARD", &start, &offset(from), &offset(to), &more)
    }
}

proptest! {
    /// However wild the offsets are: a plain or folded local time leads to an instant that shows it, and no earlier
    /// instant does; a time in a gap is shown by no instant.
    #[test]
    fn local_times_and_instants_are_inverse(
        parts in prop::collection::vec(observances(), 1..4),
        near in dates(),
        minutes in 0..60_i64,
    ) {
        let Some(offsets) = definition(&parts) else { return Ok(()) };
        let local = second(&near) + minutes * 60;
        let mut onsets = vec![local - 2 * DAY];
        while let Some(next) = offsets.next(onsets[onsets.len() - 1]).filter(|next| *next < local + 2 * DAY) {
            prop_assert!(next > onsets[onsets.len() - 1]);
            onsets.push(next);
        }
        let mut showing: Vec<_> = onsets.iter().map(|onset| local - i64::from(offsets.at(*onset))).collect();
        showing.retain(|second| second + i64::from(offsets.at(*second)) == local);
        showing.sort_unstable();
        showing.dedup();
        let (offset, kind) = offsets.of_local(local);
        let found = local - i64::from(offset);
        let expected = match showing.len() {
            0 => LocalKind::Gap,
            1 => LocalKind::Plain,
            _ => LocalKind::Fold,
        };
        prop_assert_eq!(kind, expected);
        if let Some(first) = showing.first() {
            prop_assert_eq!(found, *first);
        }
    }

    #[test]
    fn the_offset_changes_at_onsets_only(parts in prop::collection::vec(observances(), 1..4), near in dates()) {
        let Some(offsets) = definition(&parts) else { return Ok(()) };
        let at = second(&near);
        let end = offsets.next(at).unwrap_or(i64::MAX).min(at + 400 * DAY);
        for step in 0..400 {
            let between = at + (end - at) / 400 * step;
            prop_assert_eq!(offsets.at(between), offsets.at(at));
        }
    }

    #[test]
    fn any_octets_are_read(octets in prop::collection::vec(any::<u8>(), 0..300), local in any::<i32>()) {
        let mut text = b"BEGIN:VTIMEZONE\nBEGIN:STANDARD\n".to_vec();
        text.extend(octets);
        let document = Document::parse(text.into()).expect("small");
        if let Some(offsets) = document.roots().next().and_then(Offsets::read) {
            let _ = offsets.of_local(i64::from(local));
        }
    }

    /// Values of any characters in the places where values are read.
    #[test]
    fn any_values_are_read(start in "[0-9TZ]{0,16}|\\PC*", to in "[+-]?[0-9]{4}|\\PC*", rule in "(BY[A-Z]{3,8}=[0-9,SU-]{0,6};?){0,3}|\\PC*") {
        definition(&[observance("STANDARD", &start, "+0000", &to, &format!("RRULE:FREQ=YEARLY;{rule}"))]);
    }
}
