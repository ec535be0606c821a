//! What a file is that is no frame, by the bytes that it begins with.

/// The first bytes of kinds of files, and their names.
const KINDS: [(&[u8], &str); 24] = [
    (b"\x93NUMPY", "a NumPy file (.npy)"),
    (b"PK\x03\x04", "a zip file (.npz, .zip)"),
    (b"PK\x05\x06", "a zip file (.npz, .zip)"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (.h5, .nc)"),
    (b"CDF\x01", "a NetCDF 3 file (.nc)"),
    (b"CDF\x02", "a NetCDF 3 file (.nc)"),
    (b"CDF\x05", "a NetCDF 3 file (.nc)"),
    (b"GRIB", "a GRIB file"),
    (b"SIMPLE  =", "a FITS file"),
    (b"PAR1", "a Parquet file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"II+\0", "a TIFF picture"),
    (b"MM\0+", "a TIFF picture"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x80\x04\x95", "a Python pickle"),
];

/// How many bytes of a file [`file_kind`] looks at.
const LOOKED_AT: usize = 512;

/// What a file is that begins with `head`, in words, where that is known: `a PNG picture`, `a text`.
///
/// Frames are not among them. A few bytes are enough, a text is recognised by its first 512.
///
/// ```
/// use b2nd::error::file_kind;
/// assert_eq!(file_kind(b"\x93NUMPY\x01\x00"), Some("a NumPy file (.npy)"));
/// assert_eq!(file_kind(b"root:x:0:0"), Some("a text"));
/// assert_eq!(file_kind(&[0; 512]), None);
/// ```
pub fn file_kind(head: &[u8]) -> Option<&'static str> {
    if let Some((_, name)) = KINDS.iter().find(|(first, _)| head.starts_with(first)) {
        return Some(name);
    }
    let head = head.get(..LOOKED_AT).unwrap_or(head);
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (!text.is_empty() && text.chars().all(plain)).then_some("a text")
}

#[cfg(test)]
mod tests {
    use super::file_kind;

    #[test]
    fn files_are_named_by_their_first_bytes() {
        for (head, name) in [
            (&b"PK\x03\x04\x14\0"[..], Some("a zip file (.npz, .zip)")),
            (b"\x89HDF\r\n\x1a\n\0", Some("an HDF5 file (.h5, .nc)")),
            ("größer\n".as_bytes(), Some("a text")),
            (&"größer".as_bytes()[..3], Some("a text")),
            (b"\x9e\xa8b2frame\0", None),
            (b"\0\0\0\0", None),
            (b"", None),
        ] {
            assert_eq!(file_kind(head), name, "{head:?}");
        }
    }
}
