//! Credentials of the client and trust in the server's certificate.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use zeroize::Zeroizing;

use crate::error::{Error, Kind};
use crate::redacted::Redacted;

/// User name, password and authentication method.
#[derive(Clone, Debug)]
pub struct WsmanCredentials {
    pub(super) method: AuthMethod,
    pub(super) user: Redacted<String>,
    /// Password, or the certificate and its private key as PEM text.
    pub(super) password: Redacted<Zeroizing<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthMethod {
    Basic,
    Certificate,
    #[cfg(feature = "negotiate")]
    Negotiate(Mechanisms),
}

#[cfg(feature = "negotiate")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanisms {
    Kerberos,
    Ntlm,
    KerberosOrNtlm,
}

impl WsmanCredentials {
    /// Basic authentication (RFC 7617): user name and password are sent in clear text with each request. Windows accepts
    /// it for local users if its service is configured accordingly.
    pub fn basic(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Basic, user, password)
    }

    /// Kerberos (RFC 4559), never NTLM. The user is `DOMAIN\user`, `user@domain.example.org` or `user`. The HTTP scheme is
    /// `Negotiate`, or `Kerberos` if the service offers only that. Requires the feature `negotiate`.
    ///
    /// The key distribution centre is configured by the environment variable `SSPI_KDC_URL` or `/etc/krb5.conf`.
    /// Authentication fails with [`Error::is_denied`](crate::Error::is_denied) if none is known for the user's domain.
    ///
    /// ```no_run
    /// use psrp::io::{Wsman, WsmanCredentials};
    ///
    /// let credentials = WsmanCredentials::kerberos("user@domain.example.org", "correct horse battery staple");
    /// let wsman = Wsman::http("server.domain.example.org", credentials);
    ///
    /// // Only where the server's identity does not matter, or TLS shows it:
    /// let credentials = WsmanCredentials::ntlm("user", "correct horse battery staple");
    /// let wsman = Wsman::https("192.0.2.7", credentials);
    /// ```
    #[cfg(feature = "negotiate")]
    pub fn kerberos(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Negotiate(Mechanisms::Kerberos), user, password)
    }

    /// NTLM only (RFC 4559). It does not prove the identity of the server. Requires the feature `negotiate`.
    #[cfg(feature = "negotiate")]
    pub fn ntlm(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Negotiate(Mechanisms::Ntlm), user, password)
    }

    /// Kerberos, with fallback to NTLM if there is no key distribution centre or Kerberos fails. An attacker who blocks
    /// the connection to the centre can force NTLM. Requires the feature `negotiate`.
    #[cfg(feature = "negotiate")]
    pub fn kerberos_or_ntlm(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Negotiate(Mechanisms::KerberosOrNtlm), user, password)
    }

    /// Certificate of the client instead of a user name and password: the chain, its own certificate first, and its
    /// unencrypted private key, both in PEM. Requires TLS. Windows runs the session as the local user that it has mapped
    /// the certificate to.
    pub fn certificate(chain: &str, key: &str) -> Self {
        Self::new(AuthMethod::Certificate, "", format!("{chain}\n{key}"))
    }

    fn new(method: AuthMethod, user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { method, user: Redacted(user.into()), password: Redacted(Zeroizing::new(password.into())) }
    }

    /// Returns the certificate and private key, if there are any.
    pub(super) fn identity(&self) -> Option<&[u8]> {
        (self.method == AuthMethod::Certificate).then_some(self.password.as_bytes())
    }
}

#[derive(Clone, Debug, Default)]
pub(super) enum CertificateTrust {
    #[default]
    Platform,
    /// These certificates and those signed by one of them (PEM).
    Only(Arc<[u8]>),
    All,
}

/// Returns TLS settings that trust only these certificates and those signed by one of them, with the certificate of the
/// client.
pub(super) fn trust_only(pem: &[u8], identity: Option<&[u8]>) -> Result<ClientConfig, Error> {
    let untrusted = |error: &dyn std::fmt::Display| {
        Error::with(Kind::Untrusted, "the trusted certificates are not valid").caused_by(error.to_string())
    };
    let trusted: Vec<_> =
        CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|error| untrusted(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in &trusted {
        roots.add(certificate.clone()).map_err(|error| untrusted(&error))?;
    }
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
    let webpki = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
        .build()
        .map_err(|_| Error::with(Kind::Untrusted, "the PEM text contains no certificate"))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| untrusted(&error))?;
    let verifier = Arc::new(CertificateVerifier { webpki, trusted });
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    let Some(pem) = identity else { return Ok(config.with_no_client_auth()) };
    let chain = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(unusable_identity)?;
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(unusable_identity)?;
    config.with_client_auth_cert(chain, key).map_err(unusable_identity)
}

pub(super) fn unusable_identity(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::with(Kind::Unsupported, "the client certificate and its key can't be used").caused_by(error)
}

/// Also accepts a trusted certificate as the server's own, with its name and within its time. webpki refuses it if it is
/// an authority, as `openssl req -x509` and Windows create self-signed certificates, or if its issuer is unknown.
#[derive(Debug)]
struct CertificateVerifier {
    webpki: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // webpki has checked the time before the use of the certificate, but not the name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::Other(_),
            )) if self.trusted.contains(end_entity) => {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.webpki.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.webpki.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}
