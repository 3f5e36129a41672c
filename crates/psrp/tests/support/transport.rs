//! In-memory transports that inject faults and record events.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use psrp::Error;
use psrp::io::{Lines, Transport};
use psrp::outofproc::{Packet, Role};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// One end of a pipe.
pub(crate) type Pipe = Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// Creates a pipe with this capacity in bytes.
pub(crate) fn pipe(size: usize) -> (Pipe, Pipe) {
    let (near, far) = tokio::io::duplex(size);
    let lines = |role, end| {
        let (read, write) = tokio::io::split(end);
        Lines::new(role, read, write)
    };
    (lines(Role::Client, near), lines(Role::Server, far))
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    /// The connection ends before the packet with this number.
    Cut(usize),
    /// The packet arrives a minute late.
    Late(usize),
    /// The packet arrives twice.
    Twice(usize),
    /// Signals are acknowledged, but do not arrive.
    IgnoredSignals,
}

/// An end of a pipe that injects a fault into received packets, and that supports disconnecting.
pub(crate) struct TestTransport {
    inner: Pipe,
    fault: Fault,
    /// Number of received packets.
    pub(crate) arrived: Arc<AtomicUsize>,
    delay: Option<Pin<Box<tokio::time::Sleep>>>,
    /// Received signals and closes, disconnects and reconnects, in order.
    pub(crate) log: Arc<Mutex<Vec<&'static str>>>,
}

impl TestTransport {
    pub(crate) fn new(inner: Pipe, fault: Fault) -> Self {
        Self { inner, fault, arrived: Arc::default(), delay: None, log: Arc::default() }
    }
}

impl Transport for TestTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        let number = self.arrived.load(Ordering::SeqCst);
        if self.fault == Fault::Cut(number) {
            return Poll::Ready(None);
        }
        if self.fault == Fault::Late(number) {
            let minute = || Box::pin(tokio::time::sleep(Duration::from_secs(59)));
            if self.delay.get_or_insert_with(minute).as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        let is_twice = self.fault == Fault::Twice(number);
        let ignores_signals = self.fault == Fault::IgnoredSignals;
        let mut ignored = None;
        let (arrived, log) = (self.arrived.clone(), self.log.clone());
        let received = self.inner.poll_receive(cx, &mut |packet| {
            arrived.fetch_add(1, Ordering::SeqCst);
            match packet {
                Packet::Signal(_) => log.lock().unwrap().push("stop"),
                Packet::Close(target) => log.lock().unwrap().push(target.map_or("closed", |_| "close")),
                _ => {}
            }
            if let (Packet::Signal(id), true) = (packet, ignores_signals) {
                ignored = Some(id);
                return Ok(());
            }
            take(packet)?;
            if is_twice { take(packet) } else { Ok(()) }
        });
        if let Some(id) = ignored {
            self.inner.send(Packet::SignalAck(id))?;
            let _ = self.inner.poll_flush(cx)?;
        }
        received
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.inner.send(packet)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_close(cx)
    }

    fn poll_disconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.log.lock().unwrap().push("disconnect");
        Poll::Ready(Ok(()))
    }

    fn poll_reconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.log.lock().unwrap().push("reconnect");
        Poll::Ready(Ok(()))
    }
}
