//! What a level asks of the encoder, and how soon it gives up.

use b2nd_kernel::blosclz;
use b2nd_kernel::blosclz::Effort;
use b2nd_kernel::blosclz::Probe;

/// The encoder and its table.
#[derive(Default)]
pub(in crate::codec) struct BloscLzEncoder(blosclz::Encoder);

impl BloscLzEncoder {
    /// Encodes `src` into `dst`; `None` where the result does not fit or little is to be gained.
    pub(in crate::codec) fn encode(&mut self, clevel: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if self.0.pays(&probe(clevel), src) { self.0.encode(&effort(clevel), src, dst) } else { None }
    }
}

/// The part of a stream to look at first, and the ratio that is worth the time of readers.
///
/// The ratios are those of C-Blosc2: low levels leave alone what would be read fast, and shrink little.
fn probe(clevel: u8) -> Probe {
    let (divisor, most, percent) = match clevel {
        ..=1 => (8, 1 << 12, 200),
        2 => (4, 1 << 13, 150),
        3 => (4, 1 << 14, 120),
        4..=6 => (2, 1 << 14, 120),
        7 => (1, 1 << 14, 115),
        8 => (1, 1 << 14, 110),
        _ => (1, 1 << 14, 100),
    };
    Probe { divisor, most, percent }
}

fn effort(clevel: u8) -> Effort {
    let (hash_log, skip_log, shortest, shortest_far, dense) = match clevel {
        ..=1 => (12, 5, 6, 8, false),
        2 => (13, 5, 6, 8, false),
        3..=5 => (14, 6, 6, 8, false),
        6..=8 => (14, 7, 6, 8, false),
        _ => (14, 7, 6, 8, true),
    };
    Effort { hash_log, skip_log, shortest, shortest_far, dense }
}
