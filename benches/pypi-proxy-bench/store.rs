//! The `pypi_proxy_store` suite: looking up a stored file, which marks it as recently used.

use std::fs;
use std::hint::black_box;
use std::thread;

use benches::{Impl, Suite};
use pypi_proxy::store::{Config, Digest, Store};

benches::counting_allocator!();

/// Number of files, as in groxpi's benchmark of its cache.
const FILES: u16 = 1000;
const THREADS: u64 = 4;

fn main() {
    let mut suite = Suite::from_args("pypi_proxy_store", env!("CARGO_TARGET_TMPDIR"));
    let dir = tempfile::tempdir().unwrap();
    let digests: Vec<Digest> = (0..FILES).map(|number| format!("{number:064x}").parse().unwrap()).collect();
    let config = || Config { max_open_files: usize::from(FILES), ..Config::new(dir.path().join("cache")) };
    drop(Store::open(config()).unwrap());
    for digest in &digests {
        let name = digest.to_string();
        let folder = dir.path().join("cache/files").join(&name[..2]);
        fs::create_dir_all(&folder).unwrap();
        // Hashes are verified when files are stored, not in this lookup.
        fs::write(folder.join(&name[2..]), name.as_bytes()).unwrap();
    }
    let store = Store::open(config()).unwrap();
    let find = |at: u64| {
        let digest = &digests[usize::try_from(at % u64::from(FILES)).unwrap_or_default()];
        black_box(&store).get(black_box(digest)).map_or(0, |stored| stored.len)
    };
    assert!((0..u64::from(FILES)).all(|at| find(at) == 64));
    let mut at = 0;
    suite.row("get").elements(1).run(Impl::ours("one thread").class("one thread"), 64, || {
        at += 1;
        find(at)
    });
    // Time of all threads divided by the number of all lookups.
    suite.row("get_concurrent").elements(1).run_batches(
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
}
