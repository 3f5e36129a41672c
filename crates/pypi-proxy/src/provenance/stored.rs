//! Verification of the provenance in a store.

use super::document::{invalid, verify};
use crate::Error;
use crate::page_cache::stored_provenance;
use crate::store::Store;

/// Result of [`verify_stored`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ProvenanceReport {
    /// Number of stored files whose provenance verifies.
    pub good: u64,
    /// Number of attestations of these files.
    pub attestations: u64,
    /// Number of documents whose file is not stored; they are not checked.
    pub without_file: u64,
    /// Names of the stored files whose provenance does not verify, with the reasons.
    pub bad: Vec<(String, Error)>,
}

/// Verifies the provenance that is cached for the files of a store, and the hashes of these files. Calls `each` after
/// every document. Blocks the thread. Deletes nothing.
pub fn verify_stored(store: &Store, mut each: impl FnMut()) -> ProvenanceReport {
    let mut report = ProvenanceReport::default();
    for found in stored_provenance(&store.pages_dir()) {
        let checked = match (found.document, found.sha256) {
            (_, Some(sha256)) if store.get(&sha256).is_none() => {
                report.without_file += 1;
                each();
                continue;
            }
            (Some(document), Some(sha256)) => match store.actual_digest(&sha256) {
                Some(actual) if actual == sha256 => verify(&document, &found.file, &sha256),
                _ => Err(invalid("the stored file is damaged")),
            },
            (None, _) => Err(invalid("the cached document is damaged")),
            (_, None) => Err(invalid("the page of the index has no SHA-256 of the file")),
        };
        match checked {
            Ok(attestations) => {
                report.good += 1;
                report.attestations += attestations.len() as u64;
            }
            Err(error) => report.bad.push((found.file, error)),
        }
        each();
    }
    report.bad.sort_by(|(one, _), (other, _)| one.cmp(other));
    report
}
