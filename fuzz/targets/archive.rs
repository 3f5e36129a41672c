//! Reads arbitrary bytes as an archive of a cache, and as the manifest of an intact one.
#![no_main]

use pypi_proxy::archive::check_archive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for archive in [bytes.to_vec(), pypi_proxy::archive::with_manifest(bytes)] {
        if let Err(error) = check_archive(&archive) {
            assert!(error.is_archive() || error.is_limit());
        }
    }
});
