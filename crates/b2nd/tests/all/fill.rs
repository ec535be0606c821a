//! One array, filled by many processes that are killed at random, against a sequential model.

#![expect(clippy::unwrap_used, reason = "tests")]

use b2nd::array::{FillJob, FillReceipt};
use b2nd::{Array, Dtype, Exec, Layout, OpenOptions, Options, SaveOptions, Selection, s};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const SHAPE: [u64; 3] = [45, 50, 33];
const CHUNKS: [u64; 3] = [4, 5, 6];
const WORKERS: usize = 6;
/// What a process of this test is when it is run by another.
const ROLE: &str = "B2ND_TEST_FILL_WORKER";

/// The item at a place, as any worker computes it.
fn item(at: [u64; 3]) -> u32 {
    (at[0] * 7919 + at[1] * 104_729 + at[2] * 31) as u32
}

fn items(start: [u64; 3], stop: [u64; 3]) -> Vec<u8> {
    let mut out = Vec::new();
    for a in start[0]..stop[0] {
        for b in start[1]..stop[1] {
            out.extend((start[2]..stop[2]).flat_map(|c| item([a, b, c]).to_le_bytes()));
        }
    }
    out
}

/// Numbers that look random, from a seed.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
    /// Whole chunks: one or two along each axis.
    fn region(&mut self) -> ([u64; 3], [u64; 3]) {
        let (mut start, mut stop) = ([0; 3], [0; 3]);
        for d in 0..3 {
            let first = self.below(SHAPE[d].div_ceil(CHUNKS[d]));
            start[d] = first * CHUNKS[d];
            stop[d] = ((first + 1 + self.below(2)) * CHUNKS[d]).min(SHAPE[d]);
        }
        (start, stop)
    }
}

/// A worker: random regions for ever, a line for each receipt.
fn work(path: &Path, seed: u64) {
    let job = FillJob::join_with(path, &OpenOptions::new().with_exec(Exec::new(1))).unwrap();
    let mut rng = Rng(seed);
    let mut out = std::io::stdout();
    loop {
        let (start, stop) = rng.region();
        let bounds: Selection = s![start[0]..stop[0], start[1]..stop[1], start[2]..stop[2]];
        for receipt in job.write_bytes(bounds, &items(start, stop)).unwrap() {
            // A line that is cut off by a kill is no receipt.
            if writeln!(out, "{receipt}").and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    }
}

struct Crew {
    path: PathBuf,
    children: Vec<Child>,
    receipts: mpsc::Receiver<FillReceipt>,
    to: mpsc::Sender<FillReceipt>,
    seed: u64,
}

impl Crew {
    fn new(path: &Path, seed: u64) -> Self {
        let (to, receipts) = mpsc::channel();
        let mut crew = Crew { path: path.to_path_buf(), children: Vec::new(), receipts, to, seed };
        (0..WORKERS).for_each(|_| crew.hire());
        crew
    }

    fn hire(&mut self) {
        self.seed += 1;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fill::many_processes_fill_one_array", "--nocapture"])
            .env(ROLE, format!("{} {}", self.seed, self.path.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (lines, to) = (BufReader::new(child.stdout.take().unwrap()).lines(), self.to.clone());
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The test runner has lines of its own.
                if let Ok(receipt) = line.parse()
                    && to.send(receipt).is_err()
                {
                    return;
                }
            }
        });
        self.children.push(child);
    }

    /// Kills one, as the system does when memory is short, and puts another in its place.
    fn kill(&mut self, which: usize) {
        let mut child = self.children.swap_remove(which);
        child.kill().unwrap();
        child.wait().unwrap();
        self.hire();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Fills an array with workers that are killed; how often one was.
fn fill(place: &Path, layout: Layout, seed: u64) -> usize {
    let path = place.join("array.b2nd");
    let options = Options::new().with_chunks(CHUNKS).with_layout(layout);
    drop(options.begin_fill(&path, Dtype::parse("<u4").unwrap(), SHAPE).unwrap());
    let job = FillJob::join(&path).unwrap();
    let mut crew = Crew::new(&path, seed);
    let mut rng = Rng(seed ^ 0x5eed);
    let (mut waiting, mut kills) = (Vec::new(), 0);
    loop {
        waiting.extend(crew.receipts.recv_timeout(Duration::from_secs(60)));
        waiting.extend(crew.receipts.try_iter().take(40));
        if rng.below(3) > 0 {
            crew.kill(rng.below(WORKERS as u64) as usize);
            kills += 1;
        }
        if waiting.len() < 40 {
            continue;
        }
        // What is visible is always whole: the model's items, or chunks that nobody has committed.
        let filled = job.commit(&waiting).unwrap();
        waiting.clear();
        let seen = Array::open(&path).unwrap();
        let (start, stop) = rng.region();
        let bounds = s![start[0]..stop[0], start[1]..stop[1], start[2]..stop[2]];
        let (read, model) = (seen.read_bytes(bounds).unwrap(), items(start, stop));
        let pairs = read.chunks(4).zip(model.chunks(4));
        assert!(pairs.into_iter().all(|(read, model)| read == model || read == [0; 4]), "seed {seed}");
        if filled.missing == 0 {
            break;
        }
    }
    drop(crew);
    let packed = place.join("packed.b2nd");
    job.pack(&waiting, &packed, &SaveOptions::new()).unwrap();
    for path in [&path, &packed] {
        let read = Array::open(path).unwrap().read_bytes(s![]).unwrap();
        assert!(read == items([0; 3], SHAPE), "seed {seed}: {}", path.display());
    }
    assert!(!place.join("array.b2nd.parts").exists());
    kills
}

#[test]
fn many_processes_fill_one_array() {
    if let Ok(role) = std::env::var(ROLE) {
        let (seed, path) = role.split_once(' ').unwrap();
        return work(Path::new(path), seed.parse().unwrap());
    }
    for (n, layout) in [Layout::Sparse, Layout::Contiguous].into_iter().enumerate() {
        let place = std::env::temp_dir().join(format!("b2nd-fill-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        let kills = fill(&place, layout, 20_261_121 + 1000 * n as u64);
        println!("{layout:?}: {kills} workers killed");
        assert!(kills > 10, "{layout:?}: only {kills} workers were killed");
        std::fs::remove_dir_all(&place).unwrap();
    }
}
