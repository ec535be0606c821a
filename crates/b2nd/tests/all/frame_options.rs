//! Each option of each builder has an effect, by its own method and by `with_frame_options`.

#![expect(clippy::unwrap_used, reason = "tests")]

use b2nd::registry::{BlockFilter, BlockInfo, BlockResult};
use b2nd::schunk::CreateOptions;
use b2nd::{
    Array, B2Lock, BlockPlace, Cancel, Dtype, Durability, Error, Exec, Filter, FrameOptions, Limits,
    OpenOptions, Options, Params, Pipeline, Registry, RepairOptions, Result, SChunk, SaveOptions, repair, s,
};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A folder that is removed when the test is over.
struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("b2nd-frame-options-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Temp(path)
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A filter of the user.
struct Invert;

impl BlockFilter for Invert {
    fn apply(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
        Ok(())
    }
    fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        self.apply(info, src, dst)
    }
}

/// A filter of the user that undoes nothing.
struct Refuse;

impl BlockFilter for Refuse {
    fn apply(&self, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> BlockResult<()> {
        Err("refused".into())
    }
    fn undo(&self, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> BlockResult<()> {
        Err("refused".into())
    }
}

fn registry() -> Registry {
    Registry::new().with_filter(200, "invert", Invert).unwrap()
}

/// Level 0, so that a flipped bit of the file is a flipped bit of an item.
fn params(user_filter: bool) -> Params {
    let id = if user_filter { 200 } else { 1 };
    Params::new(1)
        .with_clevel(if user_filter { 5 } else { 0 })
        .with_pipeline(Pipeline::new().push(Filter::from_id(id).unwrap(), 0).unwrap())
}

/// What a builder makes: bytes 1 to 100 at a path, read back.
trait Handle: Sized {
    fn all_items(&self) -> Result<Vec<u8>>;
    fn write_again(&mut self) -> Result<()>;
    fn frame(&self) -> &SChunk;
}

fn items() -> Vec<u8> {
    (1..=100).collect()
}

impl Handle for Array {
    fn all_items(&self) -> Result<Vec<u8>> {
        self.read_bytes(s![])
    }
    fn write_again(&mut self) -> Result<()> {
        self.write_bytes(s![], &items())
    }
    fn frame(&self) -> &SChunk {
        self.schunk()
    }
}

impl Handle for SChunk {
    fn all_items(&self) -> Result<Vec<u8>> {
        self.decompress_chunk(0)
    }
    fn write_again(&mut self) -> Result<()> {
        self.update(0, &items())
    }
    fn frame(&self) -> &SChunk {
        self
    }
}

/// A builder of handles, with a function that makes one at a path.
trait Builder: Clone + Default + std::fmt::Debug {
    type Made: Handle;
    /// Items through a filter of the user where `user_filter` says so.
    fn make(self, path: &Path, user_filter: bool) -> Result<Self::Made>;
}

impl Builder for Options {
    type Made = Array;
    fn make(self, path: &Path, user_filter: bool) -> Result<Array> {
        let mut array = self.with_params(params(user_filter)).create(path, Dtype::of::<u8>(), [100])?;
        array.write_again()?;
        Ok(array)
    }
}

impl Builder for CreateOptions {
    type Made = SChunk;
    fn make(self, path: &Path, user_filter: bool) -> Result<SChunk> {
        self.with_params(params(user_filter)).create_with(path, |t| t.append(&items()))
    }
}

impl Builder for OpenOptions {
    type Made = Array;
    fn make(self, path: &Path, user_filter: bool) -> Result<Array> {
        Options::new().with_registry(registry()).make(path, user_filter).map(drop)?;
        let mut array = Array::open_with(path, &self.with_write(true))?;
        array.write_again()?;
        Ok(array)
    }
}

/// What a save or a repair makes: a file, and what was found on the way.
trait Copier: Clone + Default + std::fmt::Debug {
    fn copy(self, from: &Path, to: &Path) -> Result<()>;
}

impl Copier for SaveOptions {
    fn copy(self, from: &Path, to: &Path) -> Result<()> {
        SChunk::open(from, &OpenOptions::new())?.save(to, &self.with_overwrite(true))
    }
}

impl Copier for RepairOptions {
    fn copy(self, from: &Path, to: &Path) -> Result<()> {
        repair(from, to, &self.with_overwrite(true)).map(drop)
    }
}

/// A test for each option of each builder. `$check` gets a function that sets the option, by the method of the builder or in
/// `FrameOptions`, and must find its effect; the option that is set shows in both in the same way.
macro_rules! each_takes_effect {
    ($($test:ident: $builder:ident { $($option:ident => $check:ident),+ $(,)? })+) => {$(
        mod $test {
            use super::*;
            $(
                #[test]
                fn $option() {
                    let by_method = |value| $builder::default().$option(value);
                    let by_set = |value| $builder::default().with_frame_options(FrameOptions::new().$option(value));
                    $check(stringify!($test), by_method);
                    $check(stringify!($test), by_set);
                    assert_eq!(
                        format!("{:?}", by_method(value::$option())),
                        format!("{:?}", by_set(value::$option())),
                    );
                    let unset = format!("{:?}", $builder::default());
                    assert_ne!(format!("{:?}", by_method(value::$option())), unset);
                }
            )+
        }
    )+};
}

/// A value that is not the default, for each option.
mod value {
    use super::*;
    pub(super) type Closure = fn(&BlockPlace<'_>, &mut [u8]) -> Result<()>;

    pub(super) fn with_exec() -> Exec {
        Exec::new(7)
    }
    pub(super) fn with_limits() -> Limits {
        Limits::default().with_max_chunk_bytes(10)
    }
    pub(super) fn with_registry() -> Registry {
        registry()
    }
    pub(super) fn with_durability() -> Durability {
        Durability::None
    }
    pub(super) fn with_checksums() -> bool {
        false
    }
    pub(super) fn with_checks() -> bool {
        false
    }
    pub(super) fn with_owner_lock() -> bool {
        false
    }
    pub(super) fn with_b2lock() -> B2Lock {
        B2Lock::Always
    }
    pub(super) fn with_lock_patience() -> Duration {
        Duration::from_millis(20)
    }
    pub(super) fn with_block_cache() -> u64 {
        1 << 20
    }
    pub(super) fn with_preprocess() -> Closure {
        |_, bytes| {
            bytes.iter_mut().for_each(|byte| *byte ^= 0x80);
            Ok(())
        }
    }
    pub(super) fn with_postprocess() -> Closure {
        with_preprocess()
    }
}

each_takes_effect! {
    create: Options {
        with_exec => stops, with_limits => limits, with_registry => filters, with_durability => is_set,
        with_checksums => omits_checksums, with_checks => reads_damage, with_owner_lock => lets_others_write,
        with_b2lock => makes_lock_file, with_lock_patience => waits_shortly, with_block_cache => caches,
        with_preprocess => changes_items, with_postprocess => changes_items,
    }
    create_schunk: CreateOptions {
        with_exec => stops, with_limits => limits, with_registry => filters, with_durability => is_set,
        with_checksums => omits_checksums, with_checks => reads_damage, with_owner_lock => lets_others_write,
        with_b2lock => makes_lock_file, with_lock_patience => waits_shortly, with_block_cache => caches,
        with_preprocess => changes_items, with_postprocess => changes_items,
    }
    open: OpenOptions {
        with_exec => stops, with_limits => limits, with_registry => filters, with_durability => is_set,
        with_checksums => omits_checksums, with_checks => reads_damage, with_owner_lock => lets_others_write,
        with_b2lock => makes_lock_file, with_lock_patience => waits_shortly, with_block_cache => caches,
        with_preprocess => changes_items, with_postprocess => changes_items,
    }
    save: SaveOptions {
        with_exec => stops_copy, with_durability => is_set, with_checksums => copies_without_checksums,
        with_owner_lock => replaces_written,
    }
    repaired: RepairOptions {
        with_exec => stops_copy, with_limits => limits_copy, with_registry => decodes_to_repair, with_durability => is_set,
        with_checksums => copies_without_checksums, with_owner_lock => replaces_written,
    }
}

/// What it does, waiting for the medium or not, no test can see; that it is set shows in the builder.
fn is_set<T>(_: &str, _: impl Fn(Durability) -> T) {}

fn stops<B: Builder>(test: &str, set: impl Fn(Exec) -> B) {
    let temp = Temp::new(&format!("{test}-exec"));
    let cancel = Cancel::new();
    let made = set(Exec::new(1).with_cancel(cancel.clone())).make(&temp.path("a"), false).unwrap();
    assert_eq!(made.all_items().unwrap(), items());
    cancel.cancel();
    assert!(matches!(made.all_items(), Err(Error::Cancelled)));
}

fn limits<B: Builder>(test: &str, set: impl Fn(Limits) -> B) {
    let temp = Temp::new(&format!("{test}-limits"));
    let made = set(value::with_limits()).make(&temp.path("a"), false);
    assert!(matches!(made.and_then(|made| made.all_items()), Err(Error::Limit { .. })));
}

fn filters<B: Builder>(test: &str, set: impl Fn(Registry) -> B) {
    let temp = Temp::new(&format!("{test}-registry"));
    assert_eq!(set(registry()).make(&temp.path("a"), true).unwrap().all_items().unwrap(), items());
    assert!(B::default().make(&temp.path("b"), true).and_then(|made| made.all_items()).is_err());
}

fn omits_checksums<B: Builder>(test: &str, set: impl Fn(bool) -> B) {
    let temp = Temp::new(&format!("{test}-checksums"));
    assert!(!set(false).make(&temp.path("a"), false).unwrap().frame().has_checksums().unwrap());
    assert!(B::default().make(&temp.path("b"), false).unwrap().frame().has_checksums().unwrap());
}

/// Flips a bit of an item, wherever it is in a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(&items()) {
            bytes[at + 5] ^= 0x40;
        }
    }
    fs::write(path, bytes).unwrap();
}

fn reads_damage<B: Builder>(test: &str, set: impl Fn(bool) -> B) {
    let temp = Temp::new(&format!("{test}-checks"));
    let read = |checks| {
        let made = set(checks).make(&temp.path(&format!("{checks}")), false).unwrap();
        damage(&temp.path(&format!("{checks}")));
        made.all_items()
    };
    assert_eq!(read(false).unwrap()[5], items()[5] ^ 0x40);
    assert!(matches!(read(true), Err(Error::Format(_))));
}

fn lets_others_write<B: Builder>(test: &str, set: impl Fn(bool) -> B) {
    let temp = Temp::new(&format!("{test}-owner"));
    let second = |lock| {
        let path = temp.path(&format!("{lock}"));
        let _first = set(lock).make(&path, false).unwrap();
        SChunk::open(&path, &OpenOptions::new().with_write(true)).map(drop)
    };
    assert!(second(false).is_ok());
    assert!(matches!(second(true), Err(Error::Locked(_))));
}

fn makes_lock_file<B: Builder>(test: &str, set: impl Fn(B2Lock) -> B) {
    let temp = Temp::new(&format!("{test}-b2lock"));
    let found = |when| {
        let name = format!("{when:?}");
        set(when).make(&temp.path(&name), false).unwrap().write_again().unwrap();
        temp.path(&format!("{name}.b2lock")).exists()
    };
    assert!(found(B2Lock::Always));
    assert!(!found(B2Lock::IfThere));
}

fn waits_shortly<B: Builder>(test: &str, set: impl Fn(Duration) -> B) {
    let temp = Temp::new(&format!("{test}-patience"));
    let mut made = set(value::with_lock_patience()).make(&temp.path("a"), false).unwrap();
    let lock = File::create(temp.path("a.b2lock")).unwrap();
    lock.lock().unwrap();
    let start = std::time::Instant::now();
    assert!(matches!(made.write_again(), Err(Error::Locked(_))));
    assert!(start.elapsed() < Duration::from_secs(9));
}

fn caches<B: Builder>(test: &str, set: impl Fn(u64) -> B) {
    let temp = Temp::new(&format!("{test}-cache"));
    let made = set(1 << 20).make(&temp.path("a"), false).unwrap();
    assert_eq!(made.frame().block_cache().capacity, 1 << 20);
}

fn changes_items<B: Builder>(test: &str, set: impl Fn(value::Closure) -> B) {
    let temp = Temp::new(&format!("{test}-closure"));
    let changed: Vec<u8> = items().iter().map(|byte| byte ^ 0x80).collect();
    assert_eq!(
        set(value::with_preprocess()).make(&temp.path("a"), false).unwrap().all_items().unwrap(),
        changed
    );
}

/// A file to copy.
fn source(temp: &Temp, user_filter: bool) -> PathBuf {
    let path = temp.path("source");
    Options::new().with_registry(registry()).make(&path, user_filter).unwrap();
    path
}

fn stops_copy<C: Copier>(test: &str, set: impl Fn(Exec) -> C) {
    let temp = Temp::new(&format!("{test}-exec"));
    let source = source(&temp, false);
    let seen = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&seen);
    let exec = Exec::new(1).with_progress(move |bytes| {
        counter.fetch_add(bytes, Ordering::Relaxed);
    });
    set(exec).copy(&source, &temp.path("a")).unwrap();
    assert!(seen.load(Ordering::Relaxed) >= 100);
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = set(Exec::new(1).with_cancel(cancel)).copy(&source, &temp.path("b"));
    assert!(matches!(stopped, Err(Error::Cancelled)) && !temp.path("b").exists());
}

fn limits_copy<C: Copier>(test: &str, set: impl Fn(Limits) -> C) {
    let temp = Temp::new(&format!("{test}-limits"));
    let source = source(&temp, false);
    let read = |limits: Limits| {
        set(limits).copy(&source, &temp.path("a"))?;
        Array::open(temp.path("a"))?.all_items()
    };
    assert_eq!(read(Limits::default()).unwrap(), items());
    assert_ne!(read(Limits::default().with_max_index_bytes(1)).ok(), Some(items()));
}

fn decodes_to_repair<C: Copier>(test: &str, set: impl Fn(Registry) -> C) {
    let temp = Temp::new(&format!("{test}-registry"));
    let source = temp.path("source");
    // Enough to be compressed; and without checksums a chunk is sound if it decodes.
    let steps: Vec<u8> = (0..8192u32).map(|n| (n / 64) as u8).collect();
    let options = Options::new().with_registry(registry()).with_checksums(false).with_params(params(true));
    options.create(&source, Dtype::of::<u8>(), [8192]).unwrap().write_bytes(s![], &steps).unwrap();
    let read = |registry_of_repair| {
        set(registry_of_repair).copy(&source, &temp.path("a"))?;
        Array::open_with(temp.path("a"), &OpenOptions::new().with_registry(registry()))?.all_items()
    };
    assert_eq!(read(registry()).unwrap(), steps);
    let refusing = Registry::new().with_filter(200, "refuse", Refuse).unwrap();
    assert_ne!(read(refusing).ok(), Some(steps));
}

fn copies_without_checksums<C: Copier>(test: &str, set: impl Fn(bool) -> C) {
    let temp = Temp::new(&format!("{test}-checksums"));
    let source = source(&temp, false);
    let has = |checksums| {
        set(checksums).copy(&source, &temp.path("a")).unwrap();
        let copy = Array::open(temp.path("a")).unwrap();
        assert_eq!(copy.all_items().unwrap(), items());
        copy.schunk().has_checksums().unwrap()
    };
    assert!(!has(false));
    assert!(has(true));
}

fn replaces_written<C: Copier>(test: &str, set: impl Fn(bool) -> C) {
    let temp = Temp::new(&format!("{test}-owner"));
    let source = source(&temp, false);
    let _written = Options::new().make(&temp.path("a"), false).unwrap();
    assert!(matches!(set(true).copy(&source, &temp.path("a")), Err(Error::Locked(_))));
    set(false).copy(&source, &temp.path("a")).unwrap();
}
