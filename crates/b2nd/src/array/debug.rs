//! The short form of an array for debugging: what it is, without the bytes of its frame.

use crate::array::Array;
use std::fmt;

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array")
            .field("shape", &format_args!("{:?}", self.shape()))
            .field("dtype", &format_args!("{}", self.dtype()))
            .field("chunks", &format_args!("{:?}", self.chunks()))
            .field("blocks", &format_args!("{:?}", self.blocks()))
            .field("nbytes", &self.nbytes())
            .field("cbytes", &self.cbytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::array::{Dtype, Options};

    #[test]
    fn an_array_is_shown_in_a_short_line() {
        let array = Options::new().create_in_memory(Dtype::parse("<i4").unwrap(), [3000, 40]).unwrap();
        let (line, pretty) = (format!("{array:?}"), format!("{array:#?}"));
        assert!(line.starts_with("Array { shape: [3000, 40], dtype: <i4, chunks: ["), "{line}");
        assert!(line.len() < 200, "{line}");
        assert!(pretty.lines().count() < 12, "{pretty}");
    }
}
