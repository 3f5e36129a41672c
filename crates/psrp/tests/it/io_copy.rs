//! File copies with a fake server: its errors leave no file.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve};
use psrp::io::{self, CopyOptions, Session, copy_from, copy_to};
use psrp::message::CreatePipeline;
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::{Error, ErrorKind as Kind, Value};
use tokio::task::JoinHandle;

/// SHA-256 of `abc`.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// An empty directory, removed on drop.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            // Not below the target directory: socket paths are limited to about a hundred bytes.
            let path = std::env::temp_dir().join(format!("psrp-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                // Left behind by a killed process with the same identifier.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => {
                    created.unwrap();
                    return Self(path);
                }
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the names in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that behaves as the remote path says.
#[derive(Default)]
struct FakeCopyServer {
    /// Chunks received.
    chunks: AtomicUsize,
}

impl Handler for FakeCopyServer {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, mut input: Input) -> Outcome {
        let command = create.power_shell.statements().flatten().next().unwrap();
        let parameter = |name: &str| {
            let found = command.parameters.iter().find(|parameter| parameter.name.as_ref().unwrap() == name);
            found.map(|parameter| parameter.value.clone())
        };
        let path = parameter("Path").unwrap().as_ps_string().unwrap().to_string();
        if path == "silent" {
            while input.next().await.is_some() {
                self.chunks.fetch_add(1, Ordering::SeqCst);
            }
            return Ok(());
        }
        if parameter("ChunkSize").is_some() {
            for part in path.split(' ') {
                match part {
                    "abc" => pipeline.output(b"abc".to_vec()).await?,
                    "hash" => pipeline.output(ABC).await?,
                    "fail" => return Err(ErrorRecord::new("disk on fire", ErrorCategory::ReadError).into()),
                    number => pipeline.output(number.parse::<i64>().unwrap()).await?,
                }
            }
            return Ok(());
        }
        let mut written = 0;
        while let Some(value) = input.next().await {
            match value {
                Value::Bytes(bytes) if path == "early" => {
                    pipeline.output(bytes.len() as i64).await?;
                    return Err(ErrorRecord::new("disk full", ErrorCategory::WriteError).into());
                }
                Value::Bytes(_) if path == "ends" => return Ok(()),
                Value::Bytes(_) if path == "more" => pipeline.output(i64::MAX).await?,
                Value::Bytes(_) if path == "less" => pipeline.output(-1_i64).await?,
                Value::String(_) if path == "wrong" => pipeline.output(ABC).await?,
                Value::String(hash) if path == "right" => pipeline.output(hash).await?,
                Value::Bytes(bytes) => {
                    written += bytes.len() as i64;
                    pipeline.output(written).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

struct CopySession {
    pool: Session,
    handler: Arc<FakeCopyServer>,
    _server: JoinHandle<Result<io::serve::SessionEnd, Error>>,
    directory: Directory,
}

impl CopySession {
    async fn new() -> Self {
        let (near, far) = crate::handler::pipe(4096);
        let handler = Arc::new(FakeCopyServer::default());
        let server = tokio::spawn(serve(far, handler.clone(), Options::default()));
        let pool = Session::over(near, io::Options::new()).await.unwrap();
        Self { pool, handler, _server: server, directory: Directory::new() }
    }

    async fn upload(&self, source: &Path, remote: &str) -> Result<io::CopiedFile, Error> {
        copy_to(&self.pool, source, remote, CopyOptions::new().chunk_size(1000)).await
    }

    async fn download(&self, remote: &str) -> Result<io::CopiedFile, Error> {
        let name = self.directory.path("file");
        copy_from(&self.pool, remote, name, CopyOptions::new()).await
    }
}

#[tokio::test]
async fn a_failed_download_leaves_no_file() {
    let served = CopySession::new().await;
    for (remote, kind) in [
        ("3 abc abc hash", Kind::Corrupt),
        ("3 hash", Kind::Corrupt),
        ("fail", Kind::Pipeline),
        ("3 abc fail", Kind::Pipeline),
        ("3 abc", Kind::Protocol),
        ("abc hash", Kind::Protocol),
        ("-3 abc hash", Kind::Protocol),
        ("3 abc 4", Kind::Protocol),
    ] {
        let error = served.download(remote).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{remote}: {error}");
        assert!(served.directory.names().is_empty(), "{remote}");
    }
    let error = served.download("3 abc fail").await.unwrap_err().to_string();
    assert!(error.ends_with("Failed: disk on fire"), "{error}");

    let copied = served.download("3 abc hash").await.unwrap();
    assert_eq!((copied.bytes, copied.sha256[..2].to_vec()), (3, vec![0xBA, 0x78]));
    assert_eq!(fs::read(served.directory.path("file")).unwrap(), b"abc");
    // The file is not overwritten.
    let error = served.download("3 abc hash").await.unwrap_err();
    assert!(error.is_io() && error.to_string().contains("file"), "{error}");
    // The file name of the remote path is used, if it is valid.
    for remote in ["3 abc hash/..", "3 abc hash/", r"3 abc hash\."] {
        let into = copy_from(&served.pool, remote, &served.directory.0, CopyOptions::new()).await;
        assert!(into.unwrap_err().is_io(), "{remote}");
    }
    assert_eq!(served.directory.names(), ["file"]);
}

#[tokio::test]
async fn a_failed_upload_is_reported() {
    let served = CopySession::new().await;
    let source = served.directory.path("source");
    fs::write(&source, vec![7; 100_000]).unwrap();
    for (remote, kind) in [
        ("wrong", Kind::Corrupt),
        ("early", Kind::Pipeline),
        ("ends", Kind::Protocol),
        ("more", Kind::Protocol),
        ("less", Kind::Protocol),
    ] {
        let error = served.upload(&source, remote).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{remote}: {error}");
    }
    fs::write(&source, b"abc").unwrap();
    assert_eq!(served.upload(&source, "right").await.unwrap().bytes, 3);
    let none = served.upload(&served.directory.path("none"), "right").await.unwrap_err();
    assert!(none.is_io() && none.to_string().contains("none"), "{none}");
}

#[tokio::test(start_paused = true)]
async fn an_upload_waits_for_the_server() {
    let served = CopySession::new().await;
    let source = served.directory.path("source");
    fs::write(&source, vec![7; 100_000]).unwrap();
    let upload = tokio::time::timeout(std::time::Duration::from_secs(60), served.upload(&source, "silent"));
    assert!(upload.await.is_err(), "nothing was written");
    assert_eq!(served.handler.chunks.load(Ordering::SeqCst), 17);
}
