//! A listener that a test can close together with its connections.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Listener on loopback. Dropping it closes the listener and its connections.
pub(crate) struct TestListener {
    address: SocketAddr,
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl TestListener {
    /// Calls `serve` with every connection.
    pub(crate) async fn start<F>(mut serve: impl FnMut(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, mut stopped) = watch::channel(());
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = tokio::select! {
                    _ = stopped.changed() => break,
                    accepted = listener.accept() => accepted.unwrap(),
                };
                connections.spawn(serve(stream));
            }
            drop(listener);
            connections.shutdown().await;
        });
        Self { address, stop, task }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the listener and all connections, and waits until that is done.
    pub(crate) async fn stop(&self) {
        self.stop.send_replace(());
        self.stop.closed().await;
    }
}

impl Drop for TestListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}
