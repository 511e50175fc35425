//! Resources that cannot be understood.

use serde_json::json;

use crate::GET;
use crate::client::{Folder, Server};
use crate::referee::Referee;

#[test]
fn an_opaque_resource_shows_its_properties() {
    let opaque = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VJOURNAL\r\nUID:j\r\nSUMMARY:Not an event\r\nEND:VJOURNAL\r\nEND:VCALENDAR\r\n";
    let folder = Folder::new().calendar("work", &[("j.ics", opaque.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = format!("{}/work/j.ics", folder.url());
    let got = server.success(GET, json!({"href": href}));
    let projection = &got["snapshot"]["projection"];
    assert_eq!(projection["kind"], "opaque");
    assert!(projection["properties"].to_string().contains("Not an event"));
    assert!(got["snapshot"].get("entityRevision").is_none());
    assert_eq!(got["snapshot"]["resourceRevision"]["href"], json!(href));
    let full = server.success(GET, json!({"href": href, "detail": "full"}));
    referee.full(GET, &full);
}

#[test]
fn an_opaque_resource_of_many_megabytes_is_shown_in_part() {
    let more = "X-FILLER;A=\"b\":text\\, with \u{1}control\u{1} characters\r\n".repeat(60_000);
    let large = format!("X-LARGE:{}\r\n", "x".repeat(300_000));
    let opaque = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VJOURNAL\r\nUID:j\r\n{large}SUMMARY:Not an event\r\n{more}END:VJOURNAL\r\nEND:VCALENDAR\r\n"
    );
    let folder = Folder::new().calendar("work", &[("j.ics", opaque.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let href = format!("{}/work/j.ics", folder.url());
    let got = server.success(GET, json!({"href": href}));
    assert!(got.to_string().len() < 1 << 20, "{}", got.to_string().len());
    let properties = got["snapshot"]["projection"]["properties"].as_array().unwrap();
    assert_eq!(properties.len(), 1000);
    assert_eq!(properties[2]["rawEncodedValue"], "Not an event");
    let told = got["snapshot"]["diagnostics"].as_array().unwrap();
    let told = told
        .iter()
        .find(|told| told["code"] == "opaque_properties_omitted")
        .unwrap();
    assert!(
        told["message"].as_str().unwrap().starts_with("59004 of 60004 "),
        "{told}"
    );
}
