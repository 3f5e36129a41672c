//! What the task of a connection does with what arrives.

use std::sync::Arc;

use russh::client::{ChannelOpenHandle, DisconnectReason, Handler, Msg, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelId, Sig};

use super::state::{Exit, Fault, Shared};
use super::trust::Trust;
use crate::Error;
use crate::error::Kind;
use crate::io::remote::remote_text;

/// Takes what arrives over a connection. It accepts one channel's data and no channel of the server.
pub(super) struct Task {
    pub(super) shared: Arc<Shared>,
    pub(super) trust: Trust,
}

/// Why a connection fails.
#[derive(Debug)]
pub(super) enum Failure {
    /// Reported by the library.
    Ssh(russh::Error),
    /// The server is not trusted.
    Trust(Error),
}

impl From<russh::Error> for Failure {
    fn from(error: russh::Error) -> Self {
        Self::Ssh(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Trust(error) => error,
            Failure::Ssh(russh::Error::IO(error)) => error.into(),
            Failure::Ssh(error @ (russh::Error::Disconnect | russh::Error::HUP)) => {
                Self::new(Kind::Closed).caused_by(words(&error))
            }
            // Its words may have some of the server's.
            Failure::Ssh(error) => {
                Self::with(Kind::Protocol, "the SSH connection fails").caused_by(words(&error))
            }
        }
    }
}

/// What an error of the library says. It may repeat what the server has sent.
pub(super) fn words(error: &russh::Error) -> String {
    remote_text(&error.to_string()).into()
}

impl Handler for Task {
    type Error = Failure;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Failure> {
        self.trust.check(shown).await.map_err(Failure::Trust)?;
        Ok(true)
    }

    async fn data(&mut self, _: ChannelId, data: &[u8], _: &mut Session) -> Result<(), Failure> {
        self.shared.put_output(data);
        Ok(())
    }

    async fn extended_data(
        &mut self,
        _: ChannelId,
        _: u32,
        data: &[u8],
        _: &mut Session,
    ) -> Result<(), Failure> {
        self.shared.put_complaint(data);
        Ok(())
    }

    async fn exit_status(&mut self, _: ChannelId, status: u32, _: &mut Session) -> Result<(), Failure> {
        self.shared.put_exit(Exit::Status(status));
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
    ) -> Result<(), Failure> {
        let name = match signal {
            Sig::Custom(name) => name,
            known => format!("{known:?}"),
        };
        self.shared.put_exit(Exit::Signal(name.into()));
        Ok(())
    }

    async fn channel_success(&mut self, _: ChannelId, _: &mut Session) -> Result<(), Failure> {
        self.shared.put_answer(true);
        Ok(())
    }

    async fn channel_failure(&mut self, _: ChannelId, _: &mut Session) -> Result<(), Failure> {
        self.shared.put_answer(false);
        Ok(())
    }

    async fn channel_eof(&mut self, _: ChannelId, _: &mut Session) -> Result<(), Failure> {
        self.shared.put_end_of_output();
        Ok(())
    }

    async fn channel_close(&mut self, _: ChannelId, _: &mut Session) -> Result<(), Failure> {
        self.shared.put_closed(None);
        Ok(())
    }

    async fn disconnected(&mut self, reason: DisconnectReason<Failure>) -> Result<(), Failure> {
        let fault = match reason {
            DisconnectReason::ReceivedDisconnect(info) => Fault::Disconnect(info.message.into()),
            DisconnectReason::Error(Failure::Trust(error)) => Fault::Other(error.to_string().into()),
            DisconnectReason::Error(Failure::Ssh(russh::Error::NoAuthMethod)) => Fault::NoMethod,
            // What the library calls an end without any reason.
            DisconnectReason::Error(Failure::Ssh(russh::Error::Disconnect)) => {
                Fault::Other("the connection has ended".into())
            }
            DisconnectReason::Error(Failure::Ssh(error)) => Fault::Other(words(&error).into()),
        };
        self.shared.put_closed(Some(fault));
        Ok(())
    }

    // Channels of the server are refused by letting go of the reply.

    async fn server_channel_open_forwarded_tcpip(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn server_channel_open_forwarded_streamlocal(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        _: Channel<Msg>,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn server_channel_open_session(
        &mut self,
        _: Channel<Msg>,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn server_channel_open_direct_tcpip(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn server_channel_open_direct_streamlocal(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn server_channel_open_x11(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Failure> {
        Ok(())
    }
}
