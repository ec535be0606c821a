//! Frames made by hand, whose numbers can claim anything.

use b2nd::chunk::{Special, encode, encode_special};
use b2nd::{Codec, Exec, Filter, Params, Pipeline};

/// What a frame says; as bytes it is consistent as far as nothing else is set.
#[derive(Clone)]
pub(crate) struct Forged {
    pub(crate) typesize: u32,
    pub(crate) blocksize: u32,
    pub(crate) chunksize: u32,
    pub(crate) nbytes: u64,
    pub(crate) filters: [u8; 6],
    /// The bytes between header and offsets.
    pub(crate) data: Vec<u8>,
    /// The chunk of the offsets.
    pub(crate) index: Vec<u8>,
    pub(crate) metalayers: Vec<(String, Vec<u8>)>,
    /// Names and chunks.
    pub(crate) vlmetalayers: Vec<(String, Vec<u8>)>,
}

impl Forged {
    /// Chunks of `chunksize` bytes, as many as there are offsets, of items of one byte.
    pub(crate) fn new(chunksize: u32, data: Vec<u8>, nchunks: u64, index: Vec<u8>) -> Self {
        Forged {
            typesize: 1,
            blocksize: 0,
            chunksize,
            nbytes: u64::from(chunksize) * nchunks,
            filters: [0; 6],
            data,
            index,
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
        }
    }

    /// As a one-dimensional array of bytes, in blocks of `block`.
    pub(crate) fn array(mut self, block: u32) -> Self {
        let mut meta = vec![0x97, 0, 1, 0x91, 0xd3];
        meta.extend(self.nbytes.to_be_bytes());
        meta.extend([0x91, 0xd2]);
        meta.extend(self.chunksize.to_be_bytes());
        meta.extend([0x91, 0xd2]);
        meta.extend(block.to_be_bytes());
        meta.extend([0, 0xdb, 0, 0, 0, 3]);
        meta.extend(b"|u1");
        self.metalayers.push(("b2nd".to_owned(), meta));
        self.blocksize = block;
        self
    }

    pub(crate) fn with_vlmetalayer(mut self, name: &str, chunk: Vec<u8>) -> Self {
        self.vlmetalayers.push((name.to_owned(), chunk));
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut trailer = vec![0x94, 1];
        section(&mut trailer, &self.vlmetalayers, 0);
        trailer.push(0xce);
        trailer.extend((trailer.len() as u32 + 4 + 18).to_be_bytes());
        trailer.extend([0xd8, 0]);
        trailer.extend([0; 16]);
        let mut header = vec![0; 87];
        section(&mut header, &self.metalayers, 1);
        let frame_len = (header.len() + self.data.len() + self.index.len() + trailer.len()) as u64;
        let header_len = header.len() as u32;
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x9e\xa8b2frame\0\xd2");
        put(11, &header_len.to_be_bytes());
        put(15, &[0xcf]);
        put(16, &frame_len.to_be_bytes());
        put(24, &[0xa4, 0x12, 0, 0x51, 2, 0xd3]);
        put(30, &self.nbytes.to_be_bytes());
        put(38, &[0xd3]);
        put(39, &(self.data.len() as u64).to_be_bytes());
        put(47, &[0xd2]);
        put(48, &self.typesize.to_be_bytes());
        put(52, &[0xd2]);
        put(53, &self.blocksize.to_be_bytes());
        put(57, &[0xd2]);
        put(58, &self.chunksize.to_be_bytes());
        put(62, &[0xd1, 0, 1, 0xd1, 0, 1, 0xc2 + u8::from(!self.vlmetalayers.is_empty())]);
        put(69, &[0xd8, 6]);
        put(71, &self.filters);
        put(77, &[1]);
        [header, self.data.clone(), self.index.clone(), trailer].concat()
    }
}

/// Named contents, as header and trailer have them.
fn section(out: &mut Vec<u8>, entries: &[(String, Vec<u8>)], more: u16) {
    let names: usize = entries.iter().map(|(name, _)| name.len() + 6).sum();
    out.extend([0x93, 0xcd]);
    out.extend((6 + more + names as u16).to_be_bytes());
    out.push(0xde);
    out.extend((entries.len() as u16).to_be_bytes());
    let mut at = out.len() + names + 3;
    for (name, content) in entries {
        out.push(0xa0 | name.len() as u8);
        out.extend(name.as_bytes());
        out.push(0xd2);
        out.extend((at as u32).to_be_bytes());
        at += 5 + content.len();
    }
    out.push(0xdc);
    out.extend((entries.len() as u16).to_be_bytes());
    for (_, content) in entries {
        out.push(0xc6);
        out.extend((content.len() as u32).to_be_bytes());
        out.extend(content);
    }
}

/// The chunk of offsets that are all the same.
pub(crate) fn uniform(raw: i64, nchunks: u64) -> Vec<u8> {
    encode_special(Special::Value, nchunks as u32 * 8, &raw.to_le_bytes(), &Params::new(8)).unwrap()
}

/// The chunk of these offsets.
pub(crate) fn index(offsets: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let bytes: Vec<u8> = offsets.into_iter().flat_map(i64::to_le_bytes).collect();
    let params = Params::new(8).with_codec(Codec::BloscLz).with_clevel(5).with_blocksize(Some(16 << 10));
    encode(&bytes, &params, &Exec::new(1)).unwrap()
}

/// A chunk of bytes that compress well, in blocks of `block` bytes.
pub(crate) fn runs(nbytes: usize, block: u32, codec: Codec) -> Vec<u8> {
    let mut items = vec![7; nbytes];
    items[nbytes / 2] = 1;
    let params = Params::new(1).with_codec(codec).with_clevel(5).with_pipeline(Pipeline::new());
    encode(&items, &params.with_blocksize(Some(block)), &Exec::new(1)).unwrap()
}

/// A chunk whose blocks are differences from its first.
pub(crate) fn delta(items: &[u8], block: u32) -> Vec<u8> {
    let pipeline = Pipeline::new().push(Filter::Delta, 0).unwrap();
    let params = Params::new(1).with_codec(Codec::Lz4).with_clevel(5).with_pipeline(pipeline);
    encode(items, &params.with_blocksize(Some(block)), &Exec::new(1)).unwrap()
}

/// The header of a chunk of one-byte items.
pub(crate) fn header(flags: u8, nbytes: u32, blocksize: u32, cbytes: u32) -> Vec<u8> {
    let mut chunk = vec![5, 1, flags, 1];
    for n in [nbytes, blocksize, cbytes] {
        chunk.extend(n.to_le_bytes());
    }
    chunk.extend([0; 16]);
    chunk
}
