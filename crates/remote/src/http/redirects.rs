//! Where a redirect may lead, and which headers go along.

use super::addresses;
use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, IF_MATCH, IF_NONE_MATCH, RANGE, USER_AGENT};

/// The headers that go along to another origin. All others may be secrets: credentials, cookies, signatures, what the caller added.
const HARMLESS: [HeaderName; 5] = [ACCEPT, IF_MATCH, IF_NONE_MATCH, RANGE, USER_AGENT];

/// The URL that a redirect leads to.
///
/// # Errors
/// In words, where it must not be followed.
pub(super) fn target(from: &Url, location: &str) -> Result<Url, String> {
    let mut to = from.join(location).map_err(|_| "a redirect to what is no URL".to_owned())?;
    to.set_fragment(None);
    match (from.scheme(), to.scheme()) {
        (_, "https") | ("http", "http") => {}
        ("https", "http") => return Err("a redirect from https to http".to_owned()),
        _ => return Err("a redirect to another kind of URL".to_owned()),
    }
    if !to.username().is_empty() || to.password().is_some() {
        return Err("a redirect to a URL with a user".to_owned());
    }
    Ok(to)
}

/// Whether two URLs have the same scheme, host and port.
pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Keeps the headers that may go along to another origin.
pub(super) fn keep_harmless(headers: &mut HeaderMap) {
    let mut kept = HeaderMap::new();
    for name in HARMLESS {
        if let Some(value) = headers.get(&name) {
            kept.insert(name, value.clone());
        }
    }
    *headers = kept;
}

/// Whether a redirect must not be followed as it names a private address. Names are looked up when the connection is made.
pub(super) fn names_inside(to: &Url) -> bool {
    addresses::literal(to).is_some_and(addresses::is_private)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{AUTHORIZATION, COOKIE, HeaderValue};

    #[test]
    fn redirects_stay_safe() {
        let from = Url::parse("https://host/a/b?sig=1").unwrap();
        assert_eq!(target(&from, "c").unwrap().as_str(), "https://host/a/c");
        assert_eq!(target(&from, "https://other/x#y").unwrap().as_str(), "https://other/x");
        for bad in [
            "http://host/a",
            "ftp://host/a",
            "file:///etc/passwd",
            "https://u:p@host/",
            "https://[",
            "data:,x",
        ] {
            assert!(target(&from, bad).is_err(), "{bad}");
        }
        let plain = Url::parse("http://host/a").unwrap();
        assert!(target(&plain, "http://other/").is_ok() && target(&plain, "https://host/").is_ok());
        assert!(!same_origin(&plain, &Url::parse("http://host:81/a").unwrap()));
        assert!(same_origin(&plain, &Url::parse("http://host:80/b").unwrap()));
        assert!(names_inside(&Url::parse("http://169.254.169.254/latest").unwrap()));
    }

    #[test]
    fn secrets_do_not_go_along() {
        let value = HeaderValue::from_static("x");
        let mut headers = HeaderMap::new();
        for name in [AUTHORIZATION, COOKIE, RANGE, HeaderName::from_static("x-amz-security-token")] {
            headers.insert(name, value.clone());
        }
        keep_harmless(&mut headers);
        assert_eq!(headers.len(), 1);
        assert!(headers.contains_key(RANGE));
    }
}
