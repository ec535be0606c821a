//! Python's `repr` of texts and bytes, as it stands in dtype texts and in printed arrays.

use crate::array::dtype::printable::is_printable;

/// `repr(text)`: quoted, with whatever is not printable escaped.
#[doc(hidden)]
pub fn str_repr(text: &str) -> String {
    code_points_repr(text.chars().map(u32::from))
}

/// `repr` of a text of code points, lone surrogates and other non-characters among them.
#[doc(hidden)]
pub fn code_points_repr(codes: impl Iterator<Item = u32> + Clone) -> String {
    let quote = quote_for(&codes);
    let mut out = String::from(quote);
    for code in codes {
        match char::from_u32(code) {
            Some(c) if c == quote || c == '\\' => out.extend(['\\', c]),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) if is_printable(code) => out.push(c),
            _ if code <= 0xff => out.push_str(&format!("\\x{code:02x}")),
            _ if code <= 0xffff => out.push_str(&format!("\\u{code:04x}")),
            _ => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out.push(quote);
    out
}

/// `repr(bytes)`: `b'...'`, with whatever is not printable ASCII escaped.
#[doc(hidden)]
pub fn bytes_repr(bytes: &[u8]) -> String {
    let quote = quote_for(&bytes.iter().map(|&b| u32::from(b)));
    let mut out = String::from("b");
    out.push(quote);
    for &byte in bytes {
        match char::from(byte) {
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c @ ' '..='~' => out.push(c),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
    out
}

/// Single quotes, unless there are some inside and no double ones.
fn quote_for(codes: &(impl Iterator<Item = u32> + Clone)) -> char {
    let has = |quote: char| codes.clone().any(|code| code == u32::from(quote));
    if has('\'') && !has('"') { '"' } else { '\'' }
}
