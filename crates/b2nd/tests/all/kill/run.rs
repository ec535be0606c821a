//! A process that changes a frame without end and says so after each commit, and one that kills it.

use b2nd::schunk::{CreateOptions, FrameTransaction};
use b2nd::{Durability, Exec, Layout, OpenOptions, Params, SChunk};
use b2nd_testkit::rng::Rng;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a child is told: the path, then what it waits for.
const TOLD: &str = "B2ND_KILL_CHILD";
/// The bytes of a chunk.
const CHUNK: usize = 2000;
/// The bytes of a metalayer that makes the header reach over the edge of two pages, where a kill can tear it.
const LONG: usize = 4500;

/// What the frame holds: it follows from the number of commits alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) chunks: Vec<Vec<u8>>,
    /// The commits so far, which the frame has in a metalayer.
    commits: u64,
}

#[derive(Debug)]
enum Change {
    Insert(usize, Vec<u8>),
    Update(usize, Vec<u8>),
    Delete(usize),
}

impl Model {
    /// The changes of the next commit, which are made here.
    fn next(&mut self) -> Vec<Change> {
        self.commits += 1;
        let mut rng = Rng::new(self.commits);
        let count = 1 + rng.below(3);
        (0..count).map(|_| self.change(&mut rng)).collect()
    }
    fn change(&mut self, rng: &mut Rng) -> Change {
        let len = self.chunks.len();
        let chunk = match rng.below(3) {
            0 => rng.bytes(CHUNK),
            _ => vec![rng.below(256) as u8; CHUNK],
        };
        let at = rng.below(len as u64 + 1) as usize;
        if len > 0 && (len > 30 || rng.chance(20)) {
            self.chunks.remove(at.min(len - 1));
            return Change::Delete(at.min(len - 1));
        }
        if len > 0 && rng.chance(50) {
            self.chunks[at.min(len - 1)].clone_from(&chunk);
            return Change::Update(at.min(len - 1), chunk);
        }
        self.chunks.insert(at, chunk.clone());
        Change::Insert(at, chunk)
    }
    fn go_to(&mut self, commits: u64) {
        while self.commits < commits {
            self.next();
        }
    }
}

/// The commits that a frame has seen.
fn count(schunk: &SChunk) -> u64 {
    let found = schunk.metalayers().find(|(name, _)| *name == "count").unwrap().1;
    u64::from_be_bytes(found.try_into().unwrap())
}

fn stage(t: &mut FrameTransaction<'_>, model: &Model, changes: &[Change]) -> b2nd::Result<()> {
    for change in changes {
        match change {
            Change::Insert(n, chunk) => t.insert(*n as u64, chunk)?,
            Change::Update(n, chunk) => t.update(*n as u64, chunk)?,
            Change::Delete(n) => t.delete(*n as u64)?,
        }
    }
    if model.commits.is_multiple_of(5) {
        t.set_vlmetalayer("note", &model.commits.to_be_bytes())?;
        t.set_metalayer("long", &Rng::new(model.commits).bytes(LONG))?;
    }
    t.set_metalayer("count", &model.commits.to_be_bytes())
}

/// Changes the frame that it was told of until somebody ends it.
pub(crate) fn child() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let (path, durability) = told.rsplit_once('|').unwrap();
    let durability = if durability == "full" { Durability::Full } else { Durability::None };
    let options = OpenOptions::new().with_write(true).with_exec(Exec::new(1)).with_durability(durability);
    let mut schunk = SChunk::open(path, &options).unwrap();
    let mut model = Model::default();
    model.go_to(count(&schunk));
    let mut out = std::io::stdout();
    loop {
        let changes = model.next();
        let mut t = schunk.transaction();
        stage(&mut t, &model, &changes).unwrap();
        t.commit().unwrap();
        writeln!(out, "\ndone {}", model.commits).unwrap();
        out.flush().unwrap();
        if model.commits.is_multiple_of(100) {
            schunk.compact().unwrap();
        }
    }
}

/// Name of the test `child` of the parent module, by which the test program starts itself again.
fn child_test() -> String {
    let module = module_path!().split_once("::").unwrap().1;
    format!("{}::child", module.rsplit_once("::").unwrap().0)
}

fn start(path: &Path, durability: &str) -> Child {
    let told = format!("{}|{durability}", path.display());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&*child_test(), "--exact", "--ignored", "--nocapture"]).env(TOLD, told);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Lets a child write until it has acknowledged some commits, kills it a moment later, and returns the last one.
fn kill_one(path: &Path, durability: &str, rng: &mut Rng, look: &mut dyn FnMut()) -> Option<u64> {
    let mut child = start(path, durability);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = None;
    let wanted = rng.below(12);
    let acknowledged = |line: std::io::Result<String>| line.ok()?.strip_prefix("done ")?.parse().ok();
    if wanted > 0 {
        last = lines.by_ref().filter_map(acknowledged).nth(wanted as usize - 1);
        assert!(last.is_some(), "the writer ended by itself");
    }
    let (started, long) = (Instant::now(), rng.below(if wanted > 0 { 3000 } else { 12_000 }));
    while started.elapsed() < Duration::from_micros(long) {
        look();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines.filter_map(acknowledged).last().or(last)
}

fn create(path: &Path, layout: Layout) {
    let new = CreateOptions::new(Params::new(4)).with_chunksize(CHUNK as u32).with_layout(layout);
    let new = new.with_metalayer("long", [0; LONG]).with_metalayer("count", 0u64.to_be_bytes());
    new.create(path).unwrap();
}

/// Kills this many writers of one frame, and looks at it after each; gives the path and what is there at the end.
pub(crate) fn kill_writers(name: &str, layout: Layout, kills: u64) -> (Folder, PathBuf, Model) {
    let folder = Folder::new(name);
    let path = folder.0.join("frame");
    create(&path, layout);
    let mut rng = Rng::new(kills);
    let (mut model, mut acknowledged, mut beyond) = (Model::default(), 0, 0);
    let (mut seen, mut looks) = (Model::default(), 0);
    // A commit of another process removes chunk files: a reader of a directory may miss some.
    let mut look = || match layout {
        Layout::Contiguous => {
            let schunk = SChunk::open(&path, &OpenOptions::new().with_exec(Exec::new(1))).unwrap();
            seen.go_to(count(&schunk));
            assert_eq!(read(&schunk), seen, "while somebody writes");
            looks += 1;
        }
        Layout::Sparse => std::thread::sleep(Duration::from_micros(100)),
    };
    for n in 0..kills {
        let durability = if n.is_multiple_of(4) { "full" } else { "none" };
        acknowledged =
            kill_one(&path, durability, &mut rng, &mut look).unwrap_or(acknowledged).max(acknowledged);
        let schunk = SChunk::open(&path, &OpenOptions::new().with_exec(Exec::new(1))).unwrap();
        let found = count(&schunk);
        assert!(
            found >= acknowledged,
            "kill {n}: commit {acknowledged} was acknowledged, and {found} is there"
        );
        beyond += u64::from(found > acknowledged);
        acknowledged = found;
        model.go_to(found);
        assert_eq!(read(&schunk), model, "kill {n}");
        let note = schunk.vlmetalayer("note").unwrap();
        assert_eq!(
            note.map(|note| note.to_vec()),
            (found >= 5).then(|| (found / 5 * 5).to_be_bytes().to_vec())
        );
    }
    println!(
        "{kills} killed, {acknowledged} commits, {beyond} times one more than acknowledged, {looks} looks meanwhile"
    );
    assert!(acknowledged > kills, "{acknowledged}");
    let left = folder.names().iter().filter(|name| name.contains(".tmp-")).count() as u64;
    assert!(left <= kills, "{left} temporary files");
    (folder, path, model)
}

fn read(schunk: &SChunk) -> Model {
    let chunks = (0..schunk.nchunks()).map(|n| schunk.decompress_chunk(n).unwrap()).collect();
    Model { chunks, commits: count(schunk) }
}

/// A folder that goes away with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("b2nd-kill-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
