//! Parses and verifies provenance.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::certificate::Certificate;
use crate::Error;
use crate::error::Kind;
use crate::hash::bytes_of;
use crate::store::Digest;

/// Type of the payload, which is part of the signed message.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// Ends of the known predicate types. Before the first one is the URL of an index.
const PUBLISH: &str = "/attestations/publish/v1";
const BUILD: &str = "https://slsa.dev/provenance/v1";
/// Maximum bytes of a certificate.
const MAX_CERTIFICATE: usize = 64 << 10;

#[derive(Deserialize)]
struct Provenance {
    version: u64,
    attestation_bundles: Vec<Bundle>,
}

#[derive(Deserialize)]
struct Bundle {
    publisher: Publisher,
    attestations: Vec<SignedStatement>,
}

/// Account or workflow that has published a file.
#[derive(Deserialize)]
pub(super) struct Publisher {
    pub(super) kind: String,
    #[serde(default)]
    pub(super) repository: Option<String>,
    #[serde(default)]
    pub(super) workflow: Option<String>,
    #[serde(default)]
    pub(super) workflow_filepath: Option<String>,
    #[serde(default)]
    pub(super) email: Option<String>,
}

#[derive(Deserialize)]
struct SignedStatement {
    version: u64,
    verification_material: VerificationMaterial,
    envelope: Envelope,
}

#[derive(Deserialize)]
struct VerificationMaterial {
    certificate: String,
}

#[derive(Deserialize)]
struct Envelope {
    statement: String,
    signature: String,
}

#[derive(Deserialize)]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_type: String,
}

#[derive(Deserialize)]
struct Subject {
    name: String,
    digest: SubjectDigest,
}

#[derive(Deserialize)]
struct SubjectDigest {
    #[serde(default)]
    sha256: Option<String>,
}

/// An attestation that passed the checks of [`verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attestation {
    /// Kind of the publisher: `GitHub`, `GitLab` or `Google`.
    pub publisher: String,
    /// Repository or e-mail address of the publisher.
    pub identity: String,
    /// Type of the statement, as a URL.
    pub predicate_type: String,
}

/// Verifies the provenance of a file with this name and SHA-256, as described in the [module](super).
///
/// # Errors
///
/// Fails if the document is malformed, has no attestation, or if an attestation does not verify
/// ([`Error::is_provenance`]).
///
/// ```
/// use pypi_proxy::provenance::verify;
/// use pypi_proxy::store::Digest;
///
/// let document = br#"{"version": 1, "attestation_bundles": []}"#;
/// let error = verify(document, "demo-1.0.tar.gz", &Digest([7; 32])).unwrap_err();
/// assert_eq!(error.to_string(), "provenance does not verify: it has no attestation");
/// ```
pub fn verify(document: &[u8], file: &str, sha256: &Digest) -> Result<Vec<Attestation>, Error> {
    let provenance: Provenance = parse(document, "the document is malformed")?;
    if provenance.version != 1 {
        return Err(invalid("the version of the document is not supported"));
    }
    let mut verified = Vec::new();
    for Bundle { publisher, attestations } in &provenance.attestation_bundles {
        for attestation in attestations {
            let predicate_type = verify_one(attestation, publisher, file, sha256)?;
            let identity = publisher.repository.clone().or_else(|| publisher.email.clone());
            verified.push(Attestation {
                publisher: publisher.kind.clone(),
                identity: identity.unwrap_or_default(),
                predicate_type,
            });
        }
    }
    if verified.is_empty() { Err(invalid("it has no attestation")) } else { Ok(verified) }
}

fn verify_one(
    attestation: &SignedStatement,
    publisher: &Publisher,
    file: &str,
    sha256: &Digest,
) -> Result<String, Error> {
    if attestation.version != 1 {
        return Err(invalid("the version of an attestation is not supported"));
    }
    let Envelope { statement, signature } = &attestation.envelope;
    let statement = decode(statement)?;
    let certificate = &attestation.verification_material.certificate;
    if certificate.len() > MAX_CERTIFICATE {
        return Err(invalid("the certificate is larger than 64 KiB"));
    }
    let certificate = Certificate::parse(&decode(certificate)?)?;
    certificate.verify(&signed_message(&statement), &decode(signature)?)?;
    certificate.identity.check(publisher)?;
    check_statement(&statement, file, sha256)
}

/// Returns the message that is signed: the pre-authentication encoding of DSSE.
fn signed_message(statement: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), statement.len());
    [head.as_bytes(), statement].concat()
}

/// Checks that the statement is about this file. Returns its predicate type.
fn check_statement(statement: &[u8], file: &str, sha256: &Digest) -> Result<String, Error> {
    let Statement { kind, subject, predicate_type } = parse(statement, "a statement is malformed")?;
    if kind != STATEMENT_TYPE {
        return Err(invalid("a statement is not an in-toto statement"));
    }
    let is_publish = predicate_type.starts_with("https://") && predicate_type.ends_with(PUBLISH);
    if !is_publish && predicate_type != BUILD {
        return Err(invalid("the predicate type of a statement is unknown"));
    }
    let [Subject { name, digest }] = &subject[..] else {
        return Err(invalid("a statement has not exactly one subject"));
    };
    if !is_same_name(name, file) {
        return Err(invalid("a statement is about a file of another name"));
    }
    if digest.sha256.as_deref().and_then(bytes_of) != Some(sha256.0) {
        return Err(invalid("a statement is about a file with another SHA-256"));
    }
    Ok(predicate_type)
}

/// Compares file names. Signers and indexes spell the project in different ways, but only with other separators and
/// letter case.
fn is_same_name(one: &str, other: &str) -> bool {
    let folded = |name: &str| -> Vec<u8> {
        let mut folded: Vec<_> = name
            .bytes()
            .map(|byte| if matches!(byte, b'-' | b'.') { b'_' } else { byte.to_ascii_lowercase() })
            .collect();
        folded.dedup_by(|second, first| *second == b'_' && *first == b'_');
        folded
    };
    folded(one) == folded(other)
}

fn parse<'d, T: Deserialize<'d>>(json: &'d [u8], what: &str) -> Result<T, Error> {
    tightwire_json::from_slice(json).map_err(|error| invalid(what).caused_by(error))
}

fn decode(text: &str) -> Result<Vec<u8>, Error> {
    BASE64_STANDARD.decode(text).map_err(|_| invalid("a field is not Base64"))
}

#[cold]
pub(super) fn invalid(what: &str) -> Error {
    Error::with(Kind::Provenance, what)
}

/// Runs the parsers of a statement and of a certificate, which a fuzz target can't reach through their encoding.
#[cfg(fuzzing)]
pub fn check_parts(bytes: &[u8]) {
    let _ = check_statement(bytes, "demo-1.0.tar.gz", &Digest([0; 32]));
    if let Ok(certificate) = Certificate::parse(bytes) {
        let _ = certificate.verify(bytes, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_separators_and_case() {
        for (name, file, is_same) in [
            ("Demo.Kit-1.0.tar.gz", "demo_kit-1.0.tar.gz", true),
            ("demo--kit-1.0.tar.gz", "demo-kit-1.0.tar.gz", true),
            ("demo-1.0.tar.gz", "demo-1.0.zip", false),
            ("demo-1.0.tar.gz", "demo-10.tar.gz", false),
        ] {
            assert_eq!(is_same_name(name, file), is_same, "{name}");
        }
    }

    #[test]
    fn signed_message_contains_lengths() {
        assert_eq!(signed_message(b"{}"), b"DSSEv1 28 application/vnd.in-toto+json 2 {}");
    }
}
