//! An HTTP/1.1 server on loopback for tests: objects in memory, counted requests, and faults on demand.
//!
//! It answers GET and HEAD with ranges and suffixes, PUT with `If-Match` and `If-None-Match` (compared and put in one step), and
//! DELETE. Each connection has a latency and a bandwidth. Everything stops when the server is dropped.

mod connection;
mod date;
mod fault;
mod head;
mod meter;
mod objects;
#[cfg(test)]
mod tests;

pub use fault::Fault;
pub use head::{Request, Span};
pub use meter::{Counts, Entry};
pub use objects::Tags;

use connection::Connection;
use meter::Meter;
use objects::Objects;
use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

/// The most connections at a time: further ones are closed.
const MAX_CONNECTIONS: usize = 256;

/// How a server answers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// How long each answer takes to begin.
    pub latency: Duration,
    /// Bytes of bodies in a second, for each connection; 0 for no bound.
    pub bandwidth: u64,
    /// How objects are told apart.
    pub tags: Tags,
    /// Whether answers have `Last-Modified`.
    pub dates: bool,
    /// Whether ranges of the last bytes are answered.
    pub suffixes: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { latency: Duration::ZERO, bandwidth: 0, tags: Tags::Strong, dates: true, suffixes: true }
    }
}

impl Settings {
    /// The same with this latency, and this many bytes a second for each connection.
    #[must_use]
    pub fn with_pace(mut self, latency: Duration, bandwidth: u64) -> Self {
        (self.latency, self.bandwidth) = (latency, bandwidth);
        self
    }
    /// The same with other tags and dates of objects.
    #[must_use]
    pub fn with_tags(mut self, tags: Tags, dates: bool) -> Self {
        (self.tags, self.dates) = (tags, dates);
        self
    }
    /// The same without ranges of the last bytes.
    #[must_use]
    pub fn without_suffixes(mut self) -> Self {
        self.suffixes = false;
        self
    }
}

/// Decides about the fault of a request.
type Chooser = dyn Fn(&Request) -> Option<Fault> + Send + Sync;

/// What all threads of a server share.
struct Shared {
    settings: Settings,
    objects: Mutex<Objects>,
    meter: Mutex<Meter>,
    faults: Mutex<Option<Arc<Chooser>>>,
    stopped: AtomicBool,
    open: Mutex<HashMap<u64, TcpStream>>,
}

/// Locks, whatever a thread that panicked left.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn fault(&self, request: &Request) -> Option<Fault> {
        let chooser = lock(&self.faults).clone();
        chooser.and_then(|choose| choose(request))
    }
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
    /// Waits, but not longer than the server runs.
    fn sleep(&self, mut left: Duration) {
        let slice = Duration::from_millis(20);
        while !left.is_zero() && !self.is_stopped() {
            let now = left.min(slice);
            thread::sleep(now);
            left -= now;
        }
    }
}

/// A running server. Dropped, it closes all connections and waits for its threads.
pub struct HttpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HttpServer({})", self.address)
    }
}

impl HttpServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            settings,
            objects: Mutex::default(),
            meter: Mutex::default(),
            faults: Mutex::default(),
            stopped: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(HttpServer { address, shared, accepting: Some(accepting) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
    /// The URL of a path, which begins with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
    /// Makes or replaces an object.
    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        lock(&self.shared.objects).put(path, Arc::new(bytes.into()));
    }
    /// Removes an object.
    pub fn remove(&self, path: &str) {
        lock(&self.shared.objects).remove(path);
    }
    /// The bytes of an object.
    pub fn get(&self, path: &str) -> Option<Arc<Vec<u8>>> {
        lock(&self.shared.objects).get(path).map(|object| Arc::clone(&object.bytes))
    }
    /// The paths of all objects, sorted.
    pub fn paths(&self) -> Vec<String> {
        lock(&self.shared.objects).paths()
    }
    /// Decides about a fault of each request from now on.
    pub fn set_faults(&self, choose: impl Fn(&Request) -> Option<Fault> + Send + Sync + 'static) {
        *lock(&self.shared.faults) = Some(Arc::new(choose));
    }
    /// Answers without faults from now on.
    pub fn clear_faults(&self) {
        *lock(&self.shared.faults) = None;
    }
    /// What was asked since the start, or since the last call of [`HttpServer::take_counts`].
    pub fn counts(&self) -> Counts {
        lock(&self.shared.meter).counts()
    }
    /// Like [`HttpServer::counts`], and resets them. Requests in progress count towards the next counts.
    pub fn take_counts(&self) -> Counts {
        lock(&self.shared.meter).take()
    }
    /// The requests that are counted, in order.
    pub fn entries(&self) -> Vec<Entry> {
        lock(&self.shared.meter).entries()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
        for stream in lock(&self.shared.open).values() {
            // One that is closed already needs no closing.
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(thread) = self.accepting.take() {
            // A panic of it was printed.
            let _ = thread.join();
        }
    }
}

/// Accepts connections until the server is stopped, and waits for their threads.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for (number, stream) in (0u64..).zip(listener.incoming()) {
        if shared.is_stopped() {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        let Ok(stream) = stream else { continue };
        if threads.len() >= MAX_CONNECTIONS {
            continue;
        }
        let Ok(copy) = stream.try_clone() else { continue };
        lock(&shared.open).insert(number, copy);
        let shared = Arc::clone(shared);
        threads.push(thread::spawn(move || {
            // The client sees a closed connection.
            let _ = Connection::new(stream, &shared).and_then(|mut connection| connection.serve());
            lock(&shared.open).remove(&number);
        }));
    }
    for stream in lock(&shared.open).values() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}
