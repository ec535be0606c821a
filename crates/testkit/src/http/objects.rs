//! The objects of a server.

use super::date::http_date;
use super::head::Request;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How objects are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tags {
    /// A new strong tag for each version.
    Strong,
    /// A new weak tag for each version.
    Weak,
    /// No tags.
    None,
}

/// One version of an object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) bytes: Arc<Vec<u8>>,
    version: u64,
}

impl Object {
    /// Its tag.
    pub(super) fn tag(&self, tags: Tags) -> Option<String> {
        let version = self.version;
        match tags {
            Tags::Strong => Some(format!("\"v{version}\"")),
            Tags::Weak => Some(format!("W/\"v{version}\"")),
            Tags::None => None,
        }
    }
    /// When it was made: a second later for each version.
    pub(super) fn date(&self) -> String {
        http_date(1_790_000_000 + self.version)
    }
}

/// Objects by path.
#[derive(Debug, Default)]
pub(super) struct Objects {
    objects: BTreeMap<String, Object>,
    versions: u64,
}

impl Objects {
    pub(super) fn get(&self, path: &str) -> Option<&Object> {
        self.objects.get(path)
    }
    pub(super) fn put(&mut self, path: &str, bytes: Arc<Vec<u8>>) -> &Object {
        self.versions += 1;
        let object = Object { bytes, version: self.versions };
        let entry = self.objects.entry(path.to_owned());
        entry.insert_entry(object).into_mut()
    }
    pub(super) fn remove(&mut self, path: &str) -> bool {
        self.objects.remove(path).is_some()
    }
    pub(super) fn paths(&self) -> Vec<String> {
        self.objects.keys().cloned().collect()
    }
    /// Whether the conditions of a request hold for what is there now.
    pub(super) fn admits(&self, request: &Request, tags: Tags) -> bool {
        let found = self.get(&request.path);
        let tag = found.and_then(|object| object.tag(tags));
        let matches = |wanted: &str| match wanted {
            "*" => found.is_some(),
            wanted => tag.as_deref().is_some_and(|tag| wanted.split(',').any(|one| one.trim() == tag)),
        };
        // A weak tag never matches for `If-Match`.
        let strong = tags != Tags::Weak;
        request.header("if-match").is_none_or(|wanted| matches(wanted) && (strong || wanted == "*"))
            && !request.header("if-none-match").is_some_and(matches)
    }
}
