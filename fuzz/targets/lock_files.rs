//! Parses arbitrary text as a lock file, in the detected format and in both formats.
#![no_main]

use pypi_proxy::lock_file::{LockFile, LockFormat};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = LockFormat::detect("lock", text);
    for format in [LockFormat::Toml, LockFormat::Pipfile] {
        match LockFile::parse(format, text) {
            Ok(lock) => {
                let lines = text.lines().count();
                assert!(lock.projects.iter().all(|project| !project.files.is_empty()));
                assert!(lock.skipped.iter().filter_map(|entry| entry.line).all(|line| (1..=lines).contains(&line)));
            }
            Err(error) => assert!(error.is_lock_file()),
        }
    }
});
