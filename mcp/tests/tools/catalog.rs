//! What is listed.

use serde_json::json;

use crate::client::Server;
use crate::folder;

/// The tools as they are listed.
pub(crate) const ORDER: [&str; 8] = [
    "calendars_list",
    "calendar_entities_query",
    "calendar_occurrences_query",
    "todos_query",
    "calendar_resources_get",
    "calendars_inspect",
    "calendars_free_busy",
    "calendar_resources_changes",
];

#[test]
fn the_catalog_is_small() {
    let folder = folder();
    let mut server = Server::on(&folder, "2025-11-25");
    let id = server.request("tools/list", json!({}));
    let bytes = server.answer(id).to_string().len();
    println!("tools/list: {bytes} bytes");
    let list = server.ask("tools/list", json!({}));
    assert!(bytes <= 16_000, "{bytes}");
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ORDER);
    for (tool, ttl) in tools.iter().zip([30_000, 5_000, 5_000, 5_000, 0, 0, 0, 0]) {
        assert_eq!(
            tool["_meta"]["io.github.jhonattan-souza/cache"],
            json!({"ttlMs": ttl, "cacheScope": "private"})
        );
        let hints = json!({"title": tool["title"], "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
        assert_eq!(tool["annotations"], hints);
    }
}

#[test]
fn names_are_listed_as_configured_and_accepted_in_both_spellings() {
    let folder = folder();
    for (style, listed) in [("underscore", "calendars_list"), ("dotted", "calendars.list")] {
        let mut server = Server::start(&[("CALDAV_URL", &folder.url()), ("CALDAV_TOOL_NAMES", style)]);
        server.initialize("2025-06-18");
        assert_eq!(server.ask("tools/list", json!({}))["tools"][0]["name"], listed);
        for name in ["calendars_list", "calendars.list"] {
            assert_eq!(
                server.success(name, json!({}))["items"][0]["calendar"]["href"],
                format!("{}/work/", folder.url())
            );
        }
    }
}
