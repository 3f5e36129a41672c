//! What a server needs for TLS.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::Error;
use crate::error::Kind;

/// A certificate and its key.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// Reads a chain of certificates, that of the server first, and its key, both as PEM (RFC 7468).
    ///
    /// # Errors
    ///
    /// Fails if there is no certificate or no key, or if they do not belong together ([`Error::is_config`]).
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, Error> {
        let wrong = |what: &str| Error::with(Kind::Config, what.to_owned());
        let chain = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong("the certificates can't be read").caused_by(error))?;
        if chain.is_empty() {
            return Err(wrong("there is no certificate"));
        }
        // Its error might show what it could not read.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("there is no private key"))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| wrong("certificate and key do not fit").caused_by(error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}

/// Shows nothing.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
