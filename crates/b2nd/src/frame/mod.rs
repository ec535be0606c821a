//! Frames: header, metalayers, chunk offsets, trailer and vlmetalayers, contiguous and sparse. Parsing never touches a file.

pub mod plan;
