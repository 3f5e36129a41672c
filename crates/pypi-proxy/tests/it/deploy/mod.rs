//! Deployment: systemd, nginx and Prometheus, with the files in `docs/deploy`. `cargo xtask test deploy` checks that
//! the files are well-formed.
#![cfg(all(unix, feature = "cli"))]

mod healthcheck;
mod nginx;
mod systemd;
mod watch;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use bytes::Bytes;

use crate::support::source::content;
use crate::support::{Server, file_index, free_address, skip};

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
/// More than the buffers of a pipe and a socket.
const WHEEL_BYTES: usize = 3_000_000;

fn wheel() -> Bytes {
    content(WHEEL_BYTES)
}

/// Index with one wheel.
async fn index() -> Server {
    file_index([(WHEEL, wheel())]).await
}

/// Returns whether a program is available; otherwise reports a skipped test.
fn has(program: &str, test: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = version.is_ok();
    if !is_there {
        skip(&format!("{test}, because {program} is not available"));
    }
    is_there
}

/// Reads a file of `docs/deploy`.
fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
