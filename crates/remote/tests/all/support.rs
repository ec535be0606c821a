//! Arrays of noise, and servers that have them.

use b2nd::io::{FileId, ReadStore, WriteStep, WriteStore};
use b2nd::{Array, Codec, Dtype, Error, Layout, Options, Result, s};
use b2nd_remote::{AsyncArray, RemoteOptions};
use b2nd_testkit::http::{HttpServer, Settings};
use b2nd_testkit::rng::Rng;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Runs a future on a runtime of its own.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(900), future).await.unwrap() })
}

/// Rows of noise, one in each chunk, in this many blocks.
pub(crate) fn noise(rows: u64, len: u64, blocks: u64) -> Array {
    let options = Options::new()
        .with_chunks([1, len])
        .with_blocks([1, len / blocks])
        .with_codec(Codec::Lz4)
        .with_clevel(1)
        .with_checksums(true)
        .with_attr("unit", "K");
    let mut array = options.create_in_memory(Dtype::parse("<u4").unwrap(), [rows, len]).unwrap();
    let bytes: Vec<u8> =
        Rng::new(rows ^ len).bytes((rows * len * 4) as usize).into_iter().map(|byte| byte & 0x3f).collect();
    array.write_bytes(s![], &bytes).unwrap();
    array
}

/// Files of a sparse frame in memory.
#[derive(Debug, Clone, Default)]
struct Files(HashMap<FileId, Vec<u8>>);

impl ReadStore for Files {
    fn len(&self, file: FileId) -> Result<u64> {
        Ok(self.0.get(&file).map_or(0, Vec::len) as u64)
    }
    fn read_at(&self, _: FileId, _: u64, _: &mut [u8]) -> Result<()> {
        Err(Error::State("written only".to_owned()))
    }
}

impl WriteStore for Files {
    fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::new(self.clone())
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        if let WriteStep::Put { file, bytes, .. } = step {
            self.0.insert(*file, bytes.to_vec());
        }
        Ok(())
    }
}

/// The files of an array as a sparse frame: names and contents.
pub(crate) fn sparse_files(array: &Array) -> Vec<(String, Vec<u8>)> {
    let mut files = Files::default();
    array.schunk().save_to_store(&mut files, Layout::Sparse).unwrap();
    files.0.into_iter().map(|(file, bytes)| (file.name(), bytes)).collect()
}

/// A server with an array as `/a.b2nd`, and as the sparse frame `/s.b2nd`.
pub(crate) fn serve(array: &Array, settings: Settings) -> HttpServer {
    let server = HttpServer::start(settings).unwrap();
    server.put("/a.b2nd", array.to_bytes().unwrap());
    for (name, bytes) in sparse_files(array) {
        server.put(&format!("/s.b2nd/{name}"), bytes);
    }
    server
}

pub(crate) async fn open(server: &HttpServer, path: &str, options: &RemoteOptions) -> Result<AsyncArray> {
    AsyncArray::open_url(&server.url(path), options).await
}
