//! The program where it is deployed: started by systemd, behind nginx, watched by Prometheus. The files are those of
//! `docs/deploy`; that they are well-formed is for `cargo xtask test deploy`.
#![cfg(all(unix, feature = "cli"))]

mod healthcheck;
mod nginx;
mod systemd;
mod watch;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use bytes::Bytes;

use crate::support::source::content;
use crate::support::{JSON, Server, answer, free_address, hashed_page};

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
/// More than goes through a pipe or a socket at once.
const WHEEL_BYTES: usize = 3_000_000;

fn wheel() -> Bytes {
    content(WHEEL_BYTES)
}

/// An index with one wheel.
async fn index() -> Server {
    Server::start(|path, _| async move {
        match &*path {
            "/simple/demo/" => answer(200, &[JSON], hashed_page([(WHEEL.to_owned(), wheel())])),
            path if path.starts_with("/f/") => answer(200, &[], wheel()),
            _ => answer(404, &[], ""),
        }
    })
    .await
}

/// Whether there is a program; if not, it is told that a test is left out.
fn has(program: &str, test: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = version.is_ok();
    if !is_there {
        // Past the capture of the test harness, which shows the output of failing tests only.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test}, for there is no {program}");
    }
    is_there
}

/// A file of `docs/deploy`.
fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
