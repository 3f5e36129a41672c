//! `cargo xtask load`: our proxy, its peers and the bounds of the machine under the same requests.

mod account;
mod client;
mod data;
mod measure;
mod programs;
mod random;
mod rows;
mod servers;
mod table;
mod upstream;
mod verify;
mod wrk;

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use self::data::Data;
use self::measure::Effort;
use self::programs::Place;
use self::rows::ROWS;
use self::servers::Server;
use self::upstream::Upstream;
use self::wrk::Wrk;
use crate::args::Args;
use crate::workspace::Workspace;
use crate::{cargo, note, say};

pub(crate) const HELP: &str = "\
usage: cargo xtask load [--quick] [--row R]... [--peer NAME=URL-OR-FILE]... [--only NAME]...
                        [--rounds N] [--seconds N] [--ours FILE]
";

#[allow(clippy::disallowed_methods, reason = "xtask is a blocking tool without an executor")]
fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// What the command line says.
#[derive(Debug)]
struct Options {
    is_quick: bool,
    rows: Vec<String>,
    peers: Vec<(String, String)>,
    only: Vec<String>,
    effort: Effort,
    ours: Option<PathBuf>,
}

impl Options {
    fn read(mut args: Args) -> Result<Self> {
        let is_quick = args.flag("--quick");
        let peer = |text: String| {
            let (name, place) = text.split_once('=').with_context(|| format!("--peer {text}: no NAME="))?;
            Ok((name.to_owned(), place.to_owned()))
        };
        let options = Self {
            is_quick,
            rows: args.values("--row")?,
            peers: args.values("--peer")?.into_iter().map(peer).collect::<Result<_>>()?,
            only: args.values("--only")?,
            effort: Effort {
                rounds: args.number("--rounds")?.unwrap_or(if is_quick { 1 } else { 3 }).max(1),
                seconds: args.number("--seconds")?.unwrap_or(if is_quick { 1 } else { 2 }).max(1),
            },
            ours: args.value("--ours")?.map(PathBuf::from),
        };
        args.finish()?;
        for row in &options.rows {
            ensure!(ROWS.iter().any(|known| known.key == row), "no row {row}");
        }
        Ok(options)
    }

    fn takes(&self, server: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == server)
    }
}

pub(crate) fn command(args: Args) -> Result<()> {
    let options = Options::read(args)?;
    ensure!(account::is_supported(), "processor time and memory are read from /proc, which is not here");
    let workspace = Workspace::find()?;
    let folder = workspace.target.join("load");
    let place = Place { data: folder.join("data"), scratch: folder.join("scratch") };
    std::fs::create_dir_all(&place.scratch)?;
    let binary = match &options.ours {
        Some(path) => path.clone(),
        None => build(&workspace)?,
    };
    note("making the content of the index");
    let data = Data::make(&place.data)?;
    let upstream = Upstream::start(&data)?;
    let wrk = Wrk::new(&place.scratch)?;
    let servers = start(&options, &place, &binary, &upstream)?;
    for row in ROWS {
        let is_wanted = if options.rows.is_empty() {
            row.is_quick || !options.is_quick
        } else {
            options.rows.iter().any(|key| key == row.key)
        };
        if !is_wanted {
            continue;
        }
        say(&format!("\n{} ({} connections): {}\n", row.key, row.connections, row.about));
        let (measured, _) = measure::measure(row, &servers, &data, &wrk, options.effort, &place.scratch);
        say(&table::lines(&measured));
    }
    Ok(())
}

/// Builds our program as it is measured, and tells where it is.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let mut command = cargo::command(
        workspace,
        &["build", "--profile", "bench", "--package", "pypi-proxy", "--bin", "pypi-proxy"],
    );
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "our program cannot be built");
    Ok(workspace.target.join("release").join(format!("pypi-proxy{}", std::env::consts::EXE_SUFFIX)))
}

/// Starts what can be had of what is wanted. What cannot be had is told.
fn start(options: &Options, place: &Place, binary: &Path, upstream: &Upstream) -> Result<Vec<Server>> {
    let mut servers = Vec::new();
    let mut add = |name: &str, server: Result<Server>| match server {
        Ok(server) => {
            note(&format!("{name} is at {}", server.address));
            servers.push(server);
        }
        Err(error) => note(&format!("skipped: {name}: {error:#}")),
    };
    let index = upstream.index();
    let cache = servers::empty(&place.scratch, "ours")?;
    add("pypi-proxy", Ok(programs::ours(place, binary, &index, &cache, "pypi-proxy", false)?));
    if options.takes("nginx static") {
        add("nginx static", programs::nginx_static(place));
    }
    if options.takes("nginx cache") {
        add("nginx cache", programs::nginx_cache(place, upstream.address, "nginx-pages"));
    }
    for (name, at) in &options.peers {
        if options.takes(name) {
            add(name, peer(place, &index, name, at));
        }
    }
    Ok(servers)
}

/// A peer by its URL, or by its program.
fn peer(place: &Place, index: &str, name: &str, at: &str) -> Result<Server> {
    if let Some(rest) = at.strip_prefix("http://") {
        let address = rest.trim_end_matches('/').to_socket_addrs()?.next().context("no address")?;
        return Ok(programs::running(name, address));
    }
    ensure!(name == "groxpi", "only groxpi can be started from a file");
    programs::groxpi(place, Path::new(at), index, "groxpi")
}
