//! Sessions of our server and client over a connection with a fault at every packet in turn.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use psrp::Error;
use psrp::io::serve::{Options, SessionEnd, serve};
use psrp::io::{self, Session};
use psrp::message::{PipelineState, PowerShell};
use psrp::value::Value;

use crate::handler::TestHandler;
use crate::transport::{Fault, TestTransport, pipe};

/// Longer than all timeouts of both ends together. The paused clock advances only when all tasks are idle.
const FOREVER: Duration = Duration::from_secs(3600);

/// Runs a session with many features. Returns whether all results are correct.
async fn client(transport: TestTransport) -> Result<bool, Error> {
    let options = io::Options::new()
        .limits(io::ClientLimits { stop_timeout: Duration::from_secs(90), ..io::ClientLimits::default() });
    let pool = Session::over(transport, options).await?;
    let output = pool.invoke(PowerShell::script("streams")).await?;
    let mut is_right = (output.state, output.output.len()) == (PipelineState::Completed, 2);
    let output = pool.invoke_with_input(PowerShell::script("echo"), ["one", "two"]).await?;
    is_right &= output.output == [Value::from("one"), Value::from("two")];
    let run = pool.start(PowerShell::script("wait")).await?;
    run.stop().await?;
    is_right &= run.output().await?.state == PipelineState::Stopped;
    is_right &= pool.get_available_runspaces().await? == 1;
    pool.close().await?;
    Ok(is_right)
}

/// Runs a session with these faults at the client and at the server. Returns both results, and the number of packets
/// received by each.
async fn session(
    at_client: Fault,
    at_server: Fault,
) -> (Result<bool, Error>, Result<SessionEnd, Error>, [usize; 2]) {
    let (near, far) = pipe(1024);
    let (near, far) = (TestTransport::new(near, at_client), TestTransport::new(far, at_server));
    let arrived = [near.arrived.clone(), far.arrived.clone()];
    let handler = Arc::new(TestHandler::default());
    let server = tokio::spawn(serve(far, handler.clone(), Options::default()));
    let client = tokio::time::timeout(FOREVER, client(near));
    let (client, server) = (client.await, tokio::time::timeout(FOREVER, server).await);
    let what = format!("{at_client:?} at the client, {at_server:?} at the server");
    let client = client.unwrap_or_else(|_| panic!("the client hangs: {what}"));
    let server = server.unwrap_or_else(|_| panic!("the server hangs: {what}")).unwrap();
    assert_eq!(TestHandler::count(&handler.running), 0, "{what}");
    assert_eq!(TestHandler::count(&handler.closed), 1, "{what}");
    (client, server, arrived.map(|count| count.load(Ordering::SeqCst)))
}

/// Returns the number of packets received by the client and the server.
async fn packets() -> [usize; 2] {
    let (client, server, packets) = session(Fault::None, Fault::None).await;
    assert!(client.unwrap());
    assert_eq!(server.unwrap(), SessionEnd::Closed);
    assert!(packets.iter().all(|count| *count > 10), "{packets:?}");
    packets
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_ends_both_sides() {
    let [at_client, at_server] = packets().await;
    for number in 0..at_client {
        let (client, server, _) = session(Fault::Cut(number), Fault::None).await;
        // The last packet only acknowledges the end.
        assert!(client.is_err() || number + 1 == at_client, "packet {number} of {at_client}");
        // The server may see an incomplete session, but never an error in the protocol.
        assert!(server.is_ok() || server.is_err_and(|error| error.is_io() || error.is_unexpected_end()));
    }
    for number in 0..at_server {
        let (client, server, _) = session(Fault::None, Fault::Cut(number)).await;
        assert!(client.is_err(), "packet {number}");
        assert_eq!(server.unwrap(), SessionEnd::Disconnected, "packet {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn delays_have_no_effect() {
    let [at_client, at_server] = packets().await;
    let late_at_client = (0..at_client).map(|number| (Fault::Late(number), Fault::None));
    let late_at_server = (0..at_server).map(|number| (Fault::None, Fault::Late(number)));
    for faults in late_at_client.chain(late_at_server) {
        let (client, server, _) = session(faults.0, faults.1).await;
        assert!(client.unwrap_or_else(|error| panic!("{faults:?}: {error}")));
        assert_eq!(server.unwrap(), SessionEnd::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn duplicate_packets_are_detected_or_ignored() {
    let [at_client, at_server] = packets().await;
    let mut noticed = 0;
    for number in 0..at_client {
        let (client, _, _) = session(Fault::Twice(number), Fault::None).await;
        noticed += usize::from(client.is_err());
    }
    assert!((1..at_client).contains(&noticed), "{noticed} of {at_client}");
    let mut noticed = 0;
    for number in 0..at_server {
        let (client, server, _) = session(Fault::None, Fault::Twice(number)).await;
        assert_eq!(client.is_err(), server.is_err(), "packet {number}: {client:?}, {server:?}");
        noticed += usize::from(server.is_err());
    }
    assert!((1..at_server).contains(&noticed), "{noticed} of {at_server}");
}
