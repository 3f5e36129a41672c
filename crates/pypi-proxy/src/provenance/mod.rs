//! Verification of provenance (PEP 740) without a network.
//!
//! Provenance is a list of attestations: signed statements about a file, each with the certificate of its signer.
//! [`verify`] checks one document, and [`verify_stored`] all documents that a store has for its files.
//!
//! | checked | not checked |
//! | --- | --- |
//! | The statement names the file, its SHA-256, and a known predicate type. | The certificate was issued by Sigstore. |
//! | The signature of the envelope verifies with the certificate (ECDSA with P-256 and SHA-256). | The certificate was valid when it was used. |
//! | The identity in the certificate is that of the publisher: a workflow of GitHub or GitLab, or a Google account. | The signature is in the transparency log. |
//! | | The publisher may publish the project. |
//!
//! So an attacker who can replace a document in the cache can create one that passes these checks. They find damaged
//! documents, documents of other files, and files that were replaced.

mod certificate;
mod document;
mod stored;

pub use document::{Attestation, verify};
pub use stored::{ProvenanceReport, verify_stored};

#[cfg(fuzzing)]
pub use document::check_parts;
