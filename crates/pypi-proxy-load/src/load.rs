//! `cargo xtask load`: load test of our proxy, its peers and nginx with the same requests.

use std::net::ToSocketAddrs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::data::{COLD, Data};
use crate::output::Row as ReportRow;
use crate::programs::{self, Folders, OURS};
use crate::results::Outcome;
use crate::rows::ROWS;
use crate::servers::{self, Server};
use crate::upstream::Upstream;
use crate::wrk::Wrk;
use crate::{Paths, measure, note, output, procfs, results, say, single, verify};

/// Number of starts per program for the startup time.
const STARTS: usize = 10;

/// Rows that are measured without a load generator.
const SINGLE: [&str; 5] = ["cold_cache", "startup", "list_927k", "refresh", "lock_file_cold"];

/// Load test of the proxy
///
/// Starts a local index, our proxy, nginx (as file server and as cache), proxpi and devpi, sends them the same
/// requests with wrk in turn, and writes target/report/load.json. If target/report contains a report, the tables are
/// added to it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One round, main rows only (less than 3 minutes)
    #[arg(long)]
    quick: bool,
    /// Verify every response of our proxy (debug build) without timing; does not need wrk
    #[arg(long)]
    check: bool,
    /// Measure only this row; cold_cache, startup, list_927k, refresh and lock_file_cold do not need wrk
    #[arg(long = "row", value_name = "R", value_parser = known_row)]
    rows: Vec<String>,
    /// Compare with this server only: "nginx static", "nginx cache", proxpi, devpi, a --peer, or none
    #[arg(long, value_name = "SERVER")]
    only: Vec<String>,
    /// Add a running server by URL, or groxpi by the path of its program
    #[arg(long = "peer", value_name = "NAME=PLACE", value_parser = peer_place)]
    peers: Vec<(String, String)>,
    /// Rounds per row, at least; rows that are not decided get up to 16 [default: 10, with --quick 1]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    #[command(flatten)]
    paths: Paths,
}

fn known_row(row: &str) -> Result<String, String> {
    let is_known = ROWS.iter().any(|known| known.key == row) || SINGLE.contains(&row);
    if is_known { Ok(row.to_owned()) } else { Err("unknown row".to_owned()) }
}

fn peer_place(text: &str) -> Result<(String, String), String> {
    let (name, place) = text.split_once('=').ok_or("expected NAME=PLACE")?;
    Ok((name.to_owned(), place.to_owned()))
}

impl Options {
    fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 10 }).max(1)
    }

    fn takes(&self, server: &str) -> bool {
        !self.check && (self.only.is_empty() || self.only.iter().any(|name| name == server))
    }

    /// Returns whether a row was selected, or is part of the default selection.
    fn wants(&self, key: &str, is_quick: bool) -> bool {
        if self.rows.is_empty() { is_quick || !self.quick } else { self.rows.iter().any(|row| row == key) }
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

pub(crate) fn run(options: &Options) -> Result<()> {
    procfs::ensure_supported()?;
    let Paths { folder, ours, out, about } = &options.paths;
    let folders =
        Folders { data: folder.join("data"), scratch: folder.join("scratch"), peers: folder.join("peers") };
    std::fs::create_dir_all(&folders.scratch)?;
    let binary = ours.canonicalize().with_context(|| format!("cannot find {}", ours.display()))?;
    note("generating the content of the index");
    let data = Data::make(&folders.data)?;
    let upstream = Upstream::start(&data)?;
    let run = Run { options, folders: &folders, binary: &binary, data: &data, upstream: &upstream };
    if options.check {
        return run.check();
    }
    let mut outcome = Outcome { about: about.clone(), ..Outcome::default() };
    run.measure(&mut outcome)?;
    let sheets = outcome.sheets();
    if options.rows.is_empty() && options.only.is_empty() {
        output::write(out, &outcome.report_rows(), sheets)
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

impl Run<'_> {
    /// Starts our proxy with an empty cache.
    fn ours(&self, index: &str, cache: &str, flags: &[&str]) -> Result<Server> {
        let cache = servers::empty(&self.folders.scratch, cache)?;
        programs::ours(self.folders, self.binary, index, &cache, flags)
    }

    /// Verifies every response of our proxy, without timing.
    fn check(&self) -> Result<()> {
        // A long download timeout, so that no client is redirected to the index on a slow machine.
        let server = self.ours(&self.upstream.index(), "ours", &["--download-timeout=60s"])?;
        let mut failed = 0;
        for row in ROWS.iter().filter(|row| self.options.wants(row.key, true)) {
            let request = row.request(&server).context("our proxy has every resource")?;
            match verify::verify(&server, &request, self.data) {
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
        if self.options.wants("lock_file_cold", true) {
            let locked = single::locked(&server, self.data, self.upstream, 1);
            failed += usize::from(locked.is_err());
            match locked {
                Ok(_) => say("right: lock_file_cold\n"),
                Err(error) => say(&format!("WRONG: lock_file_cold: {error:#}\n")),
            }
        }
        if failed > 0 { bail!("{failed} rows have wrong responses") } else { Ok(()) }
    }

    fn measure(&self, outcome: &mut Outcome) -> Result<()> {
        let (options, rounds) = (self.options, self.options.rounds());
        let servers = self.start(outcome)?;
        outcome.versions = servers
            .iter()
            .map(|server| {
                format!("{}: {}", server.name, server.version.as_deref().unwrap_or("unknown version"))
            })
            .chain(programs::version("wrk"))
            .collect();
        if programs::ensure("wrk").is_ok() {
            let wrk = Wrk::new(&self.folders.scratch)?;
            for row in ROWS.iter().filter(|row| options.wants(row.key, row.is_quick)) {
                say(&format!("\n{} ({} connections): {}\n", row.key, row.connections, row.about));
                let before = outcome.rows.len();
                measure::measure(row, &servers, self.data, &wrk, rounds, outcome);
                say(&results::sheet(&outcome.rows[before..], Vec::new()).text());
            }
            outcome.add_memory(&servers);
        } else {
            note("skipped: all rows under load: wrk is not installed and cannot be installed");
        }
        let proxies = || servers.iter().filter(|server| server.is_proxy());
        if options.wants("refresh", true) {
            for server in proxies() {
                let count = if server.is_slow() { 1 } else { 9 };
                outcome.add("refresh", &server.name, single::refresh(server, self.upstream, count));
            }
        }
        if options.wants("lock_file_cold", true) {
            // The others serve no files at these paths.
            outcome.add("lock_file_cold", OURS, single::locked(&servers[0], self.data, self.upstream, 9));
        }
        if options.wants("cold_cache", true) {
            for server in proxies() {
                if server.name == "devpi" && options.only.is_empty() {
                    outcome.skip(
                        "cold_cache",
                        &server.name,
                        "takes minutes, because it downloads the file once per client; measured with --only devpi",
                    );
                } else {
                    // A file is cold once.
                    let rounds = if server.is_slow() { 1 } else { rounds.min(COLD.len()) };
                    self.cold(server, rounds, outcome);
                }
            }
        }
        // Stop the servers, since a second instance of each is started below.
        drop(servers);
        if options.wants("startup", true) {
            self.starts(outcome);
        }
        if options.wants("list_927k", true) {
            self.lists(outcome);
        }
        Ok(())
    }

    fn cold(&self, server: &Server, rounds: usize, outcome: &mut Outcome) {
        let mut most = None;
        for round in 0..rounds {
            let cold = single::cold(server, self.data, self.upstream, round);
            most = most.max(cold.as_ref().ok().map(|cold| cold.upstream_gets));
            outcome.add("cold_cache", &server.name, cold.map(|cold| cold.text));
        }
        let row = most.map(|gets| ReportRow::new("cold_cache", server).with("fetches", vec![gets as f64]));
        outcome.more_rows.extend(row);
    }

    fn starts(&self, outcome: &mut Outcome) {
        let index = &self.upstream.index();
        let again = single::starts(STARTS / 2, || {
            programs::ours(self.folders, self.binary, index, &self.folders.scratch.join("ours"), &[])
        });
        outcome.add("startup", OURS, again.map(|(text, _)| format!("with the cache of this run: {text}")));
        let mut add = |name: &str, count, start: &dyn Fn() -> Result<Server>| {
            let started = single::starts(count, start).map(|(text, row)| {
                outcome.more_rows.push(row);
                text
            });
            outcome.add("startup", name, started);
        };
        add(OURS, STARTS, &|| self.ours(index, "new", &[]));
        if self.options.takes("nginx static") {
            add("nginx static", STARTS, &|| programs::nginx_static(self.folders));
        }
        if self.options.takes("proxpi") && !self.options.quick {
            add("proxpi", 1, &|| programs::proxpi(self.folders, index, "proxpi"));
        }
        for (name, at) in self.options.peers.iter().filter(|(_, at)| !at.contains("://")) {
            add(name, STARTS, &|| peer(self.folders, index, name, at));
        }
    }

    fn lists(&self, outcome: &mut Outcome) {
        let index = self.upstream.whole_index();
        let mut add = |name: &str, server: Result<Server>| {
            outcome.add("list_927k", name, server.and_then(|server| single::list(&server)));
        };
        add(OURS, self.ours(&index, "all", &[]));
        for (name, at) in self.options.peers.iter().filter(|(_, at)| !at.contains("://")) {
            add(name, peer(self.folders, &index, name, at));
        }
        if self.options.takes("proxpi") && !self.options.quick {
            add("proxpi", programs::proxpi(self.folders, &index, "proxpi-all"));
        }
    }

    /// Starts the selected servers. Servers that cannot be started are reported.
    fn start(&self, outcome: &mut Outcome) -> Result<Vec<Server>> {
        let (folders, index) = (self.folders, self.upstream.index());
        let mut servers = vec![self.ours(&index, "ours", &[])?];
        let mut add = |name: &str, server: Result<Server>| match server {
            Ok(server) => servers.push(server),
            Err(error) => outcome.skip("all", name, format!("{error:#}")),
        };
        if self.options.takes("nginx static") {
            add("nginx static", programs::ensure("nginx").and_then(|()| programs::nginx_static(folders)));
        }
        if self.options.takes("nginx cache") {
            let server = || programs::nginx_cache(folders, self.upstream.address, "nginx-pages");
            add("nginx cache", programs::ensure("nginx").and_then(|()| server()));
        }
        for (name, at) in &self.options.peers {
            if self.options.takes(name) {
                add(name, peer(folders, &index, name, at));
            }
        }
        if self.options.takes("proxpi") {
            add("proxpi", programs::proxpi(folders, &index, "proxpi"));
        }
        if self.options.takes("devpi") && (!self.options.quick || !self.options.only.is_empty()) {
            add("devpi", programs::devpi(folders, &index, "devpi"));
        }
        Ok(servers)
    }
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
