//! One change, in a world that a script makes go wrong as often as it likes.

use bytes::Bytes;
use kalends_core::change::{Changed, Consent, Revision};
use kalends_core::ical::edit::create::NewFields;
use kalends_core::ical::edit::patch::{Patch, Target};
use kalends_core::ical::edit::scalar::ScalarPatch;
use kalends_core::ical::entity::Kind;
use kalends_core::ical::value::Temporal;
use kalends_core::operation::Operation;
use kalends_core::ops::create_resource::CreateResource;
use kalends_core::ops::delete_resource::DeleteResource;
use kalends_core::ops::edit_resource::{Edit, EditResource};
use kalends_core::ops::scope::{CalendarChoice, Destination};
use kalends_local::Local;
use kalends_tests::account::{ENV, HOME, known};
use kalends_tests::explore::Choices;
use kalends_tests::host::{concurrent, sequential};
use kalends_tests::server::Server;
use kalends_tests::writing::{Writing, check};

const PLACE: &str = "work/day.ics";
const RIVAL: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:day\r\nDTSTAMP:20260101T000000Z\r\n\
    DTSTART:20261203T100000Z\r\nDTEND:20261203T110000Z\r\nSUMMARY:Other\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

/// The first octet says what is changed, the second when it is cancelled, the others what goes wrong.
pub(crate) fn play(data: &[u8]) {
    let [what, cancel, rest @ ..] = data else {
        return;
    };
    let local = Local::memory().with_calendar("work", "Work");
    let local = if what % 4 > 1 {
        local.put(PLACE, RIVAL.replace("Other", "Day"))
    } else {
        local
    };
    let server = Server::from(local);
    let revision = || Revision {
        href: format!("https://{HOME}/{PLACE}"),
        uid: "day".into(),
        kind: Kind::Event,
        tag: server.tag_of(PLACE).unwrap_or_default(),
    };
    let create = |uid: Option<&str>| CreateResource {
        destination: Destination::Selected(CalendarChoice::Name("Work".into())),
        kind: Kind::Event,
        uid: uid.map(str::to_owned),
        fields: NewFields {
            summary: Some("Day".into()),
            start: Temporal::parse(b"20261210T090000Z", None).ok(),
            ..NewFields::default()
        },
        series: None,
    };
    let cancel = (cancel % 4 == 0).then_some(usize::from(cancel / 4) % 16);
    let at_once = what & 16 != 0;
    let game = Game {
        server: server.clone(),
        script: rest,
        cancel,
        at_once,
    };
    match what % 4 {
        0 => game.play(create(Some("day")), None, false),
        1 => game.play(create(None), None, false),
        2 => game.play(
            EditResource {
                revision: revision(),
                edit: Edit::Patch {
                    target: Target::Master,
                    patch: Patch {
                        scalars: vec![ScalarPatch::Summary(Some("Another day".into()))],
                        ..Patch::default()
                    },
                },
                consent: Consent::NotNeeded,
            },
            Some(PLACE),
            false,
        ),
        _ => game.play(
            DeleteResource {
                revision: revision(),
                consent: Consent::NotNeeded,
            },
            Some(PLACE),
            true,
        ),
    }
}

struct Game<'a> {
    server: Server,
    script: &'a [u8],
    cancel: Option<usize>,
    at_once: bool,
}

impl Game<'_> {
    fn play<T, O>(self, ask: O, place: Option<&str>, is_deletion: bool)
    where
        T: std::fmt::Debug,
        O: Operation<Outcome = Changed<T>>,
    {
        let choices = Choices::scripted(self.script);
        let rival = Bytes::from_static(RIVAL.as_bytes());
        let mut world = Writing::new(choices, self.server, self.script.len(), place, rival);
        let machine = world.watch(ask.start(ENV, &known()));
        let (outcome, mutation) = if self.at_once {
            concurrent(machine, &mut world).0
        } else {
            sequential(machine, &mut world, self.cancel).0
        };
        if self.cancel.is_some() && !self.at_once {
            world.story.push("cancelled".into());
        }
        check("fuzz", is_deletion, &outcome, mutation, &mut world);
    }
}
