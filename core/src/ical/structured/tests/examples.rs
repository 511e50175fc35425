//! The examples of the RFCs, as they are printed there.

use super::*;

/// A text property, or one with a URI, with parameters of one value each.
fn held(member: &str, value: &str, parameters: &[(&str, &str)]) -> Value {
    let parameters = parameters
        .iter()
        .map(|(name, value)| json!({"name": name, "values": [value]}));
    json!({member: value, "parameters": parameters.collect::<Vec<_>>()})
}

fn text(value: &str) -> Value {
    held("value", value, &[])
}

fn uri(value: &str, parameters: &[(&str, &str)]) -> Value {
    held("uri", value, parameters)
}

fn token(kind: &str, value: &str) -> Value {
    json!({"kind": kind, "rawValue": value})
}

fn known(value: &str) -> Value {
    let value = token("known", value);
    json!({"explicitValue": value, "effectiveValue": value})
}

fn default(value: &str) -> Value {
    json!({"effectiveValue": token("known", value)})
}

/// An attendee with these members; the others say what holds where nothing is said.
fn attendee(address: &str, more: Value) -> Value {
    let mut attendee = json!({
        "uri": address,
        "role": default("REQ-PARTICIPANT"),
        "partStat": default("NEEDS-ACTION"),
        "cutype": default("INDIVIDUAL"),
        "rsvp": {"effectiveValue": false},
        "parameters": [],
    });
    let members = attendee.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    attendee
}

fn related(value: &str, relation: Value, parameters: &[(&str, &str)]) -> Value {
    let mut related = held("value", value, parameters);
    related["relationType"] = relation;
    related
}

fn check(table: &[(&str, Value)]) {
    for (lines, want) in table {
        let (got, codes) = shown(&format!("{lines}\n"));
        assert_eq!(got, *want, "{lines}");
        assert_eq!(codes, Vec::<&str>::new(), "{lines}");
    }
}

/// RFC 5545, 3.8.4.1 and 3.8.4.3.
#[test]
fn attendees_and_organizers() {
    let dir = "ldap://example.com:6666/o=ABC%20Industries,c=US???(cn=Jim%20Dolittle)";
    check(&[
        (
            "ATTENDEE;MEMBER=\"mailto:DEV-GROUP@example.com\":\n mailto:joecool@example.com\n\
             ATTENDEE;DELEGATED-FROM=\"mailto:immud@example.com\":\n mailto:ildoit@example.com",
            json!({"attendees": [
                attendee("mailto:joecool@example.com", json!({"parameters": [{"name": "MEMBER", "values": ["mailto:DEV-GROUP@example.com"]}]})),
                attendee("mailto:ildoit@example.com", json!({"delegatedFrom": ["mailto:immud@example.com"]})),
            ]}),
        ),
        (
            "ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=TENTATIVE;CN=Henry\n  Cabot:mailto:hcabot@example.com\n\
             ATTENDEE;ROLE=REQ-PARTICIPANT;DELEGATED-FROM=\"mailto:bob@\n example.com\";PARTSTAT=ACCEPTED;CN=Jane Doe:mailto:jdoe@\n example.com",
            json!({"attendees": [
                attendee("mailto:hcabot@example.com", json!({"commonName": "Henry Cabot", "role": known("REQ-PARTICIPANT"), "partStat": known("TENTATIVE")})),
                attendee("mailto:jdoe@example.com", json!({
                    "commonName": "Jane Doe", "role": known("REQ-PARTICIPANT"), "partStat": known("ACCEPTED"), "delegatedFrom": ["mailto:bob@example.com"]
                })),
            ]}),
        ),
        (
            "ATTENDEE;CN=John Smith;DIR=\"ldap://example.com:6666/o=ABC%\n 20Industries,c=US???(cn=Jim%20Dolittle)\":mailto:jimdo@\n example.com",
            json!({"attendees": [attendee("mailto:jimdo@example.com", json!({"commonName": "John Smith", "directory": dir}))]}),
        ),
        (
            "ATTENDEE;ROLE=NON-PARTICIPANT;PARTSTAT=DELEGATED;DELEGATED-TO=\n \"mailto:hcabot@example.com\";CN=The Big Cheese:mailto:iamboss\n @example.com",
            json!({"attendees": [attendee("mailto:iamboss@example.com", json!({
                "commonName": "The Big Cheese", "role": known("NON-PARTICIPANT"), "partStat": known("DELEGATED"), "delegatedTo": ["mailto:hcabot@example.com"]
            }))]}),
        ),
        (
            "ATTENDEE;SENT-BY=\"mailto:jan_doe@example.com\";CN=John Smith:\n mailto:jsmith@example.com",
            json!({"attendees": [attendee("mailto:jsmith@example.com", json!({"commonName": "John Smith", "sentBy": "mailto:jan_doe@example.com"}))]}),
        ),
        (
            "ATTENDEE;RSVP=TRUE;CUTYPE=X-ROBOT;ROLE=CHAIR;PARTSTAT=MAYBE:mailto:r2@example.com",
            json!({"attendees": [attendee("mailto:r2@example.com", json!({
                "rsvp": {"explicitValue": true, "effectiveValue": true},
                "role": known("CHAIR"),
                "cutype": {"explicitValue": token("extension", "X-ROBOT"), "effectiveValue": token("extension", "X-ROBOT")},
                "partStat": {"explicitValue": token("unknown", "MAYBE"), "effectiveValue": token("unknown", "MAYBE")},
            }))]}),
        ),
        (
            "ORGANIZER;CN=John Smith:mailto:jsmith@example.com",
            json!({"organizer": {"uri": "mailto:jsmith@example.com", "label": "John Smith", "parameters": []}}),
        ),
        (
            "ORGANIZER;SENT-BY=\"mailto:jane_doe@example.com\":\n mailto:jsmith@example.com",
            json!({"organizer": uri("mailto:jsmith@example.com", &[("SENT-BY", "mailto:jane_doe@example.com")])}),
        ),
    ]);
}

/// RFC 5545, 3.8.1.1, 3.8.1.4, 3.8.1.10, 3.8.4.2, 3.8.4.5 and 3.8.8.3.
#[test]
fn other_properties_of_rfc_5545() {
    let status = |code: &str, description: &str, data: Option<&str>| {
        let mut status = json!({"code": code, "description": description, "parameters": []});
        if let Some(data) = data {
            status["exceptionData"] = json!(data);
        }
        json!({"requestStatuses": [status]})
    };
    check(&[
        (
            "ATTACH:CID:jsmith.part3.960817T083000.xyzMail@example.com\n\
             ATTACH;FMTTYPE=application/postscript:ftp://example.com/pub/\n reports/r-960812.ps",
            json!({"attachments": [
                uri("CID:jsmith.part3.960817T083000.xyzMail@example.com", &[]),
                uri("ftp://example.com/pub/reports/r-960812.ps", &[("FMTTYPE", "application/postscript")]),
            ]}),
        ),
        (
            "COMMENT:The meeting really needs to include both ourselves\n  and the customer. We can't hold this meeting without them.\n  \
             As a matter of fact\\, the venue for the meeting ought to be at\n  their site. - - John",
            json!({"comments": [text(
                "The meeting really needs to include both ourselves and the customer. We can't hold this meeting without them. \
                 As a matter of fact, the venue for the meeting ought to be at their site. - - John"
            )]}),
        ),
        (
            "RESOURCES:EASEL,PROJECTOR,VCR\nRESOURCES;LANGUAGE=fr:Nettoyeur haute pression",
            json!({"resources": [
                text("EASEL"), text("PROJECTOR"), text("VCR"), held("value", "Nettoyeur haute pression", &[("LANGUAGE", "fr")])
            ]}),
        ),
        (
            "CONTACT;ALTREP=\"CID:part3.msg970930T083000SILVER@example.com\":\n Jim Dolittle\\, ABC Industries\\, +1-919-555-1234",
            json!({"contacts": [held(
                "value", "Jim Dolittle, ABC Industries, +1-919-555-1234", &[("ALTREP", "CID:part3.msg970930T083000SILVER@example.com")]
            )]}),
        ),
        (
            "RELATED-TO:jsmith.part7.19960817T083000.xyzMail@example.com",
            json!({"relatedTo": [related("jsmith.part7.19960817T083000.xyzMail@example.com", default("PARENT"), &[])]}),
        ),
        ("REQUEST-STATUS:2.0;Success", status("2.0", "Success", None)),
        (
            "REQUEST-STATUS:3.1;Invalid property value;DTSTART:96-Apr-01",
            status("3.1", "Invalid property value", Some("DTSTART:96-Apr-01")),
        ),
        (
            "REQUEST-STATUS:2.8; Success\\, repeating event ignored. Scheduled\n  as a single event.;RRULE:FREQ=WEEKLY\\;INTERVAL=2",
            status(
                "2.8",
                " Success, repeating event ignored. Scheduled as a single event.",
                Some("RRULE:FREQ=WEEKLY;INTERVAL=2"),
            ),
        ),
        (
            "REQUEST-STATUS:2.8;Ignored;RRULE:FREQ=WEEKLY;INTERVAL=2",
            status("2.8", "Ignored", Some("RRULE:FREQ=WEEKLY;INTERVAL=2")),
        ),
    ]);
}

/// RFC 5545, 3.6.6.
#[test]
fn alarms() {
    let action = |value: &str| json!({"value": token("known", value), "parameters": []});
    let number = |value: u32| json!({"value": value, "parameters": []});
    check(&[
        (
            "BEGIN:VALARM\nTRIGGER;VALUE=DATE-TIME:19970317T133000Z\nREPEAT:4\nDURATION:PT15M\nACTION:AUDIO\n\
             ATTACH;FMTTYPE=audio/basic:ftp://example.com/pub/\n sounds/bell-01.aud\nEND:VALARM",
            json!({"alarms": [{
                "action": action("AUDIO"),
                "trigger": held("value", "19970317T133000Z", &[("VALUE", "DATE-TIME")]),
                "repeat": number(4),
                "duration": text("PT15M"),
                "attachments": [uri("ftp://example.com/pub/sounds/bell-01.aud", &[("FMTTYPE", "audio/basic")])],
            }]}),
        ),
        (
            "BEGIN:VALARM\nTRIGGER:-PT30M\nREPEAT:2\nDURATION:PT15M\nACTION:DISPLAY\n\
             DESCRIPTION:Breakfast meeting with executive\\n\n team at 8:30 AM EST.\nEND:VALARM",
            json!({"alarms": [{
                "action": action("DISPLAY"),
                "trigger": text("-PT30M"),
                "repeat": number(2),
                "duration": text("PT15M"),
                "description": text("Breakfast meeting with executive\nteam at 8:30 AM EST."),
            }]}),
        ),
        (
            "BEGIN:VALARM\nTRIGGER;RELATED=END:-P2D\nACTION:EMAIL\nATTENDEE:mailto:john_doe@example.com\n\
             SUMMARY:*** REMINDER: SEND AGENDA FOR WEEKLY STAFF MEETING ***\nDESCRIPTION:A draft agenda\n\
             ATTACH;FMTTYPE=application/msword:http://example.com/\n templates/agenda.doc\nEND:VALARM",
            json!({"alarms": [{
                "action": action("EMAIL"),
                "trigger": held("value", "-P2D", &[("RELATED", "END")]),
                "attendees": [attendee("mailto:john_doe@example.com", json!({}))],
                "summary": text("*** REMINDER: SEND AGENDA FOR WEEKLY STAFF MEETING ***"),
                "description": text("A draft agenda"),
                "attachments": [uri("http://example.com/templates/agenda.doc", &[("FMTTYPE", "application/msword")])],
            }]}),
        ),
    ]);
}

/// RFC 9074: acknowledging and snoozing (6, 7), and proximity (8).
#[test]
fn alarms_of_rfc_9074() {
    let display = json!({"value": token("known", "DISPLAY"), "parameters": []});
    let moment = held("value", "20210302T152000Z", &[("VALUE", "DATE-TIME")]);
    check(&[
        (
            "BEGIN:VALARM\nUID:8297C37D-BA2D-4476-91AE-C1EAA364F8E1\nTRIGGER:-PT15M\nACKNOWLEDGED:20210302T151500Z\n\
             DESCRIPTION:Event reminder\nACTION:DISPLAY\nEND:VALARM\n\
             BEGIN:VALARM\nUID:DE7B5C34-83FF-47FE-BE9E-FF41AE6DD098\nTRIGGER;VALUE=DATE-TIME:20210302T152000Z\n\
             RELATED-TO;RELTYPE=SNOOZE:8297C37D-BA2D-4476-91AE-C1EAA364F8E1\nDESCRIPTION:Event reminder\nACTION:DISPLAY\nEND:VALARM",
            json!({"alarms": [
                {
                    "uid": text("8297C37D-BA2D-4476-91AE-C1EAA364F8E1"),
                    "trigger": text("-PT15M"),
                    "acknowledged": {"value": {"kind": "utcDateTime", "value": "2021-03-02T15:15:00Z"}, "parameters": []},
                    "description": text("Event reminder"),
                    "action": display,
                },
                {
                    "uid": text("DE7B5C34-83FF-47FE-BE9E-FF41AE6DD098"),
                    "trigger": moment,
                    "relatedTo": [related("8297C37D-BA2D-4476-91AE-C1EAA364F8E1", known("SNOOZE"), &[])],
                    "description": text("Event reminder"),
                    "action": display,
                },
            ]}),
        ),
        (
            "BEGIN:VALARM\nUID:77D80D14-906B-4257-963F-85B1E734DBB6\nACTION:DISPLAY\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z\n\
             DESCRIPTION:Remember to buy milk\nPROXIMITY:DEPART\nBEGIN:VLOCATION\nUID:123456-abcdef-98765432\nNAME:Office\n\
             URL:geo:40.443,-79.945;u=10\nEND:VLOCATION\nEND:VALARM",
            json!({"alarms": [{
                "uid": text("77D80D14-906B-4257-963F-85B1E734DBB6"),
                "action": display,
                "trigger": held("value", "19760401T005545Z", &[("VALUE", "DATE-TIME")]),
                "description": text("Remember to buy milk"),
                "proximity": {"value": token("known", "DEPART"), "parameters": []},
                "proximityLocations": [{
                    "uid": "123456-abcdef-98765432", "parameters": [], "name": text("Office"), "url": uri("geo:40.443,-79.945;u=10", &[])
                }],
            }]}),
        ),
    ]);
}

/// RFC 7986, 5.10 and 5.11.
#[test]
fn images_and_conferences() {
    let conference = |address: &str, label: &str, features: &[&str]| json!({"uri": address, "label": label, "parameters": [{"name": "FEATURE", "values": features}]});
    check(&[
        (
            "IMAGE;VALUE=URI;DISPLAY=BADGE;FMTTYPE=image/png:h\n ttp://example.com/images/party.png",
            json!({"images": [uri("http://example.com/images/party.png", &[("DISPLAY", "BADGE"), ("FMTTYPE", "image/png")])]}),
        ),
        (
            "CONFERENCE;VALUE=URI;FEATURE=PHONE,MODERATOR;\n LABEL=Moderator dial-in:tel:+1-412-555-0123,,,654321\n\
             CONFERENCE;VALUE=URI;FEATURE=PHONE;\n LABEL=Attendee dial-in:tel:+1-412-555-0123,,,555123\n\
             CONFERENCE;VALUE=URI;FEATURE=CHAT;\n LABEL=Chat room:xmpp:chat-123@conference.example.com\n\
             CONFERENCE;VALUE=URI;FEATURE=AUDIO,VIDEO;\n LABEL=Attendee dial-in:https://chat.example.com/audio?id=123456",
            json!({"conferences": [
                conference("tel:+1-412-555-0123,,,654321", "Moderator dial-in", &["PHONE", "MODERATOR"]),
                conference("tel:+1-412-555-0123,,,555123", "Attendee dial-in", &["PHONE"]),
                conference("xmpp:chat-123@conference.example.com", "Chat room", &["CHAT"]),
                conference("https://chat.example.com/audio?id=123456", "Attendee dial-in", &["AUDIO", "VIDEO"]),
            ]}),
        ),
    ]);
}

/// RFC 9073, 6.5, 6.6 and 7.
#[test]
fn published_events() {
    let participant = |uid: &str, kind: &str, card: &str| {
        json!({
            "uid": text(uid), "participantType": token("known", kind), "schedulable": false, "structuredDataUris": [uri(card, &[])]
        })
    };
    let named = |uid: &str, name: &str, card: &str| json!({"uid": uid, "parameters": [], "name": text(name), "structuredDataUris": [uri(card, &[])]});
    let mut projector = named(
        "456789-abcdef-98765432",
        "The projector",
        "http://dir.example.com/projectors/3d.vcf",
    );
    projector["componentTypes"] = json!({"value": token("known", "projector"), "parameters": []});
    let mut hotel = named(
        "123456-abcdef-98765432",
        "The venue",
        "http://dir.example.com/venues/big-hall.vcf",
    );
    hotel["componentTypes"] = json!({"value": ["hotel", "restaurant"], "parameters": []});
    check(&[
        (
            "BEGIN:PARTICIPANT\nPARTICIPANT-TYPE:SPONSOR\nUID:dG9tQGZvb2Jhci5xlLmNvbQ\n\
             STRUCTURED-DATA;VALUE=URI:http://example.com/sponsor.vcf\nEND:PARTICIPANT\n\
             BEGIN:PARTICIPANT\nPARTICIPANT-TYPE:PERFORMER\nUID:em9lQGZvb2GFtcGxlLmNvbQ\n\
             STRUCTURED-DATA;VALUE=URI:http://www.example.com/people/johndoe.vcf\nEND:PARTICIPANT",
            json!({"participants": [
                participant("dG9tQGZvb2Jhci5xlLmNvbQ", "SPONSOR", "http://example.com/sponsor.vcf"),
                participant("em9lQGZvb2GFtcGxlLmNvbQ", "PERFORMER", "http://www.example.com/people/johndoe.vcf"),
            ]}),
        ),
        (
            "BEGIN:VLOCATION\nUID:123456-abcdef-98765432\nNAME:The venue\nLOCATION-TYPE:hotel,restaurant\n\
             STRUCTURED-DATA;VALUE=URI:http://dir.example.com/venues/big-hall.vcf\nEND:VLOCATION\n\
             BEGIN:VRESOURCE\nUID:456789-abcdef-98765432\nNAME:The projector\nRESOURCE-TYPE:projector\n\
             STRUCTURED-DATA;VALUE=URI:http://dir.example.com/projectors/3d.vcf\nEND:VRESOURCE",
            json!({"locationUris": [hotel], "resourceUris": [projector]}),
        ),
        (
            "STYLED-DESCRIPTION;VALUE=URI:http://example.org/desc001.html\n\
             STYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<p>Cost\\, please</p>",
            json!({"styledDescriptions": [
                held("value", "http://example.org/desc001.html", &[("VALUE", "URI")]),
                held("value", "<p>Cost, please</p>", &[("FMTTYPE", "text/html")]),
            ]}),
        ),
        (
            "STRUCTURED-DATA;VALUE=URI;FMTTYPE=text/vcard:http://dir.example.com/a.vcf",
            json!({"structuredDataUris": [uri("http://dir.example.com/a.vcf", &[("FMTTYPE", "text/vcard")])]}),
        ),
    ]);
}

/// RFC 9253, 8.1, 8.2 and 9.1.
#[test]
fn relationships() {
    let pointer = "https://example.com/xmlDocs/bidFramework.xml#xpointer(descendant::CostStruc/range-to(following::CostStrucEND(1)))";
    check(&[
        (
            "CONCEPT:https://example.com/event-types/arts/music",
            json!({"concepts": [uri("https://example.com/event-types/arts/music", &[])]}),
        ),
        (
            "LINK;LINKREL=SOURCE;LABEL=Venue;VALUE=URI:\n https://example.com/events",
            json!({"links": [{
                "uri": "https://example.com/events", "label": "Venue", "parameters": [{"name": "LINKREL", "values": ["SOURCE"]}]
            }]}),
        ),
        (
            &*format!("LINK;LINKREL=\"https://example.com/linkrel/costStructure\";VALUE=XML-REFERENCE:{pointer}"),
            json!({"links": [uri(pointer, &[("LINKREL", "https://example.com/linkrel/costStructure"), ("VALUE", "XML-REFERENCE")])]}),
        ),
        (
            "RELATED-TO;VALUE=URI;RELTYPE=STARTTOFINISH:\n https://example.com/caldav/user/jb/cal/19960401-080045-4000F192713.ics\n\
             RELATED-TO;RELTYPE=DEPENDS-ON;GAP=P1W:19960401-080045-4000F192713-0052@example.com",
            json!({"relatedTo": [
                related(
                    "https://example.com/caldav/user/jb/cal/19960401-080045-4000F192713.ics", known("STARTTOFINISH"), &[("VALUE", "URI")]
                ),
                related("19960401-080045-4000F192713-0052@example.com", known("DEPENDS-ON"), &[("GAP", "P1W")]),
            ]}),
        ),
    ]);
}
