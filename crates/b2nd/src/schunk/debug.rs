//! The short form of a frame for debugging: what it is, without its bytes.

use super::handle::SChunk;
use super::snapshot::{FrameSnapshot, FrameState};
use std::fmt;

/// Writes what a frame, its state and its snapshot show.
fn show(name: &str, frame: &FrameState, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name)
        .field("path", &frame.path())
        .field("layout", &frame.layout())
        .field("nchunks", &frame.nchunks())
        .field("params", &frame.params())
        .finish_non_exhaustive()
}

impl fmt::Debug for SChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show("SChunk", self, f)
    }
}

impl fmt::Debug for FrameState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show("FrameState", self, f)
    }
}

impl fmt::Debug for FrameSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show("FrameSnapshot", self, f)
    }
}

#[cfg(test)]
mod tests {
    use crate::chunk::Params;
    use crate::schunk::CreateOptions;

    #[test]
    fn a_frame_is_shown_without_its_bytes() {
        let mut frame = CreateOptions::new(Params::new(4)).create_in_memory().unwrap();
        frame.append(&[7; 4000]).unwrap();
        let (line, snapshot) = (format!("{frame:?}"), format!("{:?}", frame.snapshot().unwrap()));
        assert!(
            line.starts_with("SChunk { path: None, layout: Contiguous, nchunks: 1, params: Params {"),
            "{line}"
        );
        assert!(snapshot.starts_with("FrameSnapshot { path: None, "), "{snapshot}");
        assert!(line.len() < 400, "{line}");
    }
}
