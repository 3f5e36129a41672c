//! Traits for connections that carry packets.

use std::future::Future;
use std::task::{Context, Poll};

use uuid::Uuid;

use crate::Error;
use crate::error::Kind;
use crate::outofproc::Packet;

/// Carries packets between client and server.
///
/// Transports over pipes write packets as [`Lines`](super::Lines). Other transports translate each packet to an
/// operation of their protocol: send data, create, close or signal a pipeline. If the protocol has no acknowledgements,
/// the transport generates them after sending.
///
/// Methods that return `Pending` register the waker of their context.
#[allow(unused_variables, reason = "parameter names are part of the documentation")]
pub trait Transport: Send {
    /// Receives one packet and passes it to `take`. Returns `None` at the end of the connection.
    ///
    /// # Errors
    ///
    /// Fails if the connection fails, if the input is not a valid packet, and if `take` fails. The transport must not
    /// be polled for packets after an error.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>>;

    /// Waits until the transport can accept a packet.
    ///
    /// # Errors
    ///
    /// Fails if the connection fails.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Accepts a packet for the peer. Called once after each time that [`poll_ready`](Self::poll_ready) returned ready.
    ///
    /// # Errors
    ///
    /// Fails if this transport cannot carry the packet.
    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error>;

    /// Waits until all accepted packets are sent.
    ///
    /// # Errors
    ///
    /// Fails if the connection fails.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Flushes and closes the connection. Called until it returns ready; no method is called afterwards.
    ///
    /// # Errors
    ///
    /// Fails if the connection fails.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Maximum bytes of data per packet, before encoding. Default: the default fragment size, 32 KiB.
    fn max_data(&self) -> usize {
        crate::fragment::Fragmenter::DEFAULT_FRAGMENT_SIZE
    }

    /// Returns whether the connection is encrypted or local to this machine. If not, the client sends no secure strings
    /// with protocol 2.4, which relies on the connection's encryption. Default: `true`.
    fn is_confidential(&self) -> bool {
        true
    }

    /// Called for each pipeline that the pool attached to, so that the transport can request its packets. The default
    /// does nothing, which suits pipes: they carry the packets of all pipelines.
    ///
    /// # Errors
    ///
    /// Fails if the connection has failed.
    fn adopt(&mut self, pipeline: Uuid) -> Result<(), Error> {
        Ok(())
    }

    /// Disconnects from the pool, which stays on the server until [`poll_reconnect`](Self::poll_reconnect) or until
    /// another client connects.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_unsupported`] if the transport cannot disconnect, which is the default.
    fn poll_disconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Err(Error::with(Kind::Unsupported, "this transport can't disconnect from a pool")))
    }

    /// Reconnects to the pool. Fails like [`poll_disconnect`](Self::poll_disconnect).
    fn poll_reconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Err(Error::with(Kind::Unsupported, "this transport can't disconnect from a pool")))
    }
}

/// Creates connections to one server. Implemented by [`Child`](super::Child), the other connectors of this module, and
/// async functions without arguments.
pub trait Connect: Sync {
    /// Transport of the connections.
    type Transport: Transport + 'static;

    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// Fails if the connection cannot be made, for example because a program does not exist, a server does not answer
    /// or its key is not trusted.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, Error>> + Send;
}

impl<F, C, T> Connect for F
where
    F: Fn() -> C + Sync,
    C: Future<Output = Result<T, Error>> + Send,
    T: Transport + 'static,
{
    type Transport = T;

    fn connect(&self) -> impl Future<Output = Result<T, Error>> + Send {
        self()
    }
}
