//! `If-Match` and `If-None-Match` (RFC 9110, section 13.1).

use http::HeaderMap;
use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};

/// What a conditional request turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Go on.
    Holds,
    /// `If-Match` fails.
    Changed,
    /// `If-None-Match` fails: 304 for a read, 412 for a write.
    Known,
}

/// Compares the conditions of a request with the current strong Entity Tag, if there is a resource.
pub(crate) fn judge(headers: &HeaderMap, current: Option<&str>) -> Verdict {
    let matched = |name: HeaderName, weakly: bool| {
        let mut tags = headers.get_all(name).iter().flat_map(|value| tags(value.as_bytes()));
        tags.any(|tag| match tag {
            b"*" => current.is_some(),
            tag => {
                let tag = if weakly {
                    tag.strip_prefix(b"W/").unwrap_or(tag)
                } else {
                    tag
                };
                current.is_some_and(|current| current.as_bytes() == tag)
            }
        })
    };
    if headers.contains_key(IF_MATCH) && !matched(IF_MATCH, false) {
        Verdict::Changed
    } else if matched(IF_NONE_MATCH, true) {
        Verdict::Known
    } else {
        Verdict::Holds
    }
}

/// The members of a list of Entity Tags, split at commas outside of quotes.
fn tags(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    let split = move |byte: &u8| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    };
    list.split(split).map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn strong_tags_match_strongly_and_none_match_weakly() {
        use Verdict::{Changed, Holds, Known};
        let current = Some("\"a\"");
        for (name, value, current, verdict) in [
            (IF_MATCH, "\"a\"", current, Holds),
            (IF_MATCH, "\"b\", \"a\"", current, Holds),
            (IF_MATCH, "\"b,\", \"a,\"", current, Changed),
            (IF_MATCH, "W/\"a\"", current, Changed),
            (IF_MATCH, "a", current, Changed),
            (IF_MATCH, "", current, Changed),
            (IF_MATCH, "*", current, Holds),
            (IF_MATCH, "*", None, Changed),
            (IF_MATCH, "\"a\"", None, Changed),
            (IF_NONE_MATCH, "*", current, Known),
            (IF_NONE_MATCH, "*", None, Holds),
            (IF_NONE_MATCH, "W/\"a\"", current, Known),
            (IF_NONE_MATCH, "\"b\"", current, Holds),
        ] {
            let headers = HeaderMap::from_iter([(name.clone(), HeaderValue::from_static(value))]);
            assert_eq!(judge(&headers, current), verdict, "{name}: {value} against {current:?}");
        }
        assert_eq!(judge(&HeaderMap::new(), None), Holds);
    }
}
