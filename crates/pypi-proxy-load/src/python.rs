//! Python peers, in virtual environments below the target folder.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::output::Role;
use crate::programs::Folders;
use crate::servers::{Layout, Server, ServerSpec, empty, free_address, program};

/// Creates a mirror index, which devpi supports only over HTTP.
const MAKE_MIRROR: &str = r#"
import base64, json, sys, urllib.request
server, index = sys.argv[1:]
def ask(method, path, data, auth=None):
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if auth:
        headers["X-Devpi-Auth"] = base64.b64encode(auth.encode()).decode()
    request = urllib.request.Request(server + path, json.dumps(data).encode(), headers, method=method)
    return json.load(urllib.request.urlopen(request))
token = ask("POST", "/+login", {"user": "root", "password": ""})["result"]["password"]
mirror = {"type": "mirror", "mirror_url": index, "volatile": True, "mirror_cache_expiry": 1800}
ask("PUT", "/{}/load".format("root"), mirror, "root:" + token)
"#;

/// Starts proxpi as its image does: one process with two threads.
pub(crate) fn proxpi(folders: &Folders, index: &str, folder: &str) -> Result<Server> {
    let venv = install(folders, "proxpi", include_str!("pins/proxpi.txt"))?;
    let address = free_address()?;
    let mut command = program(&venv.join("bin/gunicorn"));
    command
        .args(["--preload", "--workers", "1", "--threads", "2", "--access-logfile", "-"])
        .args(["--bind", &address.to_string()])
        .arg("proxpi.server:app")
        .env("PROXPI_INDEX_URL", index)
        .env("PROXPI_CACHE_DIR", empty(&folders.scratch, folder)?)
        .env("PROXPI_DOWNLOAD_TIMEOUT", "300")
        .env("PROXPI_LOGGING_LEVEL", "WARNING")
        .current_dir(&folders.scratch);
    let spec = ServerSpec {
        name: "proxpi",
        role: Role::Peer,
        layout: Layout::Proxy { prefix: "/index/" },
        health: Some("/health"),
        ready: "/health",
    };
    Server::start(&spec, address, &mut command, &folders.scratch)
}

/// Starts devpi-server with one mirror index.
pub(crate) fn devpi(folders: &Folders, index: &str, folder: &str) -> Result<Server> {
    let venv = install(folders, "devpi", include_str!("pins/devpi.txt"))?;
    let dir = empty(&folders.scratch, folder)?;
    let mut init = program(&venv.join("bin/devpi-init"));
    init.args(["--no-root-pypi", "--serverdir"]).arg(&dir);
    run(&mut init)?;
    let address = free_address()?;
    let mut command = program(&venv.join("bin/devpi-server"));
    command
        .args(["--host", "127.0.0.1", "--port", &address.port().to_string(), "--serverdir"])
        .arg(&dir)
        .current_dir(&folders.scratch);
    let spec = ServerSpec {
        name: "devpi",
        role: Role::Peer,
        layout: Layout::Proxy { prefix: concat!("/", "root", "/load/+simple/") },
        health: Some("/+api"),
        ready: "/+api",
    };
    let server = Server::start(&spec, address, &mut command, &folders.scratch)?;
    make_mirror(&venv, address, index)?;
    Ok(server)
}

fn make_mirror(venv: &Path, address: SocketAddr, index: &str) -> Result<()> {
    let mut python = program(&venv.join("bin/python"));
    python.args(["-c", MAKE_MIRROR, &format!("http://{address}"), index]);
    run(&mut python)
}

/// Installs the pinned versions, unless they are installed.
fn install(folders: &Folders, name: &str, pins: &str) -> Result<PathBuf> {
    let venv = folders.peers.join(name);
    // Written last, so that an interrupted installation is repeated.
    let done = venv.join("installed");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == pins) {
        return Ok(venv);
    }
    fs::create_dir_all(&folders.peers)?;
    let requirements = folders.peers.join(format!("{name}.txt"));
    fs::write(&requirements, pins)?;
    let mut create = Command::new("python3");
    create.args(["-m", "venv", "--clear"]).arg(&venv);
    run(&mut create)?;
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--retries", "1", "--disable-pip-version-check"])
        .arg("--requirement")
        .arg(&requirements);
    run(&mut pip)?;
    fs::write(done, pins)?;
    Ok(venv)
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start {program}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}: {}", output.status, text.trim());
    Ok(())
}
