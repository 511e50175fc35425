//! What the environment may and may not say.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

const BASIC: [(&str, &str); 3] = [
    ("CALDAV_URL", "https://dav.example.com/"),
    ("CALDAV_USERNAME", "ana"),
    ("CALDAV_PASSWORD", "hunter2"),
];

/// The variables that fail when these are set on top of [`BASIC`].
fn failing(pairs: &[(&str, &str)]) -> Vec<&'static str> {
    let all = environment(&[&BASIC[..], pairs].concat());
    let failures = Config::read(&all).err().map(|error| error.failures).unwrap_or_default();
    failures.into_iter().map(|(variable, _)| variable).collect()
}

#[test]
fn each_wrong_value_names_its_variable() {
    for (variable, value) in [
        ("CALDAV_URL", ""),
        ("CALDAV_URL", "dav.example.com"),
        ("CALDAV_URL", "ftp://dav.example.com/"),
        ("CALDAV_URL", "https://ana:x@dav.example.com/"),
        ("CALDAV_URL", "https://dav.example.com/?a"),
        ("CALDAV_URL", "https://dav.example.com/#a"),
        ("CALDAV_URL", "https://dav.example.com/a%2Fb"),
        ("CALDAV_URL", "https://DAV.example.com/"),
        ("CALDAV_URL", "https://dav.example.com:443/"),
        ("CALDAV_URL", "https://dav.example.com/a/../b"),
        ("CALDAV_USERNAME", " "),
        ("CALDAV_USERNAME", "a:b"),
        ("CALDAV_PASSWORD", ""),
        ("CALDAV_AUTH_SCHEME", "Basic"),
        ("CALDAV_AUTH_SCHEME", "oauth2"),
        ("CALDAV_OAUTH_CLIENT_ID", "x"),
        ("CALDAV_REDIRECT_HOSTS", "localhost"),
        ("CALDAV_REDIRECT_HOSTS", "a.example,,b.example"),
        ("CALDAV_REDIRECT_HOSTS", "https://a.example"),
        ("CALDAV_CALENDAR_HREFS", "/dav/a/"),
        ("CALDAV_EVALUATION_TIME_ZONE", "europe/berlin"),
        ("CALDAV_EVALUATION_TIME_ZONE", " Europe/Berlin"),
        ("CALDAV_EVALUATION_TIME_ZONE", "Mars/Olympus"),
        ("CALDAV_TOOL_NAMES", "Dotted"),
        ("CALDAV_SCHEDULING_MODE", "Storage_only"),
        ("CALDAV_CONFIRMATION_POLICY", "sometimes"),
        ("CALDAV_INTEROPERABILITY_PROFILE", "sogo"),
        ("CALDAV_TOOLSETS", "semantic,planner"),
        ("CALDAV_PASSWORD_FILE", "/nonexistent"),
        ("KALENDS_TZDATA", "zoneinfo"),
    ] {
        assert_eq!(failing(&[(variable, value)]), [variable], "{variable}={value}");
    }
    assert_eq!(failing(&[("CALDAV_AUTH_SCHEME", "bearer")]), ["CALDAV_USERNAME"]);
    let token = [
        ("CALDAV_AUTH_SCHEME", "bearer"),
        ("CALDAV_USERNAME", ""),
        ("CALDAV_PASSWORD", "a b"),
    ];
    assert_eq!(failing(&token), ["CALDAV_PASSWORD"]);
    let plain = [
        ("CALDAV_URL", "http://dav.example.com/"),
        ("CALDAV_REDIRECT_HOSTS", "a.example"),
    ];
    assert_eq!(failing(&plain), ["CALDAV_REDIRECT_HOSTS"]);
    assert_eq!(
        failing(&[("CALDAV_URL", "file:///tmp/x")]),
        ["CALDAV_PASSWORD", "CALDAV_USERNAME"]
    );
}

#[test]
fn right_values_are_taken() {
    for (variable, value) in [
        ("CALDAV_URL", "https://dav.example.com"),
        ("CALDAV_AUTH_SCHEME", ""),
        ("CALDAV_EXPOSE_EXACT_TOOLS", "yes"),
        ("CALDAV_EXPOSE_EXACT_TOOLS", "TRUE"),
        ("CALDAV_TOOLSETS", "semantic"),
        ("CALDAV_EVALUATION_TIME_ZONE", "Europe/Berlin"),
        ("CALDAV_TASK_LISTS", "ignored"),
    ] {
        assert_eq!(failing(&[(variable, value)]), [""; 0], "{variable}={value}");
    }
    let relative = Config::read(&environment(&[("CALDAV_URL", "file:calendars")])).unwrap_err();
    assert_eq!(relative.failures.len(), 1, "{relative}");
    let config = Config::read(&environment(&[("CALDAV_URL", "file:///tmp/x")])).unwrap();
    assert_eq!(config.account.credential, Credential::None);
    let lists = [
        (
            "CALDAV_CALENDAR_HREFS",
            " https://dav.example.com/a , ,https://dav.example.com/b/",
        ),
        ("CALDAV_REDIRECT_HOSTS", "p1.example.com,.example.net"),
        ("CALDAV_DEFAULT_EVENT_CALENDAR_NAME", " Work "),
    ];
    let config = Config::read(&environment(&[&BASIC[..], &lists].concat())).unwrap();
    assert_eq!(config.account.calendar_hrefs[0].as_str(), "https://dav.example.com/a/");
    assert_eq!(
        (config.account.calendar_hrefs.len(), config.account.redirect_hosts.len()),
        (2, 2)
    );
    assert_eq!(config.account.default_event_calendar.as_deref(), Some("Work"));
}

#[test]
fn all_failures_are_listed_one_a_line_without_a_secret() {
    let bad = [
        ("CALDAV_PASSWORD", "hunter2\n"),
        ("CALDAV_TOOL_NAMES", "x"),
        ("CALDAV_URL", "http://a:hunter2@b/"),
    ];
    let error = Config::read(&environment(&[&BASIC[..], &bad].concat()))
        .unwrap_err()
        .to_string();
    let lines: Vec<_> = error.lines().collect();
    assert_eq!(lines[0], "CalDAV configuration error:");
    assert_eq!(lines.len(), 4, "{error}");
    assert!(lines[1..].iter().all(|line| line.starts_with("  - CALDAV_")));
    assert!(!error.contains("hunter2"));
    let config = Config::read(&environment(&BASIC)).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn an_empty_environment_says_what_to_set() {
    let error = Config::read(&Environment::new()).unwrap_err().to_string();
    for expected in [
        "  - CALDAV_URL is required",
        "CALDAV_PASSWORD_FILE",
        "file:///",
        "kalends demo",
    ] {
        assert!(error.contains(expected), "{error}");
    }
}
