//! TLS for the server.

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

/// Certificate chain and private key of a server.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// Reads the certificate chain, with the server's certificate first, and the private key from PEM (RFC 7468).
    ///
    /// # Errors
    ///
    /// Fails if a certificate or the key is missing, or if they do not match ([`Error::is_config`]).
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, Error> {
        let wrong = |what: &str| Error::with(Kind::Config, what.to_owned());
        let chain = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong("invalid certificates").caused_by(error))?;
        if chain.is_empty() {
            return Err(wrong("no certificate found"));
        }
        // The cause is omitted, because it could contain parts of the key.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("no valid private key found"))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| wrong("the certificate and the private key do not match").caused_by(error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}

/// Shows no content.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
