//! The questions about moves.

use std::sync::Arc;

use bytes::Bytes;
use kalends_core::account::Account;
use kalends_core::account::quirk::Profile;
use kalends_core::change::{Consent, Revision};
use kalends_core::href::Href;
use kalends_core::ical::entity::{Entity, Kind};
use kalends_core::machine::Mutation;
use kalends_core::ops::exact_move::ExactMove;
use kalends_core::outcome::Code;
use kalends_tests::case::Case;
use kalends_tests::transcript::Transcript;

use crate::Answered::{self, Whole};
use crate::answer::run;

/// A move to where the UID is taken by something that nobody sees.
pub(crate) fn taken(case: &Case) -> Answered {
    let script = case.json("server.json");
    let mut server = Transcript::new(&case.folder, script.clone());
    let at = |path: &str| Href::parse(&format!("https://cal.example.com/dav/calendars/ana/{path}")).expect("a URL");
    let mut settings = server.account(&[at("one/"), at("two/")]).settings().clone();
    settings.profile = Some(Profile::Nextcloud);
    let account: Arc<Account> = Account::new(settings).expect("the same credential");
    let rules = script["rules"].as_array().expect("rules");
    let stored = rules
        .iter()
        .find(|rule| rule["headers"]["ETag"].is_string())
        .expect("a source");
    let body = stored["body"].as_str().expect("a body").to_owned();
    let entity = Entity::read(Bytes::from(body));
    let operation = ExactMove {
        revision: Revision {
            href: at("two/e.ics").to_string(),
            uid: entity.uid().expect("a UID").to_owned(),
            kind: Kind::Event,
            tag: stored["headers"]["ETag"].as_str().expect("a tag").to_owned(),
        },
        destination_href: at("one/e.ics").to_string(),
        consent: Consent::NotNeeded,
    };
    let failed = run(operation, &account, &mut server).expect_err("it is refused");
    let sent = |method: &str| server.asked.iter().filter(|asked| asked.method == method).count();
    let expected = &case.expected;
    assert_eq!(
        serde_json::to_value(failed.state).expect("a word"),
        expected["mutation_state"]
    );
    assert_eq!(failed.state, Mutation::NotCommitted);
    assert_eq!(expected["category"], "uid_conflict");
    assert!(failed.error.code == Code::Conflict && failed.error.message.contains("UID is taken"));
    for (method, count) in [("MOVE", "moves_sent"), ("PUT", "puts_sent"), ("DELETE", "deletes_sent")] {
        assert_eq!(expected[count], sent(method), "{method}");
    }
    let request = server
        .asked
        .iter()
        .find(|asked| asked.method == "MOVE")
        .expect("a move");
    assert_eq!(request.header("if-match"), stored["headers"]["ETag"]);
    assert_eq!(request.header("overwrite"), "F");
    assert_eq!(request.header("destination"), at("one/e.ics").as_str());
    Whole
}
