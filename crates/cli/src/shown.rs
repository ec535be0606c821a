//! Files and URLs as arguments: which is which, and how they are shown.

use std::path::Path;

/// The URL, where an argument is one and not the path of a file.
pub(crate) fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(letter))
        .then_some(text)
}

/// How paths and URLs are shown.
pub(crate) trait Shown {
    /// The path of a file; a URL without user name, password and what follows the question mark.
    fn shown(&self) -> String;
}

impl Shown for Path {
    fn shown(&self) -> String {
        let Some((scheme, rest)) = url(self).and_then(|text| text.split_once("://")) else {
            return self.display().to_string();
        };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, folder) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{scheme}://{host}{folder}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_files_and_shown_without_secrets() {
        let shown = |text: &str| Path::new(text).shown();
        assert_eq!(shown("s3://bucket/a b.b2nd"), "s3://bucket/a b.b2nd");
        assert_eq!(shown("https://me:secret@host:8/x@y.b2nd?sig=secret#f"), "https://host:8/x@y.b2nd");
        assert_eq!(shown("https://host?sig=a/b"), "https://host");
        for file in ["a.b2nd", "/x/y://z", "://x", "C://x", "x y://z"] {
            assert_eq!(url(Path::new(file)), None, "{file}");
            assert_eq!(shown(file), file);
        }
    }
}
