//! The threads behind a stream: chunk buffers come filled, go to the frame compressed, and come back empty.

use crate::array::grid::Grid;
use crate::array::process::ShownChunk;
use crate::array::process::process_chunk;
use crate::array::stream::slabs::Budget;
use crate::array::write::CANCEL_CHECK;
use crate::array::write::Queue;
use crate::chunk;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::zeroed;
use crate::schunk::Processing;
use crate::schunk::SChunk;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::thread::JoinHandle;

/// A filled chunk.
#[derive(Debug)]
pub(super) struct ChunkJob {
    /// Its turn: jobs are numbered as they come.
    pub(super) task: usize,
    /// Its number in the frame.
    pub(super) chunk: u64,
    /// Its position in the array of that moment.
    pub(super) position: Vec<u64>,
    pub(super) grid: Arc<Grid>,
    pub(super) bytes: Vec<u8>,
    /// The bytes of the array that it holds, for the progress.
    pub(super) items: u64,
}

/// What all threads of a stream share.
pub(super) struct Crew {
    pub(super) queue: Queue<Box<SChunk>>,
    desk: Mutex<Desk>,
    turned: Condvar,
    exec: Exec,
    params: chunk::Params,
    context: chunk::Context,
    processing: Processing,
    /// The most that a chunk takes while it is compressed.
    packed_bytes: usize,
    chunk_bytes: usize,
    buffers: usize,
}

#[derive(Default)]
struct Desk {
    jobs: VecDeque<ChunkJob>,
    idle: Vec<Vec<u8>>,
    made: usize,
    /// Jobs that somebody works on.
    active: usize,
    closed: bool,
    failed: bool,
    /// What failed first, until somebody is told.
    failure: Option<Error>,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("buffers", &self.buffers).finish_non_exhaustive()
    }
}

impl Crew {
    pub(super) fn new(schunk: SChunk, budget: Budget, chunk_bytes: usize, packed_bytes: usize) -> Self {
        let (exec, params) = (schunk.exec().clone(), schunk.params().clone());
        let (context, processing) = (schunk.context().clone(), schunk.processing().clone());
        Crew {
            queue: Queue::new(Box::new(schunk), budget.threads),
            desk: Mutex::default(),
            turned: Condvar::new(),
            exec,
            params,
            context,
            processing,
            packed_bytes,
            chunk_bytes,
            buffers: budget.buffers,
        }
    }

    pub(super) fn exec(&self) -> &Exec {
        &self.exec
    }

    /// Starts `threads` threads. One that cannot be made is not missed: whoever waits for a buffer does the work.
    pub(super) fn start(self: &Arc<Self>, threads: usize) -> Vec<JoinHandle<()>> {
        let work = |crew: Arc<Crew>| move || crew.serve();
        (0..threads).map_while(|_| std::thread::Builder::new().spawn(work(self.clone())).ok()).collect()
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'d>(&self, desk: MutexGuard<'d, Desk>) -> MutexGuard<'d, Desk> {
        // A thrown switch wakes nobody, so who waits looks now and then.
        self.turned.wait_timeout(desk, CANCEL_CHECK).unwrap_or_else(PoisonError::into_inner).0
    }

    /// The life of a thread: jobs until the desk is closed.
    fn serve(&self) {
        let _alarm = CrewAlarm(self);
        self.exec.with_scratch(|scratch| {
            let mut packed = Vec::new();
            loop {
                let mut desk = self.desk();
                let job = loop {
                    match desk.next_job() {
                        Some(job) => break job,
                        None if desk.closed => return,
                        // Nobody has to be noticed here but by a turn of the desk.
                        None => desk = self.turned.wait(desk).unwrap_or_else(PoisonError::into_inner),
                    }
                };
                drop(desk);
                self.work(job, scratch, &mut packed);
            }
        });
    }

    /// Compresses one chunk and puts it into the frame in its turn.
    fn work(&self, mut job: ChunkJob, scratch: &mut Scratch, packed: &mut Vec<u8>) {
        let alarm = self.queue.alarm();
        let result = self.preprocess(&mut job).and_then(|()| self.encode(&job.bytes, scratch, packed));
        let result = result.map(|()| &packed[..]);
        let result = self.queue.push(job.task, job.chunk, result, &self.exec);
        drop(alarm);
        if result.is_ok() && self.exec.has_progress() {
            self.exec.progress(job.items);
        }
        let mut desk = self.desk();
        desk.active -= 1;
        desk.idle.push(job.bytes);
        if let Err(error) = result {
            desk.fail(error);
        }
        drop(desk);
        self.turned.notify_all();
    }

    fn preprocess(&self, job: &mut ChunkJob) -> Result<()> {
        let Some(hook) = &self.processing.pre else { return Ok(()) };
        let chunk = ShownChunk { number: job.chunk, position: &job.position };
        process_chunk(hook, &job.grid, chunk, &mut job.bytes)
    }

    /// Puts the chunk into the place of what `packed` holds.
    fn encode(&self, bytes: &[u8], scratch: &mut Scratch, packed: &mut Vec<u8>) -> Result<()> {
        self.exec.check_cancelled()?;
        let room = self.packed_bytes as u64;
        let more = self.packed_bytes.saturating_sub(packed.len());
        packed.try_reserve_exact(more).map_err(|_| Error::out_of_memory("a chunk", room))?;
        chunk::encode_one(&bytes, &self.params, &self.context, scratch, packed)
    }

    /// Hands over a copy of a chunk that is filled on.
    pub(super) fn submit_copy(&self, mut job: ChunkJob, bytes: &[u8]) -> Result<()> {
        job.bytes = self.buffer()?;
        job.bytes.copy_from_slice(bytes);
        self.submit(job);
        Ok(())
    }

    /// What went wrong on another thread since the last call.
    pub(super) fn check(&self) -> Result<()> {
        self.desk().check()
    }

    /// Hands over a filled chunk.
    pub(super) fn submit(&self, job: ChunkJob) {
        self.desk().jobs.push_back(job);
        self.turned.notify_all();
    }

    /// A buffer of zeros for a chunk. Where there is none left, this thread compresses, or waits for those that do.
    pub(super) fn buffer(&self) -> Result<Vec<u8>> {
        let mut packed = Vec::new();
        loop {
            self.exec.check_cancelled()?;
            let mut desk = self.desk();
            desk.check()?;
            if let Some(mut idle) = desk.idle.pop() {
                drop(desk);
                idle.fill(0);
                return Ok(idle);
            }
            if desk.made < self.buffers {
                desk.made += 1;
                drop(desk);
                return zeroed("a chunk", self.chunk_bytes as u64);
            }
            self.help(desk, &mut packed);
        }
    }

    /// Waits until every job is done, and works on them.
    pub(super) fn drain(&self) -> Result<()> {
        let mut packed = Vec::new();
        loop {
            self.exec.check_cancelled()?;
            let mut desk = self.desk();
            desk.check()?;
            if desk.jobs.is_empty() && desk.active == 0 {
                return Ok(());
            }
            self.help(desk, &mut packed);
        }
    }

    /// Does a job, where there is one; waits for a turn of the desk otherwise.
    fn help(&self, mut desk: MutexGuard<'_, Desk>, packed: &mut Vec<u8>) {
        match desk.next_job() {
            Some(job) => {
                drop(desk);
                self.exec.with_scratch(|scratch| self.work(job, scratch, packed));
            }
            None => drop(self.wait(desk)),
        }
    }

    /// Sends the threads home. Jobs that are left are dropped when `abandon` is set.
    pub(super) fn close(&self, abandon: bool) {
        let mut desk = self.desk();
        desk.closed = true;
        if abandon {
            desk.jobs.clear();
        }
        drop(desk);
        self.turned.notify_all();
    }
}

impl Desk {
    fn next_job(&mut self) -> Option<ChunkJob> {
        if self.failed {
            self.jobs.clear();
        }
        let job = self.jobs.pop_front();
        self.active += usize::from(job.is_some());
        job
    }
    fn fail(&mut self, error: Error) {
        self.failed = true;
        self.failure.get_or_insert(error);
    }
    /// What failed, once; then that something did.
    fn check(&mut self) -> Result<()> {
        match self.failure.take() {
            Some(error) => Err(error),
            None if self.failed => Err(Error::state("a write of this stream failed before: start another")),
            None => Ok(()),
        }
    }
}

/// Lets nobody wait for a thread that panics.
struct CrewAlarm<'c>(&'c Crew);

impl Drop for CrewAlarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.desk().fail(Error::usage("a thread of the stream panicked"));
            self.0.turned.notify_all();
        }
    }
}
