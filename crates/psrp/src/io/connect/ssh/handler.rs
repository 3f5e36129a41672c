//! Handler of russh's callbacks.

use std::sync::Arc;

use russh::client::{ChannelOpenHandle, DisconnectReason, Handler, Msg, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelId, Sig};

use super::host_key::HostKeyVerifier;
use super::state::{ConnectionError, SharedConnection};
use crate::Error;
use crate::error::Kind;
use crate::io::peer_text::peer_text;

/// Receives the events of a connection: the data of one channel. Channels opened by the server are refused.
pub(super) struct ClientHandler {
    pub(super) shared: Arc<SharedConnection>,
    pub(super) verifier: HostKeyVerifier,
}

#[derive(Debug)]
pub(super) enum SshError {
    Ssh(russh::Error),
    HostKey(Error),
}

impl From<russh::Error> for SshError {
    fn from(error: russh::Error) -> Self {
        Self::Ssh(error)
    }
}

impl From<SshError> for Error {
    fn from(error: SshError) -> Self {
        match error {
            SshError::HostKey(error) => error,
            SshError::Ssh(russh::Error::IO(error)) => error.into(),
            SshError::Ssh(error @ (russh::Error::Disconnect | russh::Error::HUP)) => {
                Self::new(Kind::Closed).caused_by(error_text(&error))
            }
            // The text can contain parts of the server's messages.
            SshError::Ssh(error) => {
                Self::with(Kind::Protocol, "the SSH connection failed").caused_by(error_text(&error))
            }
        }
    }
}

/// Returns the escaped text of a russh error, which can contain text of the server.
pub(super) fn error_text(error: &russh::Error) -> String {
    peer_text(&error.to_string()).into()
}

/// Refuses channels opened by the server: dropping the handle rejects them, while the default methods accept them.
macro_rules! refuse_channels {
    ($($open:ident($($parameter:ty),*);)*) => {$(
        async fn $open(
            &mut self,
            $(_: $parameter,)*
            _: ChannelOpenHandle,
            _: &mut Session,
        ) -> Result<(), SshError> {
            Ok(())
        }
    )*};
}

impl Handler for ClientHandler {
    type Error = SshError;

    async fn check_server_key(&mut self, presented: &PublicKeyOrCertificate) -> Result<bool, SshError> {
        self.verifier.check(presented).await.map_err(SshError::HostKey)?;
        Ok(true)
    }

    async fn data(&mut self, _: ChannelId, data: &[u8], _: &mut Session) -> Result<(), SshError> {
        self.shared.update(|state| state.put_output(data));
        Ok(())
    }

    async fn extended_data(
        &mut self,
        _: ChannelId,
        _: u32,
        data: &[u8],
        _: &mut Session,
    ) -> Result<(), SshError> {
        self.shared.update(|state| state.stderr.push(data));
        Ok(())
    }

    async fn exit_status(&mut self, _: ChannelId, status: u32, _: &mut Session) -> Result<(), SshError> {
        let text = format!("exit status {status}");
        self.shared.update(|state| state.exit = (status != 0).then_some(text));
        Ok(())
    }

    async fn exit_signal(
        &mut self,
        _: ChannelId,
        signal: Sig,
        _: bool,
        _: &str,
        _: &str,
        _: &mut Session,
    ) -> Result<(), SshError> {
        let name = match signal {
            Sig::Custom(name) => name,
            known => format!("{known:?}"),
        };
        self.shared.update(|state| state.exit = Some(format!("signal {name}")));
        Ok(())
    }

    async fn channel_success(&mut self, _: ChannelId, _: &mut Session) -> Result<(), SshError> {
        self.shared.update(|state| state.subsystem_response = Some(true));
        Ok(())
    }

    async fn channel_failure(&mut self, _: ChannelId, _: &mut Session) -> Result<(), SshError> {
        self.shared.update(|state| state.subsystem_response = Some(false));
        Ok(())
    }

    async fn channel_eof(&mut self, _: ChannelId, _: &mut Session) -> Result<(), SshError> {
        self.shared.update(|state| state.is_eof = true);
        Ok(())
    }

    async fn channel_close(&mut self, _: ChannelId, _: &mut Session) -> Result<(), SshError> {
        self.shared.put_closed(None);
        Ok(())
    }

    async fn disconnected(&mut self, reason: DisconnectReason<SshError>) -> Result<(), SshError> {
        let error = match reason {
            DisconnectReason::ReceivedDisconnect(info) => ConnectionError::Disconnect(info.message.into()),
            DisconnectReason::Error(SshError::HostKey(error)) => {
                ConnectionError::Other(error.to_string().into())
            }
            DisconnectReason::Error(SshError::Ssh(russh::Error::NoAuthMethod)) => {
                ConnectionError::NoAuthMethodLeft
            }
            // russh's error for an end without a reason.
            DisconnectReason::Error(SshError::Ssh(russh::Error::Disconnect)) => {
                ConnectionError::Other("the connection has ended".into())
            }
            DisconnectReason::Error(SshError::Ssh(error)) => {
                ConnectionError::Other(error_text(&error).into())
            }
        };
        self.shared.put_closed(Some(error));
        Ok(())
    }

    refuse_channels! {
        server_channel_open_forwarded_tcpip(Channel<Msg>, &str, u32, &str, u32);
        server_channel_open_forwarded_streamlocal(Channel<Msg>, &str);
        server_channel_open_agent_forward(Channel<Msg>);
        server_channel_open_session(Channel<Msg>);
        server_channel_open_direct_tcpip(Channel<Msg>, &str, u32, &str, u32);
        server_channel_open_direct_streamlocal(Channel<Msg>, &str);
        server_channel_open_x11(Channel<Msg>, &str, u32);
    }
}
