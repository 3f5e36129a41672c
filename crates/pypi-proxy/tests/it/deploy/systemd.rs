//! Socket activation and notifications of systemd.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::deploy::{WHEEL, has, index, wheel};
use crate::support::prelude::*;
use crate::support::program::program;

/// Starts the program with a socket as file descriptor 3, like systemd.
fn start(dir: &Path, env: &[(&str, &str)], listener: TcpListener, sockets: u32) -> Child {
    let script = format!(
        "export LISTEN_PID=$$ LISTEN_FDS={sockets}\nexec {} serve --listen 127.0.0.1:1 3<&0 4<&0 0</dev/null",
        env!("CARGO_BIN_EXE_pypi-proxy")
    );
    let mut command = Command::new("sh");
    command.env_clear().env("HOME", dir).envs(env.iter().copied()).args(["-c", &script]);
    command.stdin(Stdio::from(OwnedFd::from(listener))).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

async fn get_wheel(address: SocketAddr) {
    let response = reqwest::get(format!("http://{address}/simple/demo/{WHEEL}")).await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.unwrap() == wheel());
}

/// Stops the program and checks that it succeeds.
async fn terminate(mut child: Child) {
    kill_process(Pid::from_raw(child.id().unwrap().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let status = tokio::time::timeout(TIMEOUT, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
}

fn listener() -> TcpListener {
    TcpListener::bind(("127.0.0.1", 0)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inherited_socket_is_served_and_stays_open() {
    let dir = tempfile::tempdir().unwrap();
    let index = index();
    let url = index.url("/simple/");
    let told = UnixDatagram::bind(dir.path().join("notify")).unwrap();
    told.set_read_timeout(Some(TIMEOUT)).unwrap();
    let notify = dir.path().join("notify").to_str().unwrap().to_owned();
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("NOTIFY_SOCKET", &notify), ("WATCHDOG_USEC", "200000")];
    let listener = listener();
    let address = listener.local_addr().unwrap();
    let next = || {
        let mut buffer = [0; 1024];
        let length = told.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    for _ in 0..2 {
        // A client that connects while the program is not running gets a response later.
        let early = tokio::spawn(get_wheel(address));
        let child = start(dir.path(), &env, listener.try_clone().unwrap(), 1);
        assert_eq!(next(), format!("READY=1\nSTATUS=serves at {address}\n"));
        early.await.unwrap();
        get_wheel(address).await;
        for _ in 0..3 {
            assert_eq!(next(), "WATCHDOG=1\n");
        }
        terminate(child).await;
        let end = std::iter::repeat_with(next).find(|text| text != "WATCHDOG=1\n");
        assert_eq!(end.unwrap(), "STOPPING=1\n");
        told.set_nonblocking(true).unwrap();
        while told.recv(&mut [0; 1024]).is_ok() {}
        told.set_nonblocking(false).unwrap();
    }
}

/// As if systemd were blocked: then every sender would wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_notify_socket_delays_neither_requests_nor_shutdown() {
    let dir = tempfile::tempdir().unwrap();
    let index = index();
    let url = index.url("/simple/");
    let receiver = UnixDatagram::bind(dir.path().join("notify")).unwrap();
    let sender = UnixDatagram::unbound().unwrap();
    sender.set_nonblocking(true).unwrap();
    while sender.send_to(b"", dir.path().join("notify")).is_ok() {}
    let notify = dir.path().join("notify").to_str().unwrap().to_owned();
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("NOTIFY_SOCKET", &notify), ("WATCHDOG_USEC", "2000")];
    let listener = listener();
    let address = listener.local_addr().unwrap();
    let child = start(dir.path(), &env, listener, 1);
    for _ in 0..3 {
        tokio::time::timeout(TIMEOUT, get_wheel(address)).await.unwrap();
    }
    terminate(child).await;
    drop(receiver);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_inherited_sockets_are_served() {
    let dir = tempfile::tempdir().unwrap();
    let index = index();
    let url = index.url("/simple/");
    let (path, notify) = (dir.path().join("s"), dir.path().join("notify"));
    let told = UnixDatagram::bind(&notify).unwrap();
    told.set_read_timeout(Some(TIMEOUT)).unwrap();
    let next = || {
        let mut buffer = [0; 1024];
        let length = told.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let (tcp, unix) = (listener(), std::os::unix::net::UnixListener::bind(&path).unwrap());
    let address = tcp.local_addr().unwrap();
    let script = format!(
        "export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=pypi-proxy.socket:admin\n\
         exec {} serve --listen 127.0.0.1:1 3<&0 4<&1 0</dev/null 1>/dev/null",
        env!("CARGO_BIN_EXE_pypi-proxy")
    );
    let mut command = Command::new("sh");
    command
        .env_clear()
        .env("HOME", dir.path())
        .env("PYPI_PROXY_INDEX_URL", &url)
        .env("NOTIFY_SOCKET", &notify);
    command.stdin(Stdio::from(OwnedFd::from(tcp))).stdout(Stdio::from(OwnedFd::from(unix)));
    let child = command.args(["-c", &script]).kill_on_drop(true).spawn().unwrap();
    assert_eq!(next(), format!("READY=1\nSTATUS=serves at {address}\n"));
    get_wheel(address).await;
    assert_eq!(reqwest::get(format!("http://{address}/metrics")).await.unwrap().status(), 404);
    let admin = reqwest::Client::builder().unix_socket(&*path).build().unwrap();
    assert_eq!(admin.get("http://localhost/metrics").send().await.unwrap().status(), 200);
    // systemd is told about a reload.
    kill_process(Pid::from_raw(child.id().unwrap().cast_signed()).unwrap(), Signal::HUP).unwrap();
    let reloading = next();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(next(), "READY=1\n");
    get_wheel(address).await;
    terminate(child).await;
    assert!(path.exists(), "the socket belongs to systemd");
}

#[tokio::test]
async fn invalid_inherited_sockets_end_the_program_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let env = [("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:1/simple/")];
    let datagrams = std::net::UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let child = start(dir.path(), &env, TcpListener::from(OwnedFd::from(datagrams)), 1);
    let output = child.wait_with_output().await.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("pypi-proxy: a passed socket can't be used"), "{text}");
}

/// Variables for another process, such as those of a shell started by systemd.
#[tokio::test]
async fn the_socket_of_another_process_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let env =
        [("LISTEN_PID", "1"), ("LISTEN_FDS", "1"), ("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:1/simple/")];
    let args = ["serve", "--listen", "198.51.100.1:1"];
    let output = program(dir.path(), &env, &args).output().await.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("can't listen on 198.51.100.1:1"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn systemd_starts_it_for_the_first_connection() {
    const PROGRAM: &str = "systemd-socket-activate";
    if !has(PROGRAM, "systemd_starts_it_for_the_first_connection") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let index = index();
    let address = free_address();
    let mut command = Command::new(PROGRAM);
    command.arg(format!("--listen={address}"));
    command.arg(format!("--setenv=PYPI_PROXY_INDEX_URL={}", index.url("/simple/")));
    command.arg(format!("--setenv=PYPI_PROXY_CACHE_DIR={}", dir.path().join("cache").display()));
    command.args([env!("CARGO_BIN_EXE_pypi-proxy"), "serve"]);
    let child = command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    until("it listens", async || tokio::net::TcpStream::connect(address).await.is_ok()).await;
    get_wheel(address).await;
    terminate(child).await;
}
