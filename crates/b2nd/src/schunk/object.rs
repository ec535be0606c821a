//! Frames in which python-blosc2 stores an object instead of data.

use super::handle::SChunk;

/// The metalayer of such a frame, and the one of older releases.
const LAYER: &str = "b2o";
const OLD_LAYER: &str = "LazyArray";

/// Names of kinds in the metalayer, and their descriptions.
const KINDS: [(&str, &str); 3] = [
    ("lazyexpr", "a lazy expression"),
    ("lazyudf", "a lazy function"),
    ("c2array", "a reference to a remote array"),
];

/// Whether a metalayer of this name marks a frame that holds an object instead of data.
pub(crate) fn is_object_layer(name: &str) -> bool {
    name == LAYER || name == OLD_LAYER
}

impl SChunk {
    /// What python-blosc2 has stored here in the place of data: `a lazy expression`, `a lazy function`, `a reference to a remote
    /// array` or `an object`; `None` for any other frame.
    ///
    /// Such a frame has the metalayer of an array, with the shape and the dtype of the result, and chunks that were never
    /// written. [`Array::open`](crate::Array::open) refuses it, as it would read as zeros. What is to be computed is in its
    /// vlmetalayers.
    pub fn stored_object(&self) -> Option<&'static str> {
        let layer = |name: &str| self.metalayers().find(|(other, _)| *other == name);
        if let Some((_, content)) = layer(LAYER) {
            let holds = |word: &str| content.windows(word.len()).any(|bytes| bytes == word.as_bytes());
            let known = KINDS.into_iter().find(|(word, _)| holds(word));
            return Some(known.map_or("an object", |(_, what)| what));
        }
        // One number: 0 for an expression, 1 for a function.
        layer(OLD_LAYER).map(|(_, content)| match content {
            [1] => "a lazy function",
            _ => "a lazy expression",
        })
    }
}
