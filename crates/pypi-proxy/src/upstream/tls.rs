//! TLS configuration of the clients. The authorities of the system are read at the first use.

use std::error::Error as StdError;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustls_platform_verifier::Verifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::Error;
use crate::error::Kind;

/// TLS configuration that several clients share.
#[derive(Clone, Debug)]
pub(crate) struct TlsClient {
    pub(super) config: ClientConfig,
    pub(super) verifier: Arc<SystemVerifier>,
}

impl TlsClient {
    /// Creates the configuration, or returns `None` if any certificate is accepted. Fails if an authority is not a PEM
    /// certificate ([`Error::is_config`]).
    pub(crate) fn new(pems: &[Vec<u8>], accepts_any: bool) -> Result<Option<Self>, Error> {
        let mut authorities = Vec::new();
        for pem in pems {
            let wrong = || Error::with(Kind::Config, "an authority is not a PEM certificate");
            let before = authorities.len();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                authorities.push(certificate.map_err(|error| wrong().caused_by(error))?);
            }
            if authorities.len() == before {
                return Err(wrong());
            }
        }
        if accepts_any {
            return Ok(None);
        }
        // The verifier, which checks this as well, is created later.
        let mut roots = RootCertStore::empty();
        authorities.iter().try_for_each(|one| roots.add(one.clone())).map_err(error)?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = Arc::new(SystemVerifier {
            authorities,
            provider: provider.clone(),
            verifier: OnceLock::new(),
            loading: Mutex::new(()),
        });
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(error)?.dangerous();
        let mut config = builder.with_custom_certificate_verifier(verifier.clone()).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Some(Self { config, verifier }))
    }
}

#[cold]
pub(super) fn error(error: impl StdError + Send + Sync + 'static) -> Error {
    Error::with(Kind::Config, "TLS can't be set up").caused_by(error)
}

/// Verifies certificates with the authorities of the system and additional ones. The authorities of the system are
/// some hundred files, and reading them would take most of the time of a start.
#[derive(Debug)]
pub(super) struct SystemVerifier {
    authorities: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Verifier>,
    loading: Mutex<()>,
}

impl SystemVerifier {
    /// Reads the authorities of the system, unless this has been done. Blocks the thread for some milliseconds. A
    /// failure is not remembered.
    pub(super) fn load(&self) -> Result<&Verifier, rustls::Error> {
        if let Some(verifier) = self.verifier.get() {
            return Ok(verifier);
        }
        let _loading = self.loading.lock();
        if let Some(verifier) = self.verifier.get() {
            return Ok(verifier);
        }
        let authorities = self.authorities.iter().cloned();
        let verifier = Verifier::new_with_extra_roots(authorities, self.provider.clone())?;
        Ok(self.verifier.get_or_init(|| verifier))
    }
}

impl ServerCertVerifier for SystemVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.load()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
