//! The ids that are given away, and the names that go with them.

/// Ids below this one belong to the format itself.
pub(crate) const FIRST_FREE: u8 = 32;

/// An id above those of the format itself that is registered with its makers.
struct RegisteredId {
    id: u8,
    name: &'static str,
    /// Whether this library has it, so that nobody may put another in its place.
    built_in: bool,
}

const fn known(id: u8, name: &'static str, built_in: bool) -> RegisteredId {
    RegisteredId { id, name, built_in }
}

const CODECS: &[RegisteredId] = &[
    known(32, "ndlz", true),
    known(33, "zfp-accuracy", true),
    known(34, "zfp-precision", true),
    known(35, "zfp-rate", true),
    known(36, "openhtj2k", false),
    known(37, "grok", false),
    known(38, "openzl", false),
    known(39, "j2k", false),
    known(40, "htj2k", false),
];

const FILTERS: &[RegisteredId] = &[
    known(32, "ndcell", true),
    known(33, "ndmean", true),
    known(34, "old_bytedelta", true),
    known(35, "bytedelta", true),
    known(36, "int_trunc", true),
];

/// Whether a codec of the user may not have this id.
pub(super) fn codec_is_taken(id: u8) -> bool {
    taken(CODECS, id)
}

/// Whether a filter of the user may not have this id.
pub(super) fn filter_is_taken(id: u8) -> bool {
    taken(FILTERS, id)
}

fn taken(known: &[RegisteredId], id: u8) -> bool {
    id < FIRST_FREE || known.iter().any(|k| k.id == id && k.built_in)
}

/// A codec for a message: `codec 37 (grok)`, `codec 200`.
pub(crate) fn codec_label(id: u8) -> String {
    label("codec", CODECS, id)
}

/// A filter for a message: `filter 35 (bytedelta)`, `filter 200`.
pub(crate) fn filter_label(id: u8) -> String {
    label("filter", FILTERS, id)
}

fn label(kind: &str, known: &[RegisteredId], id: u8) -> String {
    match known.iter().find(|k| k.id == id) {
        Some(RegisteredId { name, .. }) => format!("{kind} {id} ({name})"),
        None => format!("{kind} {id}"),
    }
}
