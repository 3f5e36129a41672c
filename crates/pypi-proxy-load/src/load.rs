//! `cargo xtask load`: load test of our proxy, its peers and nginx with the same requests.

use std::net::ToSocketAddrs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use bench_report::quantity::Quantity;
use clap::Args;

use crate::data::{COLD, Data};
use crate::programs::{self, Folders, OURS};
use crate::results::Outcome;
use crate::rows::ROWS;
use crate::servers::{self, Server};
use crate::upstream::Upstream;
use crate::wrk::Wrk;
use crate::{Paths, measure, note, procfs, results, say, single, verify};

/// Number of starts per program for the startup time.
const STARTS: usize = 10;

/// Columns that are shown during a run.
const COLUMNS: &str =
    "Server | Coding | Rounds | Times ours (interval) | Requests/s | p50 | CPU/request | Failed";
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
    #[arg(long = "row", value_name = "R", value_parser = keys_of_rows().collect::<Vec<_>>(), hide_possible_values = true)]
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

fn keys_of_rows() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.key).chain(SINGLE)
}

fn peer_place(text: &str) -> Result<(String, String), String> {
    let (name, place) = text.split_once('=').ok_or("expected NAME=PLACE")?;
    Ok((name.to_owned(), place.to_owned()))
}

impl Options {
    fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 10 }).max(1)
    }

    fn servers(&self) -> impl Iterator<Item = &str> {
        let peers = self.peers.iter().map(|(name, _)| &**name);
        let names = ["nginx static", "nginx cache"].into_iter().chain(peers).chain(["proxpi", "devpi"]);
        let is_named = |name: &str| self.only.iter().any(|only| only == name);
        names.filter(move |name| is_named(name) || self.only.is_empty() && !(self.quick && *name == "devpi"))
    }

    /// Returns the place of a server that was added.
    fn place(&self, name: &str) -> Option<&str> {
        self.peers.iter().find(|(peer, _)| peer == name).map(|(_, place)| &**place)
    }

    /// Returns whether a row was selected, or is part of the default selection.
    fn wants(&self, key: &str, is_quick: bool) -> bool {
        if self.rows.is_empty() { is_quick || !self.quick } else { self.rows.iter().any(|row| row == key) }
    }
}

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
    let folders = Folders { data: folder.join("data"), scratch: folder.join("scratch") };
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
    if options.rows.is_empty() && options.only.is_empty() {
        crate::save(out, outcome.results())
    } else {
        note("only part of the rows or servers was measured: load.json is not written");
        Ok(())
    }
}

/// Returns the rows of a run as row keys of the benchmark harness.
pub(crate) fn keys() -> impl Iterator<Item = String> {
    // A figure that a run has for every server in addition to its rows.
    keys_of_rows().chain(["memory_peak"]).map(|key| format!("pypi_proxy/{key}"))
}

impl Run<'_> {
    /// Starts a server with an empty cache, or returns a running one.
    fn start(&self, name: &str, index: &str, cache: &str) -> Result<Server> {
        if name.starts_with("nginx") {
            programs::ensure("nginx")?;
        }
        let folders = self.folders;
        match (name, self.options.place(name)) {
            (OURS, _) => {
                let cache = servers::empty(&folders.scratch, cache)?;
                programs::ours(folders, self.binary, index, &cache, &[])
            }
            ("nginx static", _) => programs::nginx_static(folders),
            ("nginx cache", _) => programs::nginx_cache(folders, self.upstream.address, cache),
            (_, Some(place)) if place.contains("://") => {
                let place = place.trim_start_matches("http://").trim_end_matches('/');
                let address = place.to_socket_addrs()?.next().context("the URL has no address")?;
                programs::running(name, address)
            }
            ("groxpi", Some(program)) => {
                let program = Path::new(program);
                let program =
                    program.canonicalize().with_context(|| format!("cannot find {}", program.display()))?;
                programs::groxpi(folders, &program, index, cache)
            }
            ("proxpi", _) => programs::proxpi(folders, index, cache),
            ("devpi", _) => programs::devpi(folders, index, cache),
            _ => bail!("only groxpi can be started from a program"),
        }
    }

    /// Verifies every response of our proxy, without timing.
    fn check(&self) -> Result<()> {
        let cache = servers::empty(&self.folders.scratch, "ours")?;
        // A long download timeout, so that no client is redirected to the index on a slow machine.
        let flags = ["--download-timeout=60s"];
        let server = programs::ours(self.folders, self.binary, &self.upstream.index(), &cache, &flags)?;
        let mut failed = 0;
        let mut report = |key: &str, result: Result<String>| match result {
            Ok(found) => say(&format!("right: {key} ({found})\n")),
            Err(error) => {
                failed += 1;
                say(&format!("WRONG: {key}: {error:#}\n"));
            }
        };
        for row in ROWS.iter().filter(|row| self.options.wants(row.key, true)) {
            let request = row.request(&server).context("our proxy has every resource")?;
            let verified = verify::verify(&server, &request, self.data);
            report(
                row.key,
                verified.map(|found| format!("{}, {} bytes, {}", found.status, found.body, found.coding)),
            );
        }
        if self.options.wants("cold_cache", true) {
            let cold = single::cold(&server, self.data, self.upstream, 0).and_then(|cold| {
                ensure!(cold.failed == 0 && cold.upstream_gets == 1, "{}", cold.text);
                Ok(cold.text)
            });
            report("cold_cache", cold);
        }
        if self.options.wants("lock_file_cold", true) {
            report("lock_file_cold", single::locked(&server, self.data, self.upstream, 1));
        }
        ensure!(failed == 0, "{failed} rows have wrong responses");
        Ok(())
    }

    fn measure(&self, outcome: &mut Outcome) -> Result<()> {
        let (options, rounds, index) = (self.options, self.options.rounds(), self.upstream.index());
        let mut servers = vec![self.start(OURS, &index, "ours")?];
        for name in options.servers() {
            match self.start(name, &index, &name.replace(' ', "-cache-")) {
                Ok(server) => servers.push(server),
                Err(error) => outcome.skip("all", name, format!("{error:#}")),
            }
        }
        let version = |server: &Server| {
            format!("{}: {}", server.name, server.version.as_deref().unwrap_or("unknown version"))
        };
        outcome.versions = servers.iter().map(version).chain(programs::version("wrk")).collect();
        match programs::ensure("wrk") {
            Ok(()) => {
                let wrk = Wrk::new(&self.folders.scratch)?;
                for row in ROWS.iter().filter(|row| options.wants(row.key, row.is_quick())) {
                    say(&format!("\n{} ({} connections): {}\n", row.key, row.connections, row.about));
                    let before = outcome.rows.len();
                    measure::measure(row, &servers, self.data, &wrk, rounds, outcome);
                    say(&results::sheet(&outcome.rows[before..]).only(COLUMNS).text());
                }
                outcome.add_memory(&servers);
            }
            Err(error) => outcome.skip("all rows under load", "all", format!("{error:#}")),
        }
        for server in servers.iter().filter(|server| server.is_proxy()) {
            if options.wants("refresh", true) {
                let count = if server.is_slow() { 1 } else { 9 };
                outcome.add("refresh", &server.name, single::refresh(server, self.upstream, count));
            }
            // The others serve no files at these paths.
            if options.wants("lock_file_cold", true) && server.name == OURS {
                outcome.add("lock_file_cold", OURS, single::locked(server, self.data, self.upstream, 9));
            }
            if options.wants("cold_cache", true) {
                // A file is cold once.
                let rounds = if server.is_slow() { 1 } else { rounds.min(COLD.len()) };
                self.cold(server, rounds, outcome);
            }
        }
        // Stop the servers, since a second instance of each is started below.
        drop(servers);
        let started = || {
            let is_started = |name: &&str| options.place(name).is_none_or(|place| !place.contains("://"));
            [OURS].into_iter().chain(options.servers().filter(is_started))
        };
        if options.wants("startup", true) {
            self.starts(started(), outcome);
        }
        if options.wants("list_927k", true) {
            for name in started().filter(|name| !name.starts_with("nginx") && *name != "devpi") {
                let server = self.start(name, &self.upstream.whole_index(), "all");
                outcome.add("list_927k", name, server.and_then(|server| single::list(&server)));
            }
        }
        Ok(())
    }

    fn cold(&self, server: &Server, rounds: usize, outcome: &mut Outcome) {
        if server.name == "devpi" && self.options.only.is_empty() {
            let reason =
                "takes minutes, because it downloads the file once per client; measured with --only devpi";
            return outcome.skip("cold_cache", &server.name, reason);
        }
        let mut most = None;
        for round in 0..rounds {
            let cold = single::cold(server, self.data, self.upstream, round);
            most = most.max(cold.as_ref().ok().map(|cold| cold.upstream_gets));
            outcome.add("cold_cache", &server.name, cold.map(|cold| cold.text));
        }
        let row = most.map(|gets| server.row_with("cold_cache", Quantity::Fetches, vec![gets as f64]));
        outcome.more_rows.extend(row);
    }

    fn starts<'n>(&self, names: impl Iterator<Item = &'n str>, outcome: &mut Outcome) {
        let index = &self.upstream.index();
        for name in names.filter(|name| !matches!(*name, "nginx cache" | "devpi")) {
            let count = if name == "proxpi" { 1 } else { STARTS };
            let started = single::starts(count, || self.start(name, index, "new")).map(|(text, row)| {
                outcome.more_rows.push(row);
                text
            });
            outcome.add("startup", name, started);
        }
        let again = single::starts(STARTS / 2, || {
            programs::ours(self.folders, self.binary, index, &self.folders.scratch.join("ours"), &[])
        });
        outcome.add("startup", OURS, again.map(|(text, _)| format!("with the cache of this run: {text}")));
    }
}
