//! What carries packets.

use std::future::Future;
use std::task::{Context, Poll};

use uuid::Uuid;

use crate::Error;
use crate::error::Kind;
use crate::outofproc::Packet;

/// Carries packets between the two ends of a session.
///
/// The transports that are pipes write them as [`Lines`](super::Lines); others take them for what they mean: send these
/// data, create or close a pipeline, signal it. A transport without acknowledgements makes them up when it has sent.
///
/// Every method that is not ready registers the waker of its context.
#[allow(unused_variables, reason = "their names are for those who write the methods")]
pub trait Transport: Send {
    /// Waits for a packet and hands it to `take`, once. `None` is the end of the connection.
    ///
    /// # Errors
    ///
    /// Fails if the connection does, if what arrives is no packet, and if `take` fails. Nothing more can be received then.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>>;

    /// Waits until there is room for a packet.
    ///
    /// # Errors
    ///
    /// Fails if the connection does.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Takes a packet for the other side. Called once each time that [`poll_ready`](Self::poll_ready) was ready.
    ///
    /// # Errors
    ///
    /// Fails if the packet can't be sent by this transport.
    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error>;

    /// Waits until all that was taken has left.
    ///
    /// # Errors
    ///
    /// Fails if the connection does.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Sends what was taken and ends the connection; called until it is ready, and nothing after that.
    ///
    /// # Errors
    ///
    /// Fails if the connection does.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// The most bytes that the data of one packet should have, before any encoding. Default: those of a fragment of the
    /// default size, 32 KiB.
    fn max_data(&self) -> usize {
        crate::fragment::Fragmenter::DEFAULT_FRAGMENT_SIZE
    }

    /// Whether nobody else can read what is sent, because the connection is encrypted or stays on this machine. Otherwise the
    /// client sends no secure strings with protocol 2.4, which leaves their encryption to the connection. Default: `true`.
    fn is_confidential(&self) -> bool {
        true
    }

    /// Tells that the pool has taken over a pipeline that runs at the server, whose packets are wanted from now on. The
    /// transports that are pipes carry them in any case and have nothing to do, which is the default.
    ///
    /// # Errors
    ///
    /// Fails if the connection has.
    fn adopt(&mut self, pipeline: Uuid) -> Result<(), Error> {
        Ok(())
    }

    /// Leaves the pool to itself: it goes on without a client until [`poll_reconnect`](Self::poll_reconnect) or another
    /// connection.
    ///
    /// # Errors
    ///
    /// Fails if the transport can't ([`Error::is_unsupported`]), which is the default.
    fn poll_disconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Err(Error::with(Kind::Unsupported, "a pool can't be left over this transport")))
    }

    /// Takes the pool up again.
    ///
    /// # Errors
    ///
    /// As [`poll_disconnect`](Self::poll_disconnect).
    fn poll_reconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Err(Error::with(Kind::Unsupported, "a pool can't be left over this transport")))
    }
}

/// Makes connections of one kind to one place.
pub trait Connect: Sync {
    /// What a connection is.
    type Transport: Transport + 'static;

    /// Makes a connection.
    ///
    /// # Errors
    ///
    /// Fails if there is no connection to be had: a program that is not there, a host that does not answer, a key that
    /// is not known.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, Error>> + Send;
}

/// A function that makes connections.
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
