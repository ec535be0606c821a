//! How arrays far away are opened and read.

use crate::pace::StorePace;
use crate::traffic::Traffic;
use b2nd::{FrameOptions, Layout, OpenOptions};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How an array far away is opened and read.
///
/// ```
/// use b2nd_remote::RemoteOptions;
/// use std::time::Duration;
/// let options = RemoteOptions::new()
///     .with_concurrency(8)
///     .with_memory(64 << 20)
///     .with_store_option("region", "eu-central-1")
///     .with_stall_timeout(Duration::from_secs(10));
/// ```
#[derive(Clone)]
pub struct RemoteOptions {
    pub(crate) open: OpenOptions,
    pub(crate) layout: Option<Layout>,
    pub(crate) allow_unpinned: bool,
    pub(crate) concurrency: usize,
    pub(crate) memory: u64,
    pub(crate) pace: Option<StorePace>,
    pub(crate) retries: u32,
    pub(crate) longest_pause: Duration,
    pub(crate) stall_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) redirects: usize,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) store_options: Vec<(String, String)>,
    pub(crate) traffic: Arc<Traffic>,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            open: OpenOptions::new(),
            layout: None,
            allow_unpinned: false,
            concurrency: 16,
            memory: 256 << 20,
            pace: None,
            retries: 6,
            longest_pause: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            redirects: 5,
            headers: Vec::new(),
            store_options: Vec::new(),
            traffic: Arc::default(),
        }
    }
}

impl RemoteOptions {
    /// 16 requests at a time, 256 MiB of answers in memory, 6 retries, everything pinned.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets limits, codecs of the user, checks and threads of the frame.
    #[must_use]
    pub fn with_frame_options(mut self, options: FrameOptions) -> Self {
        self.open = self.open.with_frame_options(options);
        self
    }
    /// Whether the frame is contiguous or sparse. By default it is looked for as contiguous, then as sparse; a path that ends
    /// with a slash is that of a sparse one.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }
    /// Also reads objects whose changes cannot be noticed; see [`Pin`](crate::Pin).
    #[must_use]
    pub fn with_allow_unpinned(mut self, allow: bool) -> Self {
        self.allow_unpinned = allow;
        self
    }
    /// The most requests of one read at the same time; at least 1.
    #[must_use]
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.max(1);
        self
    }
    /// The most bytes that one read has asked for and not decoded; a single chunk may be larger.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes.max(1);
        self
    }
    /// How fast the store is. By default that is measured while it is read.
    #[must_use]
    pub fn with_pace(mut self, pace: StorePace) -> Self {
        self.pace = Some(pace);
        self
    }
    /// How often a request is repeated that failed for a reason that may pass. The pauses are random and grow.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }
    /// The longest pause that a server may ask for by `Retry-After`; when it asks for more, the read fails.
    #[must_use]
    pub fn with_longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }
    /// How long an answer may make no progress before the request counts as failed.
    #[must_use]
    pub fn with_stall_timeout(mut self, timeout: Duration) -> Self {
        self.stall_timeout = timeout;
        self
    }
    /// How long making a connection may take; for stores that this crate makes from a URL.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }
    /// The most redirects that a request follows; for stores that this crate makes from a URL.
    ///
    /// None of them leads from https to http, or from a public address to a private one; credentials and headers of the caller
    /// stay with the first origin.
    #[must_use]
    pub fn with_redirects(mut self, most: usize) -> Self {
        self.redirects = most;
        self
    }
    /// Counts requests and bytes there.
    #[must_use]
    pub fn with_traffic(mut self, traffic: Arc<Traffic>) -> Self {
        self.traffic = traffic;
        self
    }
    /// Adds a header to each request; for stores that this crate makes from a URL. Its value is never shown.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
    /// Sets an option of the store that this crate makes from a URL: `region`, `endpoint`, `access_key_id` and so on, as
    /// `object_store` names them. Its value is never shown.
    #[must_use]
    pub fn with_store_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.store_options.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |list: &[(String, String)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        f.debug_struct("RemoteOptions")
            .field("layout", &self.layout)
            .field("allow_unpinned", &self.allow_unpinned)
            .field("concurrency", &self.concurrency)
            .field("memory", &self.memory)
            .field("pace", &self.pace)
            .field("retries", &self.retries)
            .field("headers", &names(&self.headers))
            .field("store_options", &names(&self.store_options))
            .finish_non_exhaustive()
    }
}
