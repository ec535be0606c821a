//! `b2nd cat`: the decompressed bytes of anything that can be read.

use std::path::Path;

use b2nd::chunk::{self, ChunkHeader, Context};
use b2nd::{Exec, SChunk};

use crate::args::Cat;
use crate::failure::{Failure, Outcome, Result};
use crate::open::{self, Opened};
use crate::output::{self, Draft};
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::view::View;
use crate::{input, report};

pub(super) fn run(args: &Cat) -> Result<Outcome> {
    let standard = output::is_standard(&args.output);
    output::check_output(&args.file, &args.output, args.force)?;
    let exec = args.work.exec();
    let nbytes = if let Some(bare) = open::chunk(&args.file, args.place)? {
        let nbytes = u64::from(bare.header.nbytes());
        let mut sink = Sink::new(args, nbytes)?;
        sink.chunk(&bare.bytes, &Context::default(), &exec).map_err(|failure| failure.about(&args.file))?;
        sink.finish()?;
        nbytes
    } else {
        match open::any(&args.file, args.place, exec.clone())? {
            Opened::Array(array) => {
                let view = View::parse(array.shape(), None)?;
                super::export::write_items(&array, &view, &[], &args.output, args.force, &args.work)
                    .map_err(|failure| failure.about(&args.file))?;
                array.nbytes()
            }
            Opened::Frame(schunk) => frame(args, &schunk, &exec)?,
        }
    };
    if !standard {
        output::summary(&format!("{}: {}", args.output.shown(), report::count(nbytes, "byte")))?;
    }
    Ok(Outcome::Good)
}

/// All chunks of a frame, one after the other; the number of their bytes.
fn frame(args: &Cat, schunk: &SChunk, exec: &Exec) -> Result<u64> {
    let mut sink = Sink::new(args, schunk.nbytes())?;
    for n in 0..schunk.nchunks() {
        let about = |failure: Failure| failure.about(&args.file);
        let chunk = schunk.chunk(n).map_err(|error| about(error.into()))?;
        sink.chunk(&chunk, schunk.context(), exec).map_err(about)?;
    }
    sink.finish()
}

/// Where the bytes go.
struct Sink<'a> {
    args: &'a Cat,
    /// The file that is made; without one, standard output.
    draft: Option<Draft>,
    written: u64,
    buffer: Vec<u8>,
    progress: Progress,
}

impl<'a> Sink<'a> {
    fn new(args: &'a Cat, nbytes: u64) -> Result<Self> {
        let path: &Path = &args.output;
        let draft = if output::is_standard(path) { None } else { Some(Draft::new(path, "out")?) };
        Ok(Sink { args, draft, written: 0, buffer: Vec::new(), progress: Progress::new("cat", nbytes) })
    }

    /// Decompresses a chunk, as much at a time as fits the memory.
    fn chunk(&mut self, chunk: &[u8], context: &Context, exec: &Exec) -> Result<()> {
        let header = ChunkHeader::parse(chunk)?;
        let nbytes = u64::from(header.nbytes());
        if header.is_variable() {
            // Its blocks have no places that could be worked out: it is decoded whole.
            let items = chunk::decode(chunk, context.clone(), exec)?;
            return self.put(&items);
        }
        // Whole blocks: none is decoded twice.
        let block = u64::from(header.blocksize()).max(1);
        let share = (self.args.work.budget() / block).max(1).saturating_mul(block);
        let mut start = 0;
        while start < nbytes {
            let len = (nbytes - start).min(share);
            let mut buffer = std::mem::take(&mut self.buffer);
            input::resize(&mut buffer, len, 1)?;
            let from = usize::try_from(start).unwrap_or(usize::MAX);
            chunk::decode_range(chunk, from, &mut buffer, context.clone(), exec)?;
            self.put(&buffer)?;
            self.buffer = buffer;
            start += len;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.draft {
            Some(draft) => draft.write_at(self.written, bytes)?,
            None => output::print_bytes(bytes)?,
        }
        self.written += bytes.len() as u64;
        self.progress.add(bytes.len() as u64);
        Ok(())
    }

    /// Gives the file its name; the number of bytes.
    fn finish(self) -> Result<u64> {
        if let Some(draft) = self.draft {
            draft.keep(self.args.force)?;
        }
        Ok(self.written)
    }
}
