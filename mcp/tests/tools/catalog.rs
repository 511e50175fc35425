//! What is listed.

use serde_json::json;

use crate::client::Server;
use crate::folder;
use crate::referee::Referee;

/// The tools as they are listed.
pub(crate) const ORDER: [&str; 20] = [
    "calendars_list",
    "calendar_entities_query",
    "calendar_occurrences_query",
    "todos_query",
    "calendar_resources_get",
    "events_create",
    "events_patch",
    "todos_create",
    "todos_patch",
    "todos_complete",
    "calendar_occurrences_add",
    "calendar_occurrences_exclude",
    "calendar_occurrences_restore_exclusion",
    "calendar_occurrences_cancel",
    "calendar_occurrences_restore_cancellation",
    "calendar_resources_move",
    "calendar_resources_delete",
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
    assert!(bytes <= 40_000, "{bytes}");
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ORDER);
    let destructive = [
        "events_patch",
        "todos_patch",
        "calendar_occurrences_exclude",
        "calendar_occurrences_cancel",
        "calendar_resources_move",
        "calendar_resources_delete",
    ];
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let ttl = match name {
            "calendars_list" => 30_000,
            _ if name.ends_with("_query") => 5_000,
            _ => 0,
        };
        let reads = ttl > 0 || name.starts_with("calendars_") || name.ends_with("_get") || name.ends_with("_changes");
        assert_eq!(
            tool["_meta"]["io.github.jhonattan-souza/cache"],
            json!({"ttlMs": ttl, "cacheScope": "private"})
        );
        let hints = json!({"title": tool["title"], "readOnlyHint": reads, "destructiveHint": destructive.contains(&name), "idempotentHint": reads, "openWorldHint": true});
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

/// Every member of `calendarDescriptor`, and what is wrong with the configured hrefs.
#[test]
fn calendars_are_listed_with_all_that_is_known_of_them() {
    let folder = folder().calendar("bare", &[]).calendar("hidden", &[]);
    let settings =
        json!({"name": "Work", "description": "Mine", "color": "#12345678", "order": 7, "components": ["VEVENT"]});
    std::fs::write(folder.0.join("work/.calendar.json"), settings.to_string()).unwrap();
    let href = |name: &str| format!("{}/{name}/", folder.url());
    let configured = ["work", "bare", "work", "none"].map(href).join(",");
    let mut server = Server::start(&[("CALDAV_URL", &folder.url()), ("CALDAV_CALENDAR_HREFS", &configured)]);
    server.initialize("2025-11-25");
    let referee = Referee::new(&mut server);
    let mut list = server.success("calendars_list", json!({}));
    referee.full("calendars_list", &list);
    let codes: Vec<_> = list["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| told["code"].clone())
        .collect();
    assert_eq!(codes, ["duplicate_calendar_href", "calendar_href_not_found"]);
    assert_eq!(list["pagination"], json!({"mode": "non_snapshot", "nextCursor": null}));
    for item in list["items"].as_array_mut().unwrap() {
        assert!(
            item.as_object_mut()
                .unwrap()
                .remove("changeTag")
                .is_some_and(|tag| tag.is_string())
        );
    }
    let kind = |state: &str, value: &str| json!({"state": state, "evidence": [{"source": "supported-calendar-component-set", "value": value}]});
    let (all, events) = ("VEVENT,VTODO,VJOURNAL", "VEVENT");
    let expected = json!([
        {
            "calendar": {"href": href("bare")}, "displayName": "bare", "displayNameProvenance": "dav-displayname", "description": null,
            "davDescription": null, "color": null, "order": null,
            "entityKinds": {"event": kind("advertised", all), "todo": kind("advertised", all)}
        },
        {
            "calendar": {"href": href("work")}, "displayName": "Work", "displayNameProvenance": "dav-displayname", "description": "Mine",
            "davDescription": null, "color": "#123456", "order": 7,
            "entityKinds": {"event": kind("advertised", events), "todo": kind("not_advertised", events)}
        }
    ]);
    assert_eq!(list["items"], expected);
}
