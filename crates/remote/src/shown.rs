//! URLs and messages without secrets.

use url::Url;

/// What stands for a secret.
const HIDDEN: &str = "***";

/// A URL without user, password, query and fragment.
pub(crate) fn shown_url(url: &Url) -> String {
    let mut plain = url.clone();
    // A URL without a host has neither user nor password.
    let _ = plain.set_username("");
    let _ = plain.set_password(None);
    plain.set_query(url.query().map(|_| HIDDEN));
    plain.set_fragment(None);
    plain.into()
}

/// A message in which users, passwords and queries of URLs are hidden, of at most a few lines.
pub(crate) fn shown_text(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let is_end =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ']' | '}' | ',');
        let (address, behind) = after.split_at(after.find(is_end).unwrap_or(after.len()));
        let (main, query) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
        let host = main.find('/').unwrap_or(main.len());
        let named = main.get(..host).and_then(|host| host.rfind('@')).map_or(0, |at| at + 1);
        out.push_str(main.get(named..).unwrap_or_default());
        if !query.is_empty() {
            out.push('?');
            out.push_str(HIDDEN);
        }
        rest = behind;
    }
    out.push_str(rest);
    match out.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", out.get(..end).unwrap_or_default()),
        None => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_passwords_and_queries_are_hidden() {
        let url =
            Url::parse("https://me:secret@host.example:8443/a/b%20c.b2nd?X-Amz-Signature=abc#part").unwrap();
        assert_eq!(shown_url(&url), "https://host.example:8443/a/b%20c.b2nd?***");
        assert_eq!(shown_url(&Url::parse("s3://bucket/a").unwrap()), "s3://bucket/a");
        let text =
            "Error performing GET https://me:se/cret@host/a?sig=x in 3 s: \"http://u@h?q\", ftp://h/a#b";
        let shown = shown_text(text);
        assert!(!shown.contains("sig") && !shown.contains("u@") && !shown.contains("#b"), "{shown}");
        assert!(shown.contains("host") || shown.contains("me:se"), "{shown}");
        assert_eq!(shown_text("no address"), "no address");
        assert_eq!(shown_text(&"é".repeat(1000)).chars().count(), 401);
    }
}
