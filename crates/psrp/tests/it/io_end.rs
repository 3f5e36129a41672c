//! Ends of pipelines, pools and connections.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::error::Error as _;
use std::io::Write as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use psrp::Error;
use psrp::client::Config;
use psrp::io::serve::{self, SessionEnd};
use psrp::io::{ClientLimits, Lines, Options, Session};
use psrp::message::{PipelineState, PowerShell, RunspacePoolState};
use psrp::outofproc::Role;
use tokio::sync::Notify;

use crate::handler::{TestHandler, TestSession, pipe};
use crate::transport::{Fault, TestTransport};

#[tokio::test(start_paused = true)]
async fn a_stop_without_a_final_state_ends() {
    let (near, far) = pipe(4096);
    let far = TestTransport::new(far, Fault::IgnoredSignals);
    let server = tokio::spawn(serve::serve(far, TestHandler::default(), serve::Options::default()));
    let pool = Session::over(near, Options::new()).await.unwrap();
    let run = pool.start(PowerShell::script("wait")).await.unwrap();
    let start = tokio::time::Instant::now();
    run.stop().await.unwrap();
    let expected = ClientLimits::default().stop_delay + ClientLimits::default().late_records;
    assert!(start.elapsed() >= expected && start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(run.output().await.unwrap().state, PipelineState::Stopped);
    pool.close().await.unwrap();
    assert_eq!(server.await.unwrap().unwrap(), SessionEnd::Closed);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_pipeline_stops_and_closes_it() {
    let options =
        Options::new().limits(ClientLimits { stop_delay: Duration::ZERO, ..ClientLimits::default() });
    let TestSession { pool, handler, ended, log } =
        TestSession::with(Config::new(), options, serve::Options::default()).await;
    let run = pool.start(PowerShell::script("wait")).await.unwrap();
    TestHandler::reach(&handler.running, 1).await;
    drop(run);
    while !pool.pipelines().is_empty() {
        tokio::task::yield_now().await;
    }
    // Also when a future that runs a pipeline is dropped. The paused clock does not advance until the pipeline runs and
    // waits.
    let invoked = pool.invoke(PowerShell::script("wait"));
    assert!(tokio::time::timeout(Duration::from_millis(50), invoked).await.is_err());
    drop(pool);
    assert_eq!(ended.await.unwrap().unwrap(), SessionEnd::Closed);
    assert_eq!(*log.lock().unwrap(), ["stop", "close", "stop", "close", "closed"]);
}

#[tokio::test]
async fn closing_a_pool_stops_its_pipelines() {
    let TestSession { pool, ended, log, .. } = TestSession::new().await;
    let mut run = pool.start(PowerShell::script("wait")).await.unwrap();
    let other = pool.clone();
    let (one, two) = tokio::join!(pool.close(), other.close());
    one.unwrap();
    two.unwrap();
    assert_eq!(ended.await.unwrap().unwrap(), SessionEnd::Closed);
    assert_eq!(*log.lock().unwrap(), ["stop", "close", "closed"]);
    while let Some(event) = run.next().await {
        if let Err(error) = event {
            panic!("{error}");
        }
    }
    assert_eq!(run.state(), PipelineState::Stopped);
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_closed());
    assert_eq!(pool.state(), RunspacePoolState::Closed);
    pool.close().await.unwrap();
}

/// Ends the pool, and checks that all pending operations fail with the same cause.
async fn all_fail(pool: Session, handler: &TestHandler, end: impl FnOnce()) -> Error {
    let run = pool.start(PowerShell::script("wait")).await.unwrap();
    let mut other = pool.start(PowerShell::script("stubborn")).await.unwrap();
    let handle = other.handle();
    let output = tokio::spawn(run.output());
    let asked = tokio::spawn({
        let pool = pool.clone();
        async move { pool.reset_runspace_state().await }
    });
    let stopped = tokio::spawn({
        let handle = other.handle();
        async move { handle.stop().await }
    });
    TestHandler::reach(&handler.running, 2).await;
    end();
    for error in [
        output.await.unwrap().unwrap_err(),
        asked.await.unwrap().unwrap_err(),
        stopped.await.unwrap().unwrap_err(),
    ] {
        assert!(error.is_closed(), "{error}");
    }
    let mut last = None;
    while let Some(event) = other.next().await {
        last = Some(event);
    }
    assert!(last.unwrap().unwrap_err().is_closed());
    assert!(handle.send(1).await.unwrap_err().is_closed());
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_closed());
    assert_eq!(pool.state(), RunspacePoolState::Broken);
    assert!(pool.close().await.unwrap_err().is_closed());
    TestHandler::reach(&handler.running, 0).await;
    pool.closed().await
}

#[tokio::test]
async fn the_end_of_the_connection_fails_all_operations() {
    let TestSession { pool, handler, ended, .. } = TestSession::runspaces(2).await;
    let error = all_fail(pool, &handler, || ended.abort()).await;
    assert_eq!(error.to_string(), "the connection has ended: closed by the server");
}

/// Returns the client's error after these bytes in a session.
async fn error_of_garbage(garbage: &[u8]) -> Error {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let mut injector = server.try_clone().unwrap();
    let transport = |role, socket: std::net::TcpStream| {
        socket.set_nonblocking(true).unwrap();
        let (read, write) = tokio::net::TcpStream::from_std(socket).unwrap().into_split();
        Lines::new(role, read, write)
    };
    let handler = Arc::new(TestHandler::default());
    let server = transport(Role::Server, server);
    tokio::spawn(serve::serve(server, handler.clone(), serve::Options::default()));
    let options = Options::new().runspaces(1..=2);
    let pool = Session::over(transport(Role::Client, client), options).await.unwrap();
    all_fail(pool, &handler, || injector.write_all(garbage).unwrap()).await
}

#[tokio::test]
async fn garbage_fails_all_operations() {
    let garbage: [&[u8]; 5] = [
        b"<Unknown PSGuid='00000000-0000-0000-0000-000000000000' />\n",
        b"<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>!</Data>\n",
        b"<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>AAAAAAAAAAAAAAAAAAAAAAAAAAAA</Data>\n",
        b"<Close PSGuid='00000000-0000-0000-0000-000000000000' />\n",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]>\n",
    ];
    for bytes in garbage {
        let error = error_of_garbage(bytes).await;
        assert!(error.source().is_some_and(|source| source.is::<Error>()), "{error:?}");
    }
    let error = error_of_garbage(b"__NamedPipeError__:out of pipes\n").await;
    assert!(error.to_string().contains("out of pipes"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn timeouts_fail_operations() {
    // The pool is never opened.
    let (near, _far) = pipe(4096);
    let error = Session::over(near, Options::new()).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");

    // The pipeline is not stopped, but closed.
    let patient = serve::Options { stop_timeout: Duration::from_secs(3600), ..serve::Options::default() };
    let served = TestSession::with(Config::new(), Options::new(), patient).await;
    let run = served.pool.start(PowerShell::script("stubborn")).await.unwrap();
    TestHandler::reach(&served.handler.running, 1).await;
    let error = run.stop().await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    drop(run);
    served.close().await;

    // The server hangs.
    let hang = Arc::new(Notify::new());
    let (near, far) = pipe(4096);
    let server = tokio::spawn({
        let hang = Arc::clone(&hang);
        async move {
            let mut server = pin!(serve::serve(far, TestHandler::default(), serve::Options::default()));
            tokio::select! {
                _ = &mut server => {}
                () = hang.notified() => std::future::pending().await,
            }
        }
    });
    let pool = Session::over(near, Options::new()).await.unwrap();
    hang.notify_one();
    let error = pool.close().await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert!(error.source().unwrap().downcast_ref::<Error>().unwrap().is_timeout(), "{error:?}");
    server.abort();
}

#[test]
fn dropping_the_runtime_ends_the_pool() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let (pool, run) = first.block_on(async {
        let TestSession { pool, .. } = TestSession::new().await;
        let run = pool.start(PowerShell::script("wait")).await.unwrap();
        (pool, run)
    });
    drop(first);
    let error = runtime().block_on(run.output()).unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert_eq!(pool.state(), RunspacePoolState::Broken);
}

/// A process that keeps running when its input is closed.
#[cfg(unix)]
#[tokio::test]
async fn a_process_that_does_not_exit_is_killed() {
    use std::future::poll_fn;

    use psrp::io::{Child, Connect, Transport};

    let child = Child::new("sh").args(["-c", "exec sleep 600"]).exit_timeout(Duration::from_millis(1));
    let mut transport = child.connect().await.unwrap();
    assert!(transport.id().is_some());
    poll_fn(|cx| transport.poll_close(cx)).await.unwrap();
    assert_eq!(transport.id(), None);
}

#[cfg(unix)]
#[tokio::test]
async fn the_end_of_the_standard_error_is_reported() {
    let long: String = (0..1000).map(|number| format!("{number:04}")).collect();
    let count =
        "number=0; while [ $number -lt 1000 ]; do printf %04d $number; number=$((number+1)); done >&2";
    for (script, expected) in [
        ("printf 'first \\033[2J\\377\\n' >&2", "first \\u{1b}[2J\u{fffd}"),
        // A third of 4 KiB, because invalid UTF-8 can triple in size.
        (count, &long[long.len() - 4096 / 3..]),
    ] {
        let child = psrp::io::Child::new("sh").args(["-c", script]);
        let error = Session::open(&child, Options::new()).await.unwrap_err().to_string();
        assert!(error.ends_with(&format!(": {expected}")), "{error}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_socket_of_a_process_is_found() {
    use psrp::io::{Connect, Socket};
    use tokio::net::UnixListener;

    let id = std::process::id();
    let path = |name: String| std::env::temp_dir().join(format!("CoreFxPipe_{name}"));
    let others = [
        path(format!("PSHost.{id}.7.None.pwsh")),
        path(format!("PSHost.1D8A3F00.{id}1.None.pwsh")),
        path(format!("PSHost.1D8A3F00.{id}")),
        path(format!("x.1D8A3F00.{id}.None.pwsh")),
    ];
    let listeners = others.each_ref().map(|path| UnixListener::bind(path).unwrap());
    // Regular files are ignored.
    let socket_path = path(format!("PSHost.1D8A3F00.{id}.None.pwsh"));
    std::fs::write(&socket_path, "").unwrap();
    assert!(Socket::of_process(id).unwrap_err().is_closed());
    std::fs::remove_file(&socket_path).unwrap();
    let listener = UnixListener::bind(&socket_path).unwrap();
    let socket = Socket::of_process(id).unwrap();
    assert_eq!(socket.path(), socket_path);
    let (accepted, connected) = tokio::join!(listener.accept(), socket.connect());
    accepted.unwrap();
    connected.unwrap();
    drop((listener, listeners));
    for path in others.iter().chain([&socket_path]) {
        std::fs::remove_file(path).unwrap();
    }
    assert!(socket.connect().await.unwrap_err().is_io());
}
