//! The step `cross` of the gate: checks and tests for the targets in `docs/release.md`.
//!
//! Debian's cargo builds the standard library of each target from its sources; the pinned toolchain has none.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::note;
use crate::process::{Skipped, finish, joined, lacks, skip};
use crate::workspace::Workspace;

const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";
/// Part of Debian's `rust-web-src`.
pub(crate) const SOURCES: &str = "/usr/lib/rustlib/src/rust/library/Cargo.lock";
/// Compiler for the C code of dependencies on Windows.
pub(crate) const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// Cases per property test: emulated processors are ten times slower.
const CASES: &str = "16";

/// Target, how its tests run, and the arguments of cargo.
const ROWS: [(&str, Option<Emulator>, &str); 7] = [
    (
        "wasm32-unknown-unknown",
        None,
        "check -p tightwire-sse --no-default-features --features=std,futures,json,bytes,compat-eventsource-stream",
    ),
    ("aarch64-apple-darwin", None, CHECK),
    ("x86_64-apple-darwin", None, CHECK),
    ("i686-unknown-linux-gnu", None, CHECK),
    ("x86_64-pc-windows-gnu", None, CHECK),
    ("x86_64-pc-windows-gnu", None, "check -p tightwire-perplexity -p psrp -p psrp-cli -p pypi-proxy"),
    (
        "aarch64-unknown-linux-gnu",
        Some(Emulator {
            processor: "aarch64",
            platform: "aarch64-linux-gnu",
            loader: "/lib/ld-linux-aarch64.so.1",
        }),
        "test --lib -p tightwire-json -p tightwire-parco -p tightwire-sse",
    ),
];
const CHECK: &str = "check -p tightwire-json -p tightwire-parco -p tightwire-sse";

/// Debian's compiler for a platform, and qemu for its processor.
struct Emulator {
    processor: &'static str,
    /// Its folder in `/usr` has the libc of the compiler.
    platform: &'static str,
    /// The dynamic loader, if the libc of the platform is also installed natively: qemu must not mix the two.
    loader: &'static str,
}

impl Emulator {
    fn compiler(&self) -> String {
        format!("{}-gcc", self.platform)
    }

    fn program(&self) -> String {
        format!("qemu-{}-static", self.processor)
    }
}

pub(crate) fn test(workspace: &Workspace) -> Result<Skipped> {
    skip!([CARGO, RUSTC, SOURCES].into_iter().find_map(lacks));
    let mut skipped = Vec::new();
    for (target, emulator, arguments) in &ROWS {
        let programs = emulator.iter().flat_map(|emulator| [emulator.compiler(), emulator.program()]);
        let mut programs = programs.chain(target.ends_with("windows-gnu").then(|| MINGW.to_owned()));
        if let Some(reason) = programs.find_map(|program| lacks(&program)) {
            skipped.push(format!("{target}: {reason}"));
            continue;
        }
        note(&format!("{target}: cargo {arguments}"));
        finish(command(workspace, target, emulator.as_ref(), arguments))
            .with_context(|| format!("{target}: cargo {arguments}"))?;
    }
    Ok(joined(&skipped))
}

/// Returns a command of Debian's cargo for a target.
fn command(workspace: &Workspace, target: &str, emulator: Option<&Emulator>, arguments: &str) -> Command {
    let mut command = Command::new(CARGO);
    command.args(arguments.split(' ')).args(["--quiet", "--locked", "-Zbuild-std", "--target", target]);
    command.env("RUSTC", RUSTC).env("RUSTC_BOOTSTRAP", "1").current_dir(&workspace.root);
    command.env("CARGO_TARGET_DIR", workspace.target.join("cross")).env("CARGO_INCREMENTAL", "0");
    if let Some(emulator) = emulator {
        let variable = format!("CARGO_TARGET_{}_", target.to_uppercase().replace('-', "_"));
        command.env(format!("{variable}LINKER"), emulator.compiler());
        command.env(format!("{variable}RUNNER"), emulator.program()).env("PROPTEST_CASES", CASES);
        if !Path::new(emulator.loader).exists() {
            command.env("QEMU_LD_PREFIX", Path::new("/usr").join(emulator.platform));
        }
    }
    command
}
