//! NTLM and Kerberos by SPNEGO (RFC 4178), one context for each connection.

use std::fmt;
use std::time::Duration;

use sspi::generator::{GeneratorState, NetworkRequest};
use sspi::network_client::NetworkProtocol;
use sspi::{
    AuthIdentity, BufferType, ClientRequestFlags, CredentialUse, Credentials, CredentialsBuffers,
    DataRepresentation, EncryptionFlags, ErrorKind, Negotiate, NegotiateConfig, SecurityBuffer,
    SecurityBufferRef, SecurityStatus, Sspi, SspiImpl, Username, ntlm::NtlmConfig,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::config::WsmanCredentials;
use super::seal::Sealed;
use crate::error::{Error, Kind};

/// How long a key distribution centre may take to answer.
const CENTRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Limits the answer of a key distribution centre.
const MAX_TICKET: usize = 1 << 20;

/// Which mechanisms may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packages {
    Kerberos,
    Ntlm,
    KerberosOrNtlm,
}

impl Packages {
    fn list(self) -> &'static str {
        match self {
            Self::Kerberos => "kerberos",
            Self::Ntlm => "ntlm",
            Self::KerberosOrNtlm => "kerberos,ntlm",
        }
    }

    #[cold]
    fn failure(self, error: sspi::Error) -> Error {
        let detail = match self {
            Self::Kerberos => "authentication by Kerberos failed (NTLM is used only if it is requested)",
            Self::Ntlm => "authentication by NTLM failed",
            Self::KerberosOrNtlm => "authentication by Kerberos or NTLM failed",
        };
        Error::with(Kind::Denied, detail).caused_by(error)
    }
}

/// The state of one authentication, and then the keys of its messages.
pub(super) struct Context {
    packages: Packages,
    negotiate: Negotiate,
    credentials: Option<CredentialsBuffers>,
    target: String,
    /// What the authentication is bound to.
    bindings: Option<Vec<u8>>,
    is_complete: bool,
}

impl Context {
    /// A context for the service at this host, bound to its certificate.
    pub(super) fn new(
        packages: Packages,
        credentials: &WsmanCredentials,
        host: &str,
        bindings: Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let username = Username::parse(&credentials.user)
            .map_err(|error| Error::with(Kind::Denied, "a name that no user has").caused_by(error))?;
        let identity = AuthIdentity { username, password: credentials.password.to_string().into() };
        let config = NegotiateConfig::new(
            Box::new(NtlmConfig::default()),
            Some(packages.list().into()),
            // Windows shows this name in its log; that of the machine is nobody's business.
            "psrp".into(),
        );
        let mut negotiate = Negotiate::new_client(config).map_err(|error| packages.failure(error))?;
        let credentials = Credentials::from(identity);
        let handle = negotiate
            .acquire_credentials_handle()
            .with_credential_use(CredentialUse::Outbound)
            .with_auth_data(&credentials)
            .execute(&mut negotiate)
            .map_err(|error| packages.failure(error))?
            .credentials_handle;
        let target = format!("HTTP/{host}");
        Ok(Self { packages, negotiate, credentials: handle, target, bindings, is_complete: false })
    }

    /// Whether the client is content with the other side.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Takes the token of the other side, none at first, and gives one for it, which is empty if there is nothing more
    /// to say.
    ///
    /// # Errors
    ///
    /// Fails if the token is not what it should be or if there is no ticket to be had ([`Error::is_denied`]).
    pub(super) async fn step(&mut self, token: Vec<u8>) -> Result<Vec<u8>, Error> {
        let packages = self.packages;
        let mut input = vec![SecurityBuffer::new(token, BufferType::Token)];
        if let Some(bindings) = &self.bindings {
            input.push(SecurityBuffer::new(bindings.clone(), BufferType::ChannelBindings));
        }
        let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
        let status = {
            let mut builder = self
                .negotiate
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
            let mut generator = self
                .negotiate
                .initialize_security_context_impl(&mut builder)
                .map_err(|error| packages.failure(error))?;
            let mut state = generator.start();
            loop {
                match state {
                    GeneratorState::Completed(result) => {
                        break result.map_err(|error| packages.failure(error))?.status;
                    }
                    GeneratorState::Suspended(request) => state = generator.resume(ask(request).await),
                }
            }
        };
        if matches!(status, SecurityStatus::CompleteNeeded | SecurityStatus::CompleteAndContinue) {
            self.negotiate.complete_auth_token(&mut output).map_err(|error| packages.failure(error))?;
        }
        self.is_complete = matches!(status, SecurityStatus::Ok | SecurityStatus::CompleteNeeded);
        let [token] = output;
        Ok(token.buffer)
    }

    /// Encrypts a message.
    pub(super) fn seal(&mut self, message: &[u8]) -> Result<Sealed, Error> {
        let packages = self.packages;
        let trailer =
            self.negotiate.query_context_sizes().map_err(|error| packages.failure(error))?.security_trailer;
        let mut sealed = Sealed { signature: vec![0; trailer as usize], data: message.to_vec() };
        let mut buffers = [
            SecurityBufferRef::token_buf(&mut sealed.signature),
            SecurityBufferRef::data_buf(&mut sealed.data),
        ];
        self.negotiate
            .encrypt_message(EncryptionFlags::empty(), &mut buffers)
            .map_err(|error| packages.failure(error))?;
        Ok(sealed)
    }

    /// Decrypts a message and checks its signature.
    ///
    /// # Errors
    ///
    /// Fails if it was not sealed by the other side as its next message ([`Error::is_crypto`]).
    pub(super) fn unseal(&mut self, mut sealed: Sealed) -> Result<Vec<u8>, Error> {
        let mut buffers = [
            SecurityBufferRef::token_buf(&mut sealed.signature),
            SecurityBufferRef::data_buf(&mut sealed.data),
        ];
        // Which of the checks fails is nobody's business.
        self.negotiate.decrypt_message(&mut buffers).map_err(|_| Error::new(Kind::Crypto))?;
        let [_, data] = buffers;
        Ok(data.data().to_vec())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("is_complete", &self.is_complete).finish_non_exhaustive()
    }
}

/// Asks a key distribution centre over TCP (RFC 4120 7.2.2): the length in four bytes, and then the message.
async fn ask(request: NetworkRequest) -> sspi::Result<Vec<u8>> {
    if request.protocol != NetworkProtocol::Tcp {
        let what = "key distribution centres are asked over TCP alone";
        return Err(sspi::Error::new(ErrorKind::NoAuthenticatingAuthority, what));
    }
    let host = request.url.host_str().unwrap_or_default().to_owned();
    let port = request.url.port().unwrap_or(88);
    let asked = async {
        let mut stream = TcpStream::connect((host, port)).await?;
        // The message has its length in front already.
        stream.write_all(&request.data).await?;
        let len = stream.read_u32().await?;
        if len as usize > MAX_TICKET {
            return Err(std::io::Error::other("the answer is too long"));
        }
        let mut answer = vec![0; len as usize + 4];
        answer[..4].copy_from_slice(&len.to_be_bytes());
        stream.read_exact(&mut answer[4..]).await?;
        Ok(answer)
    };
    match tokio::time::timeout(CENTRE_TIMEOUT, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(sspi::Error::new(ErrorKind::NoAuthenticatingAuthority, error.to_string())),
        Err(_) => Err(sspi::Error::new(ErrorKind::NoAuthenticatingAuthority, "no answer in time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first token of a user that no key distribution centre is known for.
    async fn first_token(packages: Packages) -> Result<Vec<u8>, Error> {
        let credentials = WsmanCredentials::basic("user@nowhere.invalid", "secret");
        Context::new(packages, &credentials, "server.invalid", None).unwrap().step(Vec::new()).await
    }

    #[tokio::test]
    async fn ntlm_is_used_only_if_it_was_requested() {
        let offers_ntlm = |token: &[u8]| token.windows(7).any(|window| window == b"NTLMSSP");
        for packages in [Packages::Ntlm, Packages::KerberosOrNtlm] {
            assert!(offers_ntlm(&first_token(packages).await.unwrap()), "{packages:?}");
        }
        let error = first_token(Packages::Kerberos).await.unwrap_err();
        assert!(error.is_denied() && error.to_string().contains("only if it is requested"), "{error}");
    }
}
