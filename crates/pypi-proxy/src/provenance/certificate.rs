//! The certificate of an attestation: its key, and the identity of its owner.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use der::asn1::{AnyRef, BitStringRef, Ia5StringRef, ObjectIdentifier, OctetStringRef, Utf8StringRef};
use der::{Decode as _, Reader as _, SliceReader, Tag, TagMode, TagNumber, Tagged as _};

use super::document::{Publisher, invalid};
use crate::Error;

/// Issuer of the identity, in the certificates of Sigstore.
const ISSUER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.8");
/// Repository of the source, as a URL.
const REPOSITORY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.12");
/// Workflow that built the file, as a URL with a revision.
const WORKFLOW: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.18");
/// Subject alternative names.
const NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
/// Tag of the extensions among the fields of a certificate.
const EXTENSIONS: Tag = Tag::ContextSpecific { constructed: true, number: TagNumber(3) };
/// Tag of an email address among the names.
const EMAIL: Tag = Tag::ContextSpecific { constructed: false, number: TagNumber(1) };

/// Identity in a certificate.
#[derive(Debug, Default)]
pub(super) struct Identity {
    issuer: Option<String>,
    repository: Option<String>,
    workflow: Option<String>,
    email: Option<String>,
}

/// The checked parts of a certificate.
#[derive(Debug)]
pub(super) struct Certificate {
    /// Point on the curve P-256.
    key: Vec<u8>,
    pub(super) identity: Identity,
}

impl Certificate {
    pub(super) fn parse(der: &[u8]) -> Result<Self, Error> {
        let malformed = |_| invalid("the certificate is malformed");
        let mut reader = SliceReader::new(der).map_err(malformed)?;
        let (key, extensions) = reader.sequence(read).map_err(malformed)?;
        if !reader.is_finished() {
            return Err(invalid("there is data after the certificate"));
        }
        let mut identity = Identity::default();
        for (id, value) in &extensions {
            let (field, text) = match *id {
                ISSUER => (&mut identity.issuer, utf8(value)),
                REPOSITORY => (&mut identity.repository, utf8(value)),
                WORKFLOW => (&mut identity.workflow, utf8(value)),
                NAMES => (&mut identity.email, email(value)),
                _ => continue,
            };
            *field = text.map_err(|_| invalid("an extension of the certificate is malformed"))?;
            if extensions.iter().filter(|(other, _)| other == id).count() > 1 {
                return Err(invalid("an extension of the certificate is repeated"));
            }
        }
        Ok(Self { key: key.raw_bytes().to_vec(), identity })
    }

    /// Verifies an ECDSA signature with P-256 and SHA-256.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.key);
        key.verify(message, signature)
            .map_err(|_| invalid("the signature does not verify with the certificate"))
    }
}

/// Identifier and value of an extension.
type Extension<'der> = (ObjectIdentifier, &'der [u8]);

/// Reads the public key and the extensions of a certificate (RFC 5280, section 4.1).
fn read<'der>(
    certificate: &mut SliceReader<'der>,
) -> der::Result<(BitStringRef<'der>, Vec<Extension<'der>>)> {
    let parts = certificate.sequence(|fields| -> der::Result<_> {
        fields.context_specific::<u8>(TagNumber(0), TagMode::Explicit)?;
        // Serial number, algorithm, issuer, validity and subject.
        for _ in 0..5 {
            AnyRef::decode(fields)?;
        }
        let key = fields.sequence(|key| {
            AnyRef::decode(key)?;
            BitStringRef::decode(key)
        })?;
        while !fields.is_finished() {
            let field = AnyRef::decode(fields)?;
            if field.tag() == EXTENSIONS {
                return Ok((key, elements(field.value(), extension)?));
            }
        }
        Ok((key, Vec::new()))
    })?;
    // Algorithm and signature of the issuer.
    AnyRef::decode(certificate)?;
    BitStringRef::decode(certificate)?;
    Ok(parts)
}

/// Reads the elements of a list.
fn elements<'der, T>(
    der: &'der [u8],
    read: impl Fn(&mut SliceReader<'der>) -> der::Result<T>,
) -> der::Result<Vec<T>> {
    AnyRef::from_der(der)?.sequence(|list| {
        let mut elements = Vec::new();
        while !list.is_finished() {
            elements.push(read(list)?);
        }
        Ok(elements)
    })
}

fn extension<'der>(list: &mut SliceReader<'der>) -> der::Result<Extension<'der>> {
    list.sequence(|fields| {
        let id = ObjectIdentifier::decode(fields)?;
        // Whether the extension is critical.
        Option::<bool>::decode(fields)?;
        Ok((id, <&OctetStringRef>::decode(fields)?.as_bytes()))
    })
}

fn utf8(der: &[u8]) -> der::Result<Option<String>> {
    Ok(Some(Utf8StringRef::from_der(der)?.as_str().to_owned()))
}

/// Returns the last email address among the subject alternative names.
fn email(der: &[u8]) -> der::Result<Option<String>> {
    let names = elements(der, AnyRef::decode)?;
    let email = names.into_iter().rfind(|name| name.tag() == EMAIL);
    email.map(|name| Ok(Ia5StringRef::new(name.value())?.as_str().to_owned())).transpose()
}

impl Identity {
    /// Checks that this is the identity of the publisher.
    pub(super) fn check(&self, publisher: &Publisher) -> Result<(), Error> {
        let Publisher { kind, repository, workflow, workflow_filepath, email } = publisher;
        let is_same = match (kind.as_str(), repository, workflow, workflow_filepath, email) {
            ("GitHub", Some(repository), Some(workflow), ..) => {
                let repository = format!("https://github.com/{repository}");
                let workflow = format!("{repository}/.github/workflows/{workflow}");
                self.is_workflow("https://token.actions.githubusercontent.com", &repository, &workflow)
            }
            ("GitLab", Some(repository), _, Some(workflow), _) => {
                let repository = format!("https://gitlab.com/{repository}");
                let workflow = format!("{repository}//{workflow}");
                self.is_workflow("https://gitlab.com", &repository, &workflow)
            }
            ("Google", _, _, _, Some(email)) => {
                self.issuer.as_deref() == Some("https://accounts.google.com")
                    && self.email.as_ref() == Some(email)
            }
            ("GitHub" | "GitLab" | "Google", ..) => return Err(invalid("the publisher lacks a field")),
            _ => return Err(invalid("publishers of this kind are not supported")),
        };
        if is_same {
            Ok(())
        } else {
            Err(invalid("the certificate is for another identity than the publisher"))
        }
    }

    /// Names of repositories are compared without regard to case, as their hosts do.
    fn is_workflow(&self, issuer: &str, repository: &str, workflow: &str) -> bool {
        let is_repository = |text: &String| text.eq_ignore_ascii_case(repository);
        let is_workflow = |text: &String| {
            let (front, revision) = text.split_at_checked(workflow.len()).unwrap_or_default();
            front.eq_ignore_ascii_case(workflow) && revision.starts_with('@')
        };
        self.issuer.as_deref() == Some(issuer)
            && self.repository.as_ref().is_some_and(is_repository)
            && self.workflow.as_ref().is_some_and(is_workflow)
    }
}
