//! Ends of sessions over SSH.

use std::sync::Arc;
use std::time::Duration;

use psrp::client::PipelineEvent;
use psrp::io::{ClientLimits, Connect, Options, Session, Ssh};
use psrp::message::{PipelineState, PowerShell};
use psrp::{Error, Value};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::ssh::files::{Files, line};
use crate::ssh::server::{AuthPolicy, Program, Server};

async fn server(program: Program) -> Server {
    Server::start(AuthPolicy { password: Some("s3cret"), ..AuthPolicy::default() }, program).await
}

fn connector(server: &Server, files: &Files) -> Ssh {
    server.connector(files).password("s3cret")
}

/// Opens a pool in which two pipelines can run at once.
async fn pool(server: &Server, files: &Files) -> Session {
    open(&connector(server, files)).await
}

/// Opens a pool of this connector in which two pipelines can run at once.
async fn open(ssh: &Ssh) -> Session {
    let pool = Session::open(ssh, Options::new()).await.unwrap();
    assert!(pool.set_max_runspaces(2).await.unwrap());
    pool
}

/// Returns the error of opening a pool.
async fn failure(ssh: Ssh) -> Error {
    Session::open(&ssh, Options::new()).await.map(drop).unwrap_err()
}

#[tokio::test]
async fn a_session_transfers_large_values_and_ends_cleanly() {
    let (files, server) = (Files::new(), server(Program::Serve).await);
    let pool = pool(&server, &files).await;
    let output = pool.invoke(PowerShell::script("count 3")).await.unwrap();
    assert_eq!(output.output, [0, 1, 2].map(Value::from));
    let input = ["to and fro".to_owned(), "z".repeat(5_000_000)];
    let output = pool.invoke_with_input(PowerShell::script("echo"), input.clone()).await.unwrap();
    assert_eq!(output.output, input.map(Value::from));
    pool.close().await.unwrap();
}

#[tokio::test]
async fn pools_on_two_connections_are_independent() {
    let (files, server) = (Files::new(), server(Program::Serve).await);
    // One connector: each new one rewrites the known hosts file.
    let ssh = connector(&server, &files);
    let (one, two) = tokio::join!(open(&ssh), open(&ssh));
    let run = |pool: Session, count: i32| async move {
        let output = pool.invoke(PowerShell::script(format!("count {count}"))).await.unwrap();
        pool.close().await.unwrap();
        output.output.len()
    };
    assert_eq!(tokio::join!(run(one, 2000), run(two, 3000)), (2000, 3000));
}

#[tokio::test]
async fn a_pipeline_with_unread_output_can_be_stopped() {
    let (files, server) = (Files::new(), server(Program::Serve).await);
    // A client that does not read is not mistaken for a silent server.
    let ssh = connector(&server, &files).max_unread(64 << 10).keep_alive(Duration::from_millis(50));
    let through_jump_host = ssh.clone().jump(ssh.clone());
    tokio::join!(stop_unread(&ssh), stop_unread(&through_jump_host));
}

/// Runs a pipeline whose output is not read, and stops it.
async fn stop_unread(ssh: &Ssh) {
    let pool = Session::open(
        ssh,
        Options::new().limits(ClientLimits { max_buffered_bytes: 256 << 10, ..ClientLimits::default() }),
    )
    .await
    .unwrap();
    let mut run = pool.start(PowerShell::script("flood")).await.unwrap();
    // Until the client reads no more; long enough for all buffers to fill up.
    tokio::time::sleep(Duration::from_millis(750)).await;
    let handle = run.handle();
    let stop = tokio::spawn(async move { handle.stop().await });
    // The stop continues while the output is read.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut state = None;
    while let Some(event) = run.next().await {
        if let PipelineEvent::State(changed) = event.unwrap() {
            state = Some(changed.state);
        }
    }
    assert_eq!(state, Some(PipelineState::Stopped));
    stop.await.unwrap().unwrap();
    pool.close().await.unwrap();
}

#[tokio::test]
async fn a_session_runs_through_jump_hosts() {
    let (files, front, back) = (Files::new(), server(Program::Hang).await, server(Program::Serve).await);
    let known = |server: &Server| format!("[127.0.0.1]:{} {}\n", server.port, line(server.key.public_key()));
    let known = files.write("both", &(known(&front) + &known(&back)));
    // The jump host has the known hosts of its target.
    let jump = Ssh::new("127.0.0.1").port(front.port).user("alice").without_agent().without_key_files();
    let jump = jump.password("s3cret");
    let target = connector(&back, &files).known_hosts([&known]);
    for hops in 1..=2 {
        let ssh = match hops {
            1 => target.clone().jump(jump.clone()),
            _ => target.clone().jump(jump.clone().jump(jump.clone())),
        };
        let pool = open(&ssh).await;
        let input = ["x".repeat(3_000_000)];
        let output = pool.invoke_with_input(PowerShell::script("echo"), input.clone()).await.unwrap();
        assert_eq!(output.output, input.map(Value::from));
        pool.close().await.unwrap();
        back.idle().await;
        front.idle().await;
    }

    let error = failure(target.clone().jump(jump.clone().password("wrong"))).await;
    assert!(error.is_denied(), "{error:?}");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let error = failure(target.port(closed).jump(jump)).await;
    assert!(error.is_io(), "{error:?}");
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("jump host"), "{error:?}");
    front.idle().await;
}

#[tokio::test]
async fn a_missing_subsystem_is_an_error() {
    let (files, server) = (Files::new(), server(Program::Serve).await);
    let error = failure(connector(&server, &files).subsystem("perl")).await;
    assert!(error.is_unsupported(), "{error:?}");
    assert!(error.to_string().contains("no subsystem perl"), "{error}");
    server.idle().await;
}

#[tokio::test]
async fn standard_error_and_exit_status_are_reported() {
    let files = Files::new();
    let server = server(Program::Fail("pwsh: command not found\x1b[2J\n", 127)).await;
    let error = failure(connector(&server, &files)).await;
    assert!(error.is_closed(), "{error:?}");
    let text = error.to_string();
    for part in ["powershell on 127.0.0.1:", "exit status 127", "pwsh: command not found\\u{1b}[2J"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[tokio::test]
async fn a_connection_ended_by_the_server_is_reported() {
    let (files, server) = (Files::new(), server(Program::Disconnect).await);
    let error = failure(connector(&server, &files)).await;
    assert!(error.is_closed(), "{error:?}");
    assert!(error.to_string().contains("we close at \\u{7} eight"), "{error}");
}

#[tokio::test]
async fn a_lost_server_fails_its_pipelines() {
    let (files, server) = (Files::new(), server(Program::Serve).await);
    let pool = pool(&server, &files).await;
    let waiting = pool.start(PowerShell::script("wait")).await.unwrap();
    let mut run = pool.start(PowerShell::script("die")).await.unwrap();
    let mut error = None;
    while let Some(event) = run.next().await {
        error = event.err();
    }
    for error in [error.unwrap(), waiting.output().await.unwrap_err()] {
        assert!(error.is_closed(), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("exit status 137: out of memory\\u{1b}[2J"), "{text}");
    }
    let error = pool.invoke(PowerShell::script("count 1")).await.unwrap_err();
    assert!(error.is_closed() || error.is_state(), "{error:?}");
}

#[tokio::test]
async fn dropping_a_connection_ends_it() {
    let (files, server) = (Files::new(), server(Program::Hang).await);
    drop(connector(&server, &files).connect().await.unwrap());
    server.idle().await;
}

#[tokio::test]
async fn an_unresponsive_server_times_out() {
    let (files, server) = (Files::new(), server(Program::Serve).await);
    // A proxy between both that stops forwarding.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = server.port;
    let stop = Arc::new(Notify::new());
    let stopper = Arc::clone(&stop);
    let passing = tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
            () = stop.notified() => {}
        }
        std::future::pending::<()>().await;
    });
    let ssh = connector(&server, &files).port(port);
    let ssh = ssh.known_hosts([files.known_hosts(port, server.key.public_key())]);
    let ssh = ssh.keep_alive(Duration::from_millis(500));
    let pool = Session::open(&ssh, Options::new()).await.unwrap();
    stopper.notify_one();
    let error = pool.invoke(PowerShell::script("wait")).await.unwrap_err();
    assert!(error.to_string().contains("the server does not answer"), "{error:?}");
    passing.abort();
}

#[tokio::test]
async fn a_server_that_never_closes_does_not_block_closing() {
    let (files, server) = (Files::new(), server(Program::Hang).await);
    let ssh = connector(&server, &files).close_timeout(Duration::from_millis(50));
    let mut transport = ssh.connect().await.unwrap();
    std::future::poll_fn(|cx| psrp::io::Transport::poll_close(&mut transport, cx)).await.unwrap();
}
