//! `cargo xtask load`: load test of our proxy, its peers and nginx with the same requests.

pub(crate) mod client;
pub(crate) mod data;
mod figures;
mod head_requests;
mod measure;
mod outcome;
pub(crate) mod procfs;
pub(crate) mod programs;
mod python;
pub(crate) mod random;
mod rows;
pub(crate) mod servers;
mod sheets;
mod single;
pub(crate) mod system;
pub(crate) mod table;
mod targets;
pub(crate) mod upstream;
mod verify;
pub(crate) mod wrk;

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use self::data::Data;
pub(crate) use self::figures::servers_of;
use self::measure::{Sampling, Unmeasured};
pub(crate) use self::outcome::Outcome;
use self::programs::Folders;
use self::rows::{ROWS, Row};
use self::servers::{Layout, Server};
pub(crate) use self::sheets::sheets;
use self::upstream::Upstream;
use self::wrk::Wrk;
use crate::args::Args;
use crate::workspace::Workspace;
use crate::{cargo, machine, note, report, say};

pub(crate) const HELP: &str = "\
usage: cargo xtask load [--quick] [--check] [--row R]... [--only SERVER]... [--peer NAME=PLACE]...
                        [--rounds N] [--seconds N] [--ours FILE]

Load test of the proxy. Starts a local index, our proxy, nginx (as file server and as cache), proxpi and devpi, sends
them the same requests with wrk in turn, and writes target/report/load.json. If target/report contains a report, the
tables are added to it.

  --quick            One round of one second, main rows only (less than 3 minutes)
  --check            Verify every response of our proxy (debug build) without timing; does not need wrk
  --row R            Measure only this row; cold_cache, startup, list_927k and refresh do not need wrk
  --only SERVER      Compare with this server only: \"nginx static\", \"nginx cache\", proxpi, devpi, a --peer, or none
  --peer NAME=PLACE  Add a running server by URL, or groxpi by the path of its program
  --rounds N         Rounds per row [default: 3]
  --seconds N        Duration per row, server and round, in seconds [default: 2]
  --ours FILE        Use this pypi-proxy program instead of building it
";

/// Name of our program in the tables.
const OURS: &str = "pypi-proxy";
/// Name of our program with an access log.
const LOGGED: &str = "pypi-proxy, logging";
/// Rows that are measured without a load generator.
const SINGLE: [&str; 4] = ["cold_cache", "startup", "list_927k", "refresh"];

#[allow(clippy::disallowed_methods, reason = "xtask is a blocking tool without an executor")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

#[derive(Debug)]
struct Options {
    is_quick: bool,
    is_check: bool,
    rows: Vec<String>,
    peers: Vec<(String, String)>,
    only: Vec<String>,
    sampling: Sampling,
    ours: Option<PathBuf>,
}

impl Options {
    fn read(mut args: Args) -> Result<Self> {
        let is_quick = args.flag("--quick");
        let peer = |text: String| {
            let (name, folders) =
                text.split_once('=').with_context(|| format!("--peer {text}: expected NAME=PLACE"))?;
            Ok((name.to_owned(), folders.to_owned()))
        };
        let options = Self {
            is_quick,
            is_check: args.flag("--check"),
            rows: args.values("--row")?,
            peers: args.values("--peer")?.into_iter().map(peer).collect::<Result<_>>()?,
            only: args.values("--only")?,
            sampling: Sampling {
                rounds: args.number("--rounds")?.unwrap_or(if is_quick { 1 } else { 3 }).max(1),
                seconds: args.number("--seconds")?.unwrap_or(if is_quick { 1 } else { 2 }).max(1),
            },
            ours: args.value("--ours")?.map(PathBuf::from),
        };
        args.finish()?;
        for row in &options.rows {
            let is_known = ROWS.iter().any(|known| known.key == row) || SINGLE.contains(&row.as_str());
            ensure!(is_known, "unknown row {row}");
        }
        Ok(options)
    }

    fn takes(&self, server: &str) -> bool {
        !self.is_check && (self.only.is_empty() || self.only.iter().any(|name| name == server))
    }

    /// Returns whether a row was selected, or is part of the default selection.
    fn wants(&self, key: &str, is_quick: bool) -> bool {
        if self.rows.is_empty() { is_quick || !self.is_quick } else { self.rows.iter().any(|row| row == key) }
    }
}

/// Inputs of a run.
struct Run<'r> {
    options: &'r Options,
    folders: &'r Folders,
    binary: &'r Path,
    data: &'r Data,
    upstream: &'r Upstream,
}

pub(crate) fn command(args: Args) -> Result<()> {
    let options = Options::read(args)?;
    ensure!(
        procfs::is_supported(),
        "processor time and memory are read from /proc, which this system does not have"
    );
    let workspace = Workspace::find()?;
    let folder = workspace.target.join("load");
    let folders =
        Folders { data: folder.join("data"), scratch: folder.join("scratch"), peers: folder.join("peers") };
    std::fs::create_dir_all(&folders.scratch)?;
    let binary = match &options.ours {
        Some(path) => path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?,
        None => build(&workspace, options.is_check)?,
    };
    note("generating the content of the index");
    let data = Data::make(&folders.data)?;
    let upstream = Upstream::start(&data)?;
    let run = Run { options: &options, folders: &folders, binary: &binary, data: &data, upstream: &upstream };
    if options.is_check {
        return run.check();
    }
    let outcome = run.measure(&workspace)?;
    if options.rows.is_empty() && options.only.is_empty() {
        publish(&workspace, outcome)
    } else {
        note("only part of the rows or servers was measured: load.json is not written");
        Ok(())
    }
}

/// Returns the rows of a run as row keys of the benchmark harness.
pub(crate) fn keys() -> impl Iterator<Item = String> {
    // Figures that a run has for every server in addition to its rows.
    let once = SINGLE.into_iter().chain(["memory_peak"]);
    ROWS.iter().map(|row| row.key).chain(once).map(|key| format!("pypi_proxy/{key}"))
}

/// Returns the figures of the latest run.
///
/// # Errors
///
/// Fails if they have another schema.
pub(crate) fn latest(workspace: &Workspace) -> Result<Option<Outcome>> {
    Outcome::read(&workspace.report().join("load.json"))
}

fn publish(workspace: &Workspace, outcome: Outcome) -> Result<()> {
    let path = workspace.report().join("load.json");
    outcome.write(&path)?;
    say(&format!("{}\n", path.display()));
    report::join(workspace, |report| report.load = Some(outcome))
}

/// Builds our program with the measured profile, or with that of the tests, and returns its path.
pub(crate) fn build(workspace: &Workspace, is_check: bool) -> Result<PathBuf> {
    if is_check {
        return cargo::tested_program(workspace, "pypi-proxy");
    }
    let mut command =
        cargo::command(workspace, &["build", "--release", "--package", "pypi-proxy", "--bin", "pypi-proxy"]);
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "the build of pypi-proxy failed");
    Ok(workspace.program("release", "pypi-proxy"))
}

impl Run<'_> {
    fn start_ours(&self) -> Result<Server> {
        let cache = servers::empty(&self.folders.scratch, "ours")?;
        programs::ours(
            self.folders,
            self.binary,
            &self.upstream.index(),
            &cache,
            OURS,
            &["--access-log=false"],
        )
    }

    /// Verifies every response of our proxy, without timing.
    fn check(&self) -> Result<()> {
        // A long download timeout, so that no client is redirected to the index on a slow machine.
        let cache = servers::empty(&self.folders.scratch, "ours")?;
        let patient = ["--access-log=false", "--download-timeout=60s"];
        let server =
            programs::ours(self.folders, self.binary, &self.upstream.index(), &cache, OURS, &patient)?;
        let mut failed = 0;
        for row in ROWS.iter().filter(|row| self.options.wants(row.key, true)) {
            let request = row.request(&server).context("our proxy has every resource")?;
            match verify::verify(&server, &request, self.data, &self.folders.scratch) {
                Ok(found) => say(&format!(
                    "right: {} ({}, {} bytes, {})\n",
                    row.key, found.status, found.body, found.coding
                )),
                Err(error) => {
                    failed += 1;
                    say(&format!("WRONG: {}: {error:#}\n", row.key));
                }
            }
        }
        if self.options.wants("cold_cache", true) {
            let cold = single::cold(&server, self.data, self.upstream, 0)?;
            let is_right = cold.failed == 0 && cold.upstream_gets == 1;
            failed += usize::from(!is_right);
            let verdict = if is_right { "right" } else { "WRONG" };
            say(&format!(
                "{verdict}: cold_cache ({} GETs of the index, {} of {} clients failed)\n",
                cold.upstream_gets,
                cold.failed,
                single::CLIENTS
            ));
        }
        if failed > 0 { bail!("{failed} rows have wrong responses") } else { Ok(()) }
    }

    fn measure(&self, workspace: &Workspace) -> Result<Outcome> {
        // The commit of a program that was not built here is unknown.
        let commit = self.options.ours.is_none().then(|| machine::commit(&workspace.root)).flatten();
        let mut outcome = Outcome::new(machine::describe(), machine::date(), commit);
        (outcome.rounds, outcome.seconds) = (self.options.sampling.rounds, self.options.sampling.seconds);
        outcome.load_before = machine::load();
        let servers = self.start(&mut outcome)?;
        outcome.versions = system::versions();
        if system::ensure("wrk").is_ok() {
            let wrk = Wrk::new(&self.folders.scratch)?;
            for row in ROWS.iter().filter(|row| self.options.wants(row.key, row.is_quick)) {
                self.row(row, &servers, &wrk, &mut outcome);
            }
        } else {
            note("skipped: all rows under load: wrk is not installed and cannot be installed");
        }
        if self.options.wants("refresh", true) {
            for server in servers.iter().filter(|server| matches!(server.layout, Layout::Proxy { .. })) {
                let count = if server.is_slow { 1 } else { 9 };
                match single::refresh(server, self.upstream, count) {
                    Ok(refresh) => outcome.refreshes.push(refresh),
                    Err(error) => skip(&mut outcome, "refresh", &server.name, &error),
                }
            }
        }
        if self.options.wants("cold_cache", true) {
            for round in 0..self.options.sampling.rounds {
                self.cold(&servers, round, &mut outcome);
            }
        }
        // Stop the servers, since a second instance of each is started below.
        drop(servers);
        if self.options.wants("startup", true) {
            self.starts(&mut outcome);
        }
        if self.options.wants("list_927k", true) {
            self.lists(&mut outcome);
        }
        outcome.load_after = machine::load();
        outcome.targets = targets::evaluate(&outcome);
        say("\n");
        for sheet in sheets(&outcome).iter().filter(|sheet| !sheet.title.ends_with("rows")) {
            say(&report::markdown::table(sheet));
        }
        say("\n");
        Ok(outcome)
    }

    fn row(&self, row: &Row, servers: &[Server], wrk: &Wrk, outcome: &mut Outcome) {
        say(&format!("\n{} ({} connections): {}\n", row.key, row.connections, row.about));
        // Logging costs the same in every row, so it is only compared where little else is done.
        let servers: Vec<&Server> =
            servers.iter().filter(|server| server.name != LOGGED || row.is_small()).collect();
        let (measured, unmeasured) =
            measure::measure(row, &servers, self.data, wrk, self.options.sampling, &self.folders.scratch);
        say(&table::lines(&measured));
        outcome.rows.extend(measured);
        outcome.unmeasured.extend(unmeasured);
    }

    fn cold(&self, servers: &[Server], round: usize, outcome: &mut Outcome) {
        for server in servers.iter().filter(|server| matches!(server.layout, Layout::Proxy { .. })) {
            // Slow servers take part in one round only, and logging makes no difference here.
            if server.name == LOGGED || server.is_slow && round > 0 {
                continue;
            }
            if server.name == "devpi" && self.options.only.is_empty() {
                let reason = anyhow::anyhow!(
                    "takes minutes, because it downloads the file once per client; measured with --only devpi"
                );
                skip(outcome, "cold_cache", &server.name, &reason);
                continue;
            }
            match single::cold(server, self.data, self.upstream, round) {
                Ok(cold) => outcome.cold.push(cold),
                Err(error) => skip(outcome, "cold_cache", &server.name, &error),
            }
        }
    }

    fn starts(&self, outcome: &mut Outcome) {
        let ours = |name: &'static str, is_new: bool| {
            move || {
                let folder = self.folders.scratch.join("ours");
                let cache = if is_new { servers::empty(&self.folders.scratch, "new")? } else { folder };
                programs::ours(
                    self.folders,
                    self.binary,
                    &self.upstream.index(),
                    &cache,
                    name,
                    &["--access-log=false"],
                )
            }
        };
        let mut add = |name: &str, start: Result<single::Start>| match start {
            Ok(start) => outcome.starts.push(start),
            Err(error) => skip(outcome, "startup", name, &error),
        };
        add(OURS, single::starts(5, ours("pypi-proxy, new cache", true)));
        add(OURS, single::starts(5, ours("pypi-proxy, cache of this run", false)));
        if self.options.takes("nginx static") {
            add("nginx static", single::starts(5, || programs::nginx_static(self.folders)));
        }
        if self.options.takes("proxpi") && !self.options.is_quick {
            add(
                "proxpi",
                single::starts(1, || python::proxpi(self.folders, &self.upstream.index(), "proxpi")),
            );
        }
        for (name, at) in self.options.peers.iter().filter(|(_, at)| !at.contains("://")) {
            add(name, single::starts(5, || peer(self.folders, &self.upstream.index(), name, at)));
        }
    }

    fn lists(&self, outcome: &mut Outcome) {
        let index = self.upstream.whole_index();
        let mut add =
            |name: &str, server: Result<Server>| match server.and_then(|server| single::list(&server)) {
                Ok(list) => outcome.lists.push(list),
                Err(error) => skip(outcome, "list_927k", name, &error),
            };
        let ours = || {
            let cache = servers::empty(&self.folders.scratch, "all")?;
            programs::ours(self.folders, self.binary, &index, &cache, OURS, &["--access-log=false"])
        };
        add(OURS, ours());
        for (name, at) in self.options.peers.iter().filter(|(_, at)| !at.contains("://")) {
            add(name, peer(self.folders, &index, name, at));
        }
        if self.options.takes("proxpi") && !self.options.is_quick {
            add("proxpi", python::proxpi(self.folders, &index, "proxpi-all"));
        }
    }

    /// Starts the selected servers. Servers that cannot be started are reported.
    fn start(&self, outcome: &mut Outcome) -> Result<Vec<Server>> {
        let (folders, index) = (self.folders, self.upstream.index());
        let mut servers = vec![self.start_ours()?];
        let mut add = |name: &str, server: Result<Server>| match server {
            Ok(server) => servers.push(server),
            Err(error) => {
                note(&format!("skipped: {name}: {error:#}"));
                skip(outcome, "all", name, &error);
            }
        };
        if self.options.takes(LOGGED) {
            let cache = servers::empty(&folders.scratch, "ours-logging")?;
            add(LOGGED, programs::ours(folders, self.binary, &index, &cache, LOGGED, &[]));
        }
        if self.options.takes("nginx static") {
            add("nginx static", system::ensure("nginx").and_then(|()| programs::nginx_static(folders)));
        }
        if self.options.takes("nginx cache") {
            let server = || programs::nginx_cache(folders, self.upstream.address, "nginx-pages");
            add("nginx cache", system::ensure("nginx").and_then(|()| server()));
        }
        for (name, at) in &self.options.peers {
            if self.options.takes(name) {
                add(name, peer(folders, &index, name, at));
            }
        }
        if self.options.takes("proxpi") {
            add("proxpi", python::check().and_then(|()| python::proxpi(folders, &index, "proxpi")));
        }
        if self.options.takes("devpi") && (!self.options.is_quick || !self.options.only.is_empty()) {
            add("devpi", python::check().and_then(|()| python::devpi(folders, &index, "devpi")));
        }
        Ok(servers)
    }
}

fn skip(outcome: &mut Outcome, row: &str, server: &str, error: &anyhow::Error) {
    let reason = format!("{error:#}");
    outcome.unmeasured.push(Unmeasured { row: row.into(), server: server.into(), reason });
}

/// Returns a peer by its URL, or starts it from its program.
fn peer(folders: &Folders, index: &str, name: &str, at: &str) -> Result<Server> {
    if let Some(rest) = at.strip_prefix("http://") {
        let address =
            rest.trim_end_matches('/').to_socket_addrs()?.next().context("the URL has no address")?;
        return Ok(programs::running(name, address));
    }
    ensure!(name == "groxpi", "only groxpi can be started from a program");
    let binary = Path::new(at).canonicalize().with_context(|| format!("cannot find {at}"))?;
    programs::groxpi(folders, &binary, index, "groxpi")
}
