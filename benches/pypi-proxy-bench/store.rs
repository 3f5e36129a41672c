//! The `pypi_proxy_store` suite: looking up a stored file, which marks it as recently used.

use std::fs;
use std::hint::black_box;
use std::process::ExitCode;
use std::thread;

use benches::{Impl, Suite};
use pypi_proxy::store::{Config, Digest, Store};

benches::counting_allocator!();

/// Number of files, as in groxpi's benchmark of its cache.
const FILES: u16 = 1000;
const THREADS: u64 = 4;

fn main() -> ExitCode {
    benches::main("pypi_proxy_store", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let files = if ["get", "get_concurrent"].iter().any(|row| suite.selects(row)) { FILES } else { 1 };
    let digests: Vec<Digest> =
        (0..files).map(|number| format!("{number:064x}").parse()).collect::<Result<_, _>>()?;
    let config = || Config { max_open_files: usize::from(FILES), ..Config::new(dir.path().join("cache")) };
    drop(Store::open(config())?);
    for digest in &digests {
        let name = digest.to_string();
        let folder = dir.path().join("cache/files").join(&name[..2]);
        fs::create_dir_all(&folder)?;
        // Hashes are verified when files are stored, not in this lookup.
        fs::write(folder.join(&name[2..]), name.as_bytes())?;
    }
    let store = Store::open(config())?;
    let find = |at: u64| {
        let digest = &digests[at as usize % digests.len()];
        black_box(&store).get(black_box(digest)).map_or(0, |stored| stored.len)
    };
    anyhow::ensure!((0..u64::from(files)).all(|at| find(at) == 64), "a file is not found");
    let mut at = 0;
    suite.row("get").elements(1).run(Impl::ours("one thread").class("one thread"), 64, || {
        at += 1;
        find(at)
    });
    // Time of all threads divided by the number of all lookups.
    suite.row("get_concurrent").elements(1).threads().run_batches(
        Impl::ours("four threads").class("four threads"),
        64,
        |times| {
            thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|number| {
                        let share = times / THREADS + u64::from(number < times % THREADS);
                        scope.spawn(move || (0..share).map(|at| find(at * 7 + number)).min().unwrap_or(64))
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or(0)).min().unwrap_or(0)
            })
        },
    );
    Ok(())
}
