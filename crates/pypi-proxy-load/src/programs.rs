//! Configuration of each server as a proxy of the local index with a separate cache.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use bench_report::model::Role;
use bench_report::program::{find, succeed};

use crate::client::Header;
use crate::servers::{Server, empty, program};

/// Folders of a run.
#[derive(Debug)]
pub(crate) struct Folders {
    /// Pages and wheels.
    pub(crate) data: PathBuf,
    pub(crate) scratch: PathBuf,
}

/// Name of our program in the tables.
pub(crate) const OURS: &str = "pypi-proxy";

/// Token with which the caches of our program are purged.
pub(crate) const ADMIN_TOKEN: &str = "load";

/// Header of requests that purge a cache. Other servers ignore it.
pub(crate) fn admin() -> Header {
    ("Authorization", format!("Bearer {ADMIN_TOKEN}"))
}

/// Starts our program with this cache folder and additional flags.
pub(crate) fn ours(
    folders: &Folders,
    binary: &Path,
    index: &str,
    cache: &Path,
    flags: &[&str],
) -> Result<Server> {
    let mut server = Server::proxy(OURS, Role::Ours, "/simple/", "/health")?;
    server.version = line(program(binary).arg("--version"), OURS);
    let mut command = program(binary);
    command
        .args(["serve", "--listen", &server.address.to_string(), "--index-url", index, "--cache-dir"])
        .arg(cache)
        .args(flags)
        .env("PYPI_PROXY_ADMIN_TOKEN", ADMIN_TOKEN);
    server.start(&mut command, &folders.scratch)
}

/// Starts groxpi with a timeout that is long enough for large files.
pub(crate) fn groxpi(folders: &Folders, binary: &Path, index: &str, folder: &str) -> Result<Server> {
    let mut server = Server::proxy("groxpi", Role::Original, "/simple/", "/health")?;
    let mut command = program(binary);
    command
        .env("PORT", server.address.port().to_string())
        .env("GROXPI_INDEX_URL", index)
        .env("GROXPI_CACHE_DIR", empty(&folders.scratch, folder)?)
        .env("GROXPI_DOWNLOAD_TIMEOUT", "300")
        .env("GIN_MODE", "release")
        .current_dir(&folders.scratch);
    // Go programs contain their version or commit.
    let build = |word| line(Command::new("go").args(["version", "-m"]).arg(binary), word);
    server.version = build("vcs.revision=").or_else(|| build("\tmod\t"));
    server.start(&mut command, &folders.scratch)
}

pub(crate) fn running(name: &str, address: SocketAddr) -> Result<Server> {
    let prefix = if name == "proxpi" { "/index/" } else { "/simple/" };
    let role = if name == "groxpi" { Role::Original } else { Role::Peer };
    let mut server = Server::proxy(name, role, prefix, "/health")?;
    server.address = address;
    server.health = server.health.filter(|_| name == "groxpi");
    Ok(server)
}

/// Starts nginx as a static file server, the upper bound of this machine.
pub(crate) fn nginx_static(folders: &Folders) -> Result<Server> {
    let mut server = Server::proxy("nginx static", Role::Peer, "", "/tiny.html")?;
    server.prefix = None;
    let (address, root) = (server.address, folders.data.display());
    let config = format!(
        "open_file_cache max=1000; open_file_cache_valid 60s;\n\
         server {{ listen {address} backlog=4096; root {root}; gzip_static on; }}"
    );
    nginx(folders, server, &config)
}

/// Starts nginx as a generic cache in front of the index.
pub(crate) fn nginx_cache(folders: &Folders, upstream: SocketAddr, folder: &str) -> Result<Server> {
    let cache = empty(&folders.scratch, folder)?;
    let mut server = Server::proxy("nginx cache", Role::Peer, "/simple/", "/simple/tiny/")?;
    server.health = None;
    let address = server.address;
    let config = format!(
        "proxy_cache_path {} keys_zone=pages:10m max_size=5g;\n\
         server {{ listen {address} backlog=4096; location / {{ proxy_pass http://{upstream}; proxy_cache pages;\n\
         proxy_cache_lock on; proxy_cache_lock_timeout 300s; proxy_cache_lock_age 300s; proxy_cache_valid 200 1h;\n\
         proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_read_timeout 300s; }} }}",
        cache.display()
    );
    nginx(folders, server, &config)
}

fn nginx(folders: &Folders, mut server: Server, config: &str) -> Result<Server> {
    let dir = empty(&folders.scratch, &server.name.replace(' ', "-"))?;
    // As root, nginx would switch to another user, which cannot access the folders.
    let user = if nix::unistd::geteuid().is_root() { "user root;\n" } else { "" };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {}/{name};\n", dir.display()))
        .concat();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    // Other servers do not write each line of their log at once, either.
    let config = format!(
        "{user}daemon off;\npid {dir}/pid;\nerror_log {dir}/error.log warn;\nworker_processes {workers};\n\
         events {{ worker_connections 8192; }}\n\
         http {{\naccess_log {dir}/access.log combined buffer=64k flush=1s;\n\
         sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n\
         types {{ text/html html; application/vnd.pypi.simple.v1+json json; }}\n\
         default_type application/octet-stream;\n{temporary}{config}\n}}\n",
        dir = dir.display()
    );
    let path = dir.join("nginx.conf");
    fs::write(&path, config).with_context(|| format!("cannot write {}", path.display()))?;
    server.log = Some(dir.join("access.log"));
    server.version = version("nginx");
    let mut command = program("nginx");
    command.arg("-e").arg(dir.join("error.log")).arg("-c").arg(&path);
    server.start(&mut command, &folders.scratch)
}

pub(crate) fn ensure(name: &str) -> Result<()> {
    ensure!(find(name).is_some(), "there is no {name}; run `cargo xtask setup`");
    Ok(())
}

pub(crate) fn version(name: &str) -> Option<String> {
    let text = line(Command::new(name).arg("-v"), name)?;
    let text = text.split(" [").next().unwrap_or_default();
    Some(text.trim_start_matches("nginx version: ").to_owned())
}

/// Returns the first line with a word that a program prints.
fn line(command: &mut Command, word: &str) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    text.lines()
        .find(|line| line.contains(word))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Versions of all Python packages.
const PROXPI: &str = include_str!("../tests/proxpi.txt");
const DEVPI: &str = include_str!("../tests/devpi.txt");

fn pinned(pins: &str, packages: &[&str]) -> Option<String> {
    let is_named = |line: &&str| packages.iter().any(|name| line.split("==").next() == Some(name));
    Some(pins.lines().filter(is_named).map(|line| line.replace("==", " ")).collect::<Vec<_>>().join(", "))
}

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
    let gunicorn = installed("PROXPI_PYTHON", "gunicorn")?;
    let mut server = Server::proxy("proxpi", Role::Peer, "/index/", "/health")?;
    server.version = pinned(PROXPI, &["gunicorn", "proxpi"]);
    let mut command = program(gunicorn);
    command
        .args(["--preload", "--workers", "1", "--threads", "2", "--access-logfile", "-"])
        .args(["--bind", &server.address.to_string()])
        .arg("proxpi.server:app")
        .env("PROXPI_INDEX_URL", index)
        .env("PROXPI_CACHE_DIR", empty(&folders.scratch, folder)?)
        .env("PROXPI_DOWNLOAD_TIMEOUT", "300")
        .env("PROXPI_LOGGING_LEVEL", "WARNING")
        .current_dir(&folders.scratch);
    server.start(&mut command, &folders.scratch)
}

/// Starts devpi-server with one mirror index.
pub(crate) fn devpi(folders: &Folders, index: &str, folder: &str) -> Result<Server> {
    let tool = |name| installed("DEVPI_PYTHON", name).map(program);
    let dir = empty(&folders.scratch, folder)?;
    let mut init = tool("devpi-init")?;
    init.args(["--no-root-pypi", "--serverdir"]).arg(&dir);
    succeed(&mut init)?;
    let prefix = concat!("/", "root", "/load/+simple/");
    let mut server = Server::proxy("devpi", Role::Peer, prefix, "/+api")?;
    server.version = pinned(DEVPI, &["devpi-server", "waitress"]);
    let mut command = tool("devpi-server")?;
    command
        .args(["--host", "127.0.0.1", "--port", &server.address.port().to_string(), "--serverdir"])
        .arg(&dir)
        .current_dir(&folders.scratch);
    let server = server.start(&mut command, &folders.scratch)?;
    succeed(tool("python")?.args(["-c", MAKE_MIRROR, &format!("http://{}", server.address), index]))?;
    Ok(server)
}

/// Returns a program beside a Python interpreter that `cargo xtask` has installed.
fn installed(variable: &str, name: &str) -> Result<PathBuf> {
    let python =
        std::env::var_os(variable).with_context(|| format!("it is not installed (no {variable})"))?;
    Ok(Path::new(&python).with_file_name(name))
}
