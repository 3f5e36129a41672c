//! Installation from the index that this machine is configured with.

use tokio::process::Command;

use crate::clients::sandbox::{Sandbox, python};
use crate::support::program::Served;
use crate::support::skip;

#[tokio::test(flavor = "multi_thread")]
async fn clients_install_from_the_configured_index() {
    let Some(python) = python() else { return };
    let cache = tempfile::tempdir().unwrap();
    let check = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"))
        .args(["check", "--listen", "127.0.0.1:0", "--cache-dir"])
        .arg(cache.path())
        .output()
        .await
        .unwrap();
    if !check.status.success() {
        let text = [check.stdout, check.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("FAIL  index") || text.contains("no index is set"), "{text}");
        skip(&format!("the index of this machine: {text}"));
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"));
    command.arg("serve").arg("--cache-dir").arg(cache.path()).kill_on_drop(true);
    command.args(["--listen", "127.0.0.1:0", "--download-timeout", "never", "--log-format", "json"]);
    let proxy = Served::start(command).await;
    let url = format!("{}/simple/", proxy.url);
    let pip = Sandbox::new(&python).await;
    pip.run("pip", &["install", "--index-url", &url, "six==1.17.0", "idna==3.10"]).await;
    let uv = Sandbox::new(&python).await;
    let log = proxy.log.count();
    uv.run("uv", &["pip", "install", "--index-url", &url, "six==1.17.0", "idna==3.10"]).await;
    assert_eq!(uv.freeze().await, ["idna==3.10", "six==1.17.0"]);
    assert_eq!(uv.freeze().await, pip.freeze().await);
    assert_eq!(uv.installed(), pip.installed());
    let log = proxy.log.all().split_off(log);
    let files: Vec<_> = log.iter().filter(|line| line.contains(".whl\"")).collect();
    assert!(files.len() >= 2 && files.iter().all(|line| line.contains("\"cache\":\"hit\"")), "{log:?}");
}
