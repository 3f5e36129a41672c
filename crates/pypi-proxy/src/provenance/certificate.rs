//! The certificate of an attestation: its key, and the identity of its owner.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use x509_parser::asn1_rs::{FromDer as _, Utf8String};
use x509_parser::prelude::{GeneralName, X509Certificate};

use super::document::{Publisher, invalid};
use crate::Error;

/// Issuer of the identity, in the certificates of Sigstore.
const ISSUER: &str = "1.3.6.1.4.1.57264.1.8";
/// Repository of the source, as a URL.
const REPOSITORY: &str = "1.3.6.1.4.1.57264.1.12";
/// Workflow that built the file, as a URL with a revision.
const WORKFLOW: &str = "1.3.6.1.4.1.57264.1.18";

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
        let (rest, certificate) =
            X509Certificate::from_der(der).map_err(|_| invalid("the certificate is malformed"))?;
        if !rest.is_empty() {
            return Err(invalid("there is data after the certificate"));
        }
        let mut identity = Identity::default();
        for extension in certificate.extensions() {
            let field = match extension.oid.to_id_string().as_str() {
                ISSUER => &mut identity.issuer,
                REPOSITORY => &mut identity.repository,
                WORKFLOW => &mut identity.workflow,
                _ => continue,
            };
            let text = Utf8String::from_der(extension.value).ok().filter(|(rest, _)| rest.is_empty());
            let (_, text) = text.ok_or_else(|| invalid("an extension of the certificate is malformed"))?;
            if field.replace(text.string()).is_some() {
                return Err(invalid("an extension of the certificate is repeated"));
            }
        }
        let names = certificate.subject_alternative_name();
        let names = names.map_err(|_| invalid("the names in the certificate are malformed"))?;
        for name in names.iter().flat_map(|names| &names.value.general_names) {
            if let GeneralName::RFC822Name(email) = name {
                identity.email = Some((*email).to_owned());
            }
        }
        let key = certificate.public_key().subject_public_key.data.to_vec();
        Ok(Self { key, identity })
    }

    /// Verifies an ECDSA signature with P-256 and SHA-256.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.key);
        key.verify(message, signature)
            .map_err(|_| invalid("the signature does not verify with the certificate"))
    }
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
