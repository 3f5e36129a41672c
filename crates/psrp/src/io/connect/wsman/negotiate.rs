//! NTLM and Kerberos, by SPNEGO (RFC 4178) or Kerberos alone, with one security context per connection.

use std::time::Duration;

use sspi::credssp::SspiContext;
use sspi::generator::{GeneratorState, NetworkRequest};
use sspi::network_client::NetworkProtocol;
use sspi::ntlm::NtlmConfig;
use sspi::{
    AuthIdentity, BufferType, ClientRequestFlags, CredentialUse, Credentials, CredentialsBuffers,
    DataRepresentation, EncryptionFlags, ErrorKind, KdcResolution, Kerberos, KerberosConfig, Negotiate,
    NegotiateConfig, SecurityBuffer, SecurityBufferRef, SecurityStatus, Sspi, SspiImpl, Username,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bindings::correct_options;
use super::credentials::{Mechanisms, WsmanCredentials};
use super::encryption::{EncryptedMessage, Scheme};
use crate::error::{Error, Kind};

/// Timeout of a request to a key distribution centre.
const KDC_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of a response of a key distribution centre.
const MAX_KDC_RESPONSE: usize = 1 << 20;

impl Mechanisms {
    fn list(self) -> &'static str {
        match self {
            Self::Kerberos => "kerberos",
            Self::Ntlm => "ntlm",
            Self::KerberosOrNtlm => "kerberos,ntlm",
        }
    }

    #[cold]
    fn auth_error(self, error: sspi::Error) -> Error {
        let detail = match self {
            Self::Kerberos => "authentication by Kerberos failed (NTLM is used only if it is requested)",
            Self::Ntlm => "authentication by NTLM failed",
            Self::KerberosOrNtlm => "authentication by Kerberos or NTLM failed",
        };
        Error::with(Kind::Denied, detail).caused_by(error)
    }
}

/// Security context: the state of an authentication, then the keys for encrypting messages.
pub(super) struct SecurityContext {
    mechanisms: Mechanisms,
    scheme: Scheme,
    package: SspiContext,
    credentials: Option<CredentialsBuffers>,
    target: String,
    bindings: Option<Vec<u8>>,
    is_complete: bool,
}

impl SecurityContext {
    /// Creates a context for the service on a host, bound to its certificate.
    pub(super) fn new(
        mechanisms: Mechanisms,
        scheme: Scheme,
        credentials: &WsmanCredentials,
        host: &str,
        bindings: Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let username = Username::parse(&credentials.user)
            .map_err(|error| Error::with(Kind::Denied, "the user name is not valid").caused_by(error))?;
        let identity = AuthIdentity { username, password: credentials.password.to_string().into() };
        let mut package = new_package(mechanisms, scheme).map_err(|error| mechanisms.auth_error(error))?;
        let credentials = Credentials::from(identity);
        let handle = package
            .acquire_credentials_handle()
            .with_credential_use(CredentialUse::Outbound)
            .with_auth_data(&credentials)
            .execute(&mut package)
            .map_err(|error| mechanisms.auth_error(error))?
            .credentials_handle;
        let target = format!("HTTP/{host}");
        Ok(Self { mechanisms, scheme, package, credentials: handle, target, bindings, is_complete: false })
    }

    pub(super) fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns whether the client's part of the authentication has succeeded.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Processes the server's token (empty at first) and returns the next one, which is empty if none is needed. Fails
    /// with [`Error::is_denied`] if the token is not valid or no ticket can be obtained.
    pub(super) async fn step(&mut self, token: Vec<u8>) -> Result<Vec<u8>, Error> {
        let mechanisms = self.mechanisms;
        let mut input = vec![SecurityBuffer::new(token, BufferType::Token)];
        if let Some(bindings) = &self.bindings {
            input.push(SecurityBuffer::new(bindings.clone(), BufferType::ChannelBindings));
        }
        let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
        let status = {
            let mut builder = self
                .package
                .initialize_security_context()
                .with_credentials_handle(&mut self.credentials)
                .with_context_requirements(
                    ClientRequestFlags::MUTUAL_AUTH
                        | ClientRequestFlags::REPLAY_DETECT
                        | ClientRequestFlags::SEQUENCE_DETECT
                        | ClientRequestFlags::CONFIDENTIALITY
                        | ClientRequestFlags::INTEGRITY,
                )
                .with_target_data_representation(DataRepresentation::Native)
                .with_target_name(&self.target)
                .with_input(&mut input)
                .with_output(&mut output);
            // The type has a private method with the same name.
            let mut generator = SspiImpl::initialize_security_context_impl(&mut self.package, &mut builder)
                .map_err(|error| mechanisms.auth_error(error))?;
            let mut state = generator.start();
            loop {
                match state {
                    GeneratorState::Completed(result) => {
                        break result.map_err(|error| mechanisms.auth_error(error))?.status;
                    }
                    GeneratorState::Suspended(request) => {
                        state = generator.resume(request_from_kdc(request).await)
                    }
                }
            }
        };
        if matches!(status, SecurityStatus::CompleteNeeded | SecurityStatus::CompleteAndContinue) {
            self.package.complete_auth_token(&mut output).map_err(|error| mechanisms.auth_error(error))?;
        }
        self.is_complete = matches!(status, SecurityStatus::Ok | SecurityStatus::CompleteNeeded);
        let [token] = output;
        if self.bindings.is_some()
            && let Ok(keys) = self.package.query_context_session_key()
            && let Some(corrected) = correct_options(&token.buffer, keys.session_key.as_ref())
        {
            return Ok(corrected);
        }
        Ok(token.buffer)
    }

    pub(super) fn encrypt(&mut self, message: &[u8]) -> Result<EncryptedMessage, Error> {
        let mechanisms = self.mechanisms;
        let trailer = self
            .package
            .query_context_sizes()
            .map_err(|error| mechanisms.auth_error(error))?
            .security_trailer;
        let mut encrypted = EncryptedMessage { signature: vec![0; trailer as usize], data: message.to_vec() };
        let mut buffers = [
            SecurityBufferRef::token_buf(&mut encrypted.signature),
            SecurityBufferRef::data_buf(&mut encrypted.data),
        ];
        self.package
            .encrypt_message(EncryptionFlags::empty(), &mut buffers)
            .map_err(|error| mechanisms.auth_error(error))?;
        Ok(encrypted)
    }

    /// Decrypts a message and checks its signature. Fails with [`Error::is_crypto`] if this is not the next message
    /// encrypted by the server.
    pub(super) fn decrypt(&mut self, mut encrypted: EncryptedMessage) -> Result<Vec<u8>, Error> {
        let mut buffers = [
            SecurityBufferRef::token_buf(&mut encrypted.signature),
            SecurityBufferRef::data_buf(&mut encrypted.data),
        ];
        // Do not reveal which check failed.
        self.package.decrypt_message(&mut buffers).map_err(|_| Error::new(Kind::Crypto))?;
        let [_, data] = buffers;
        Ok(data.data().to_vec())
    }
}

fn new_package(mechanisms: Mechanisms, scheme: Scheme) -> sspi::Result<SspiContext> {
    // Windows logs this name. The machine's real name is not disclosed.
    let client_computer_name = "psrp".to_owned();
    Ok(match scheme {
        Scheme::Negotiate => {
            let ntlm = Box::new(NtlmConfig::default());
            let config = NegotiateConfig::new(ntlm, Some(mechanisms.list().into()), client_computer_name);
            SspiContext::Negotiate(Negotiate::new_client(config)?)
        }
        Scheme::Kerberos => {
            let kdc_resolution = KdcResolution::KdcUrl(None);
            let config = KerberosConfig { kdc_resolution, client_computer_name };
            SspiContext::Kerberos(Kerberos::new_client_from_config(config)?)
        }
    })
}

/// Sends a request to a key distribution centre over TCP (RFC 4120 7.2.2): a 4-byte length, then the message.
async fn request_from_kdc(request: NetworkRequest) -> sspi::Result<Vec<u8>> {
    if request.protocol != NetworkProtocol::Tcp {
        let what = "key distribution centres are supported over TCP only";
        return Err(sspi::Error::new(ErrorKind::NoAuthenticatingAuthority, what));
    }
    let host = request.url.host_str().unwrap_or_default().to_owned();
    let port = request.url.port().unwrap_or(88);
    let exchange = async {
        let mut stream = TcpStream::connect((host, port)).await?;
        // The message already contains its length prefix.
        stream.write_all(&request.data).await?;
        let len = stream.read_u32().await?;
        if len as usize > MAX_KDC_RESPONSE {
            return Err(std::io::Error::other("the response is too long"));
        }
        let mut response = vec![0; len as usize + 4];
        response[..4].copy_from_slice(&len.to_be_bytes());
        stream.read_exact(&mut response[4..]).await?;
        Ok(response)
    };
    match tokio::time::timeout(KDC_TIMEOUT, exchange).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(sspi::Error::new(ErrorKind::NoAuthenticatingAuthority, error.to_string())),
        Err(_) => Err(sspi::Error::new(ErrorKind::NoAuthenticatingAuthority, "no response in time")),
    }
}
