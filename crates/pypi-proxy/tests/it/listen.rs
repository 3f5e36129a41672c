//! Several listeners, and Unix sockets.
#![cfg(feature = "cli")]

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;

use reqwest::{Client, ClientBuilder};
use rustix::process::Signal;

use crate::support::prelude::*;
use crate::support::program::{Log, Served, program, run, serve};

const WHEEL: &str = "demo-1.0-py3-none-any.whl";

fn wheel() -> Bytes {
    content(3_000_000)
}

fn index() -> Server {
    file_index([(WHEEL, wheel())])
}

fn over(socket: &Path) -> ClientBuilder {
    Client::builder().unix_socket(socket)
}

async fn status(client: &Client, url: &str, path: &str) -> u16 {
    client.get(format!("{url}{path}")).send().await.unwrap().status().as_u16()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_serves_ports_and_unix_sockets() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let (public, admin) = (dir.path().join("public.sock"), dir.path().join("admin.sock"));
    let listen = format!("127.0.0.1:0, unix:{},127.0.0.1:0", public.display());
    let (url, admin_listen) = (index.url("/simple/"), format!("unix:{}", admin.display()));
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
        ("PYPI_PROXY_LISTEN", &listen),
        ("PYPI_PROXY_ADMIN_LISTEN", &admin_listen),
        ("PYPI_PROXY_UNIX_SOCKET_MODE", "0600"),
    ];
    let mut served = serve(dir.path(), &env).await;
    assert_eq!((mode(&public), mode(&admin)), (0o600, 0o600));
    let first = served.url.clone();
    let is_third = |event: &Value| {
        let address = event["address"].as_str();
        address.is_some_and(|address| !address.starts_with("unix:") && !first.ends_with(address))
    };
    let third = format!("http://{}", served.event(is_third).await["address"].as_str().unwrap());
    let path = format!("/simple/demo/{WHEEL}");
    let clients = [
        (Client::new(), served.url.clone()),
        (Client::new(), third),
        (over(&public).build().unwrap(), "http://localhost".to_owned()),
        (over(&public).http2_prior_knowledge().build().unwrap(), "http://localhost".to_owned()),
    ];
    for (client, url) in &clients {
        // A download in flight first, then a stored file and pages of each form.
        for path in
            [&*path, &path, "/simple/demo/", "/simple/demo/?format=application/vnd.pypi.simple.v1+json"]
        {
            let response = client.get(format!("{url}{path}")).send().await.unwrap();
            assert_eq!(response.status(), 200);
            let body = response.bytes().await.unwrap();
            assert!(!path.ends_with(".whl") || body == wheel());
        }
        let range = client.get(format!("{url}{path}")).header("range", "bytes=1000000-1999999");
        let body = range.send().await.unwrap().bytes().await.unwrap();
        assert!(body == wheel().slice(1_000_000..2_000_000));
        assert_eq!(status(client, url, "/metrics").await, 404);
    }
    let admin_client = over(&admin).build().unwrap();
    assert_eq!(status(&admin_client, "http://localhost", "/metrics").await, 200);
    assert_eq!(status(&admin_client, "http://localhost", "/simple/demo/").await, 404);
    // The address of a client at a Unix socket is unknown.
    let find = |event: &Value| event["path"] == "/metrics" && event["status"] == 200;
    assert_eq!(served.event(find).await["client"], Value::Null);
    assert_eq!(index.count_of(&format!("/f/{WHEEL}")), 1);
    served.end(Signal::TERM).await;
    assert!(!public.exists() && !admin.exists(), "the sockets are removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_reach_the_proxy_through_its_unix_socket() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let socket = dir.path().join("s");
    let (url, listen) = (index.url("/simple/"), format!("unix:{}", socket.display()));
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_LISTEN", &*listen)];
    let (code, text) = run(dir.path(), &env, &["healthcheck"]).await;
    assert!(code == 1 && text.contains(&format!("no response from {listen}")), "{code}: {text}");
    let (code, text) = run(dir.path(), &env, &["check"]).await;
    assert!(
        code == 0 && text.contains(&format!("{listen} is available")) && !socket.exists(),
        "{code}: {text}"
    );
    let served = serve(dir.path(), &env).await;
    assert_eq!(mode(&socket), 0o660);
    assert_eq!(run(dir.path(), &env, &["healthcheck"]).await, (0, String::new()));
    let requirements = dir.path().join("r.txt");
    std::fs::write(&requirements, "demo").unwrap();
    let (code, text) = run(dir.path(), &env, &["warm", requirements.to_str().unwrap()]).await;
    assert!(code == 0 && text.contains("1 files"), "{code}: {text}");
    let (code, text) = run(dir.path(), &env, &["stats"]).await;
    assert!(code == 0 && text.contains("file_bytes  3000000\n"), "{code}: {text}");
    let (code, text) = run(dir.path(), &env, &["check"]).await;
    assert!(code == 0 && text.contains(&format!("{listen} is in use by another program")), "{code}: {text}");
    served.end(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_of_an_ended_program_is_replaced() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let socket = dir.path().join("s");
    let (url, listen) = (index.url("/simple/"), format!("unix:{}", socket.display()));
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_LISTEN", &*listen)];
    drop(UnixListener::bind(&socket).unwrap());
    for _ in 0..2 {
        let served = serve(dir.path(), &env).await;
        let client = over(&socket).build().unwrap();
        assert_eq!(status(&client, "http://localhost", "/livez").await, 200);
        served.kill().await;
        assert!(socket.exists());
    }
    // Of several programs that start at once, one gets the socket.
    let start = |name: &str| {
        let cache = dir.path().join(name).display().to_string();
        let mut command =
            program(dir.path(), &[env[0], env[1], ("PYPI_PROXY_CACHE_DIR", &cache)], &["serve"]);
        let (log, output) = Log::new();
        (command.stderr(output).spawn().unwrap(), log)
    };
    let mut started: Vec<_> = ["a", "b", "c", "d"].map(start).into();
    while started.iter_mut().filter_map(|(child, _)| child.try_wait().unwrap()).count() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for (child, log) in &mut started {
        let log = log.all().concat();
        match child.try_wait().unwrap() {
            Some(status) => {
                assert!(status.code() == Some(1) && log.contains("in use by another program"), "{log}")
            }
            None => assert!(log.contains("listening"), "{log}"),
        }
    }
    let client = over(&socket).build().unwrap();
    assert_eq!(status(&client, "http://localhost", "/livez").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_paths_of_sockets_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let used = dir.path().join("used");
    let _used = UnixListener::bind(&used).unwrap();
    for (path, expected, reason) in [
        (file.clone(), 1, "the path exists and is not a socket"),
        (used.clone(), 1, "the socket is in use by another program"),
        (dir.path().join("missing/s"), 1, "No such file or directory"),
        (dir.path().join("x".repeat(200)), 1, "can't listen on unix:"),
        ("relative".into(), 2, "PYPI_PROXY_LISTEN: expected"),
    ] {
        let listen = format!("unix:{}", path.display());
        let env = [("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:9/simple/"), ("PYPI_PROXY_LISTEN", &listen)];
        let (code, text) = run(dir.path(), &env, &["serve"]).await;
        assert!(code == expected && text.contains(reason), "{listen}: {code}: {text}");
    }
    let listen = format!("unix:{}", file.display());
    let env = [("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:9/simple/"), ("PYPI_PROXY_LISTEN", &*listen)];
    let (code, text) = run(dir.path(), &env, &["check"]).await;
    let expected = format!("FAIL  listen: {listen}: the path exists and is not a socket");
    assert!(code == 1 && text.contains(&expected), "{code}: {text}");
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    assert!(used.symlink_metadata().unwrap().file_type().is_socket());
    // A socket that another program has put there meanwhile is not removed at the end.
    let socket = dir.path().join("s");
    let listen = format!("unix:{}", socket.display());
    let env = [("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:9/simple/"), ("PYPI_PROXY_LISTEN", &*listen)];
    let served: Served = serve(dir.path(), &env).await;
    std::fs::remove_file(&socket).unwrap();
    let _other = UnixListener::bind(&socket).unwrap();
    served.end(Signal::TERM).await;
    assert!(socket.exists());
}
