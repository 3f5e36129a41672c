//! Results of a load run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::measure::{Measured, Round, Unmeasured, maximum};
use crate::output::{Role, Row, memory, optional, time};
use crate::single::{self, Cold, List, Refresh, Start};

/// Name of our program in the tables.
pub(crate) const OURS: &str = "pypi-proxy";

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// Date, machine and commit.
    pub(crate) about: String,
    /// Version lines of `wrk` and nginx.
    pub(crate) versions: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) seconds: usize,
    pub(crate) rows: Vec<Measured>,
    pub(crate) unmeasured: Vec<Unmeasured>,
    pub(crate) cold: Vec<Cold>,
    pub(crate) starts: Vec<Start>,
    pub(crate) lists: Vec<List>,
    pub(crate) refreshes: Vec<Refresh>,
    pub(crate) targets: Vec<Target>,
}

/// A target, and whether it is met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) found: String,
    /// Absent if the run has no figure for it.
    pub(crate) is_met: Option<bool>,
}

impl Target {
    /// Returns the word shown in the table.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.is_met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "not measured",
        }
    }
}

impl Outcome {
    pub(crate) fn find(&self, row: &str, server: &str) -> Option<&Measured> {
        self.rows.iter().find(|entry| entry.row == row && entry.server == server)
    }

    /// Returns the figures for the report of the suites.
    pub(crate) fn report_rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.iter().map(under_load).collect();
        let mut servers: Vec<(&str, Role)> = Vec::new();
        for entry in &self.rows {
            if !servers.contains(&(&entry.server, entry.role)) {
                servers.push((&entry.server, entry.role));
            }
        }
        // Figures that a run has once for every server.
        let once = [
            ("memory_peak", "memory", Self::memory as fn(&Self, &str) -> Option<f64>),
            ("startup", "start", Self::start),
            ("cold_cache", "fetches", Self::fetches),
        ];
        for (key, quantity, figure) in once {
            for (server, role) in &servers {
                if let Some(value) = figure(self, server) {
                    rows.push(row(key, server, *role, None, BTreeMap::from([(quantity, vec![value])])));
                }
            }
        }
        rows
    }

    /// Returns the peak memory over all rows of the load generator.
    fn memory(&self, server: &str) -> Option<f64> {
        let rows = self.rows.iter().filter(|row| row.server == server);
        maximum(&rows.filter_map(|row| row.peak_memory).map(|bytes| bytes as f64).collect::<Vec<_>>())
    }

    /// Returns the slowest start, in nanoseconds.
    fn start(&self, server: &str) -> Option<f64> {
        let starts = self.starts.iter().filter(|start| start.server.starts_with(server));
        let times: Vec<f64> = starts.flat_map(|start| start.first_answer_ms.clone()).collect();
        maximum(&times).map(|ms| ms * 1e6)
    }

    fn fetches(&self, server: &str) -> Option<f64> {
        let runs = self.cold.iter().filter(|run| run.server == server);
        maximum(&runs.map(|run| run.upstream_gets as f64).collect::<Vec<_>>())
    }
}

fn row(
    key: &str,
    server: &str,
    role: Role,
    class: Option<String>,
    figures: BTreeMap<&'static str, Vec<f64>>,
) -> Row {
    let language = match server {
        "groxpi" => "go",
        "proxpi" | "devpi" => "python",
        _ => "",
    };
    Row {
        key: format!("pypi_proxy/{key}"),
        implementation: server.to_owned(),
        role,
        language,
        class,
        figures,
    }
}

fn under_load(entry: &Measured) -> Row {
    let of = |figure: fn(&Round) -> f64| entry.rounds.iter().map(figure).collect::<Vec<_>>();
    let figures = BTreeMap::from([
        ("requests_per_s", of(|round| round.requests_per_s)),
        ("bytes_per_s", of(|round| round.bytes_per_s)),
        ("p50", of(|round| round.p50_us as f64 * 1e3)),
        ("p75", of(|round| round.p75_us as f64 * 1e3)),
        ("p90", of(|round| round.p90_us as f64 * 1e3)),
        ("p99", of(|round| round.p99_us as f64 * 1e3)),
        ("longest", vec![entry.max_us as f64 * 1e3]),
        ("errors", vec![entry.errors as f64]),
    ]);
    row(&entry.row, &entry.server, entry.role, entry.is_alike.then(|| entry.coding.clone()), figures)
}

const GROXPI: &str = "groxpi";
const STATIC: &str = "nginx static";
const CACHE: &str = "nginx cache";

pub(crate) fn evaluate(outcome: &Outcome) -> Vec<Target> {
    let mut targets = vec![errors(outcome)];
    for row in ["six_json", "six_json_100"] {
        targets.push(at_most(outcome, row, STATIC, 1.1));
        targets.push(times_less(outcome, row, row, 2.5));
    }
    for row in ["numpy_json_gzip", "numpy_html_gzip"] {
        targets.push(times_less(outcome, row, row, 50.0));
        targets.push(at_most(outcome, row, CACHE, 1.1));
    }
    // groxpi does not support zstd, so it is compared with gzip.
    targets.push(times_less(outcome, "numpy_json_zstd", "numpy_json_gzip", 50.0));
    targets.push(times_less(outcome, "numpy_html_zstd", "numpy_html_gzip", 50.0));
    for row in ["numpy_json", "numpy_html", "files_warm"] {
        targets.push(times_less(outcome, row, row, 3.0));
    }
    for row in ["wheel_1m", "wheel_60m"] {
        targets.push(at_most(outcome, row, STATIC, 1.3));
    }
    for row in ["files_warm", "six_json_100"] {
        targets.push(tail(outcome, row));
    }
    targets.extend(cold(outcome));
    targets.push(Target {
        name: "page refresh of 1.92 MB in JSON before compression < 1.5 ms".into(),
        found: match outcome.refreshes.iter().find(|refresh| refresh.server == OURS) {
            Some(refresh) => format!(
                "told apart by the benchmarks of the handlers only; here {:.1} ms with the index ({:.1} ms of its own)",
                refresh.answer_ms, refresh.upstream_ms
            ),
            None => "see the benchmarks of the handlers".into(),
        },
        is_met: None,
    });
    targets.push(start(outcome));
    let rows = outcome.rows.iter().filter(|row| row.server == OURS).filter_map(|row| row.peak_memory);
    let cold = outcome.cold.iter().filter(|run| run.server == OURS).filter_map(|run| run.peak_memory);
    let peak = rows.chain(cold).max();
    targets.push(memory_below("peak RSS of the load run", peak, 64));
    let list = outcome.lists.iter().find(|list| list.server == OURS);
    let mut target = memory_below(
        "peak RSS after a list of 927,000 names in JSON",
        list.and_then(|list| list.peak_memory),
        150,
    );
    if let Some(all) = list.and_then(|list| list.peak_memory_all) {
        target.found += &format!(", {} after HTML and gzip as well", memory(all));
    }
    targets.push(target);
    targets
}

/// Target: our processor time is at most `most` times that of a peer.
fn at_most(outcome: &Outcome, row: &str, peer: &str, most: f64) -> Target {
    let name = format!("{row}: CPU per request at most {most} times that of {peer}");
    cpu(outcome, name, (row, OURS), (row, peer), |ratio| ratio <= most)
}

/// Target: groxpi needs at least `least` times our processor time.
fn times_less(outcome: &Outcome, row: &str, other: &str, least: f64) -> Target {
    let name = format!("{row}: at least {least} times less CPU per request than groxpi");
    cpu(outcome, name, (other, GROXPI), (row, OURS), |ratio| ratio >= least)
}

/// Divides the processor time per request of one server by that of another; each has a row and a name.
fn cpu(
    outcome: &Outcome,
    name: String,
    one: (&str, &str),
    other: (&str, &str),
    holds: impl Fn(f64) -> bool,
) -> Target {
    let find = |(row, server): (&str, &str)| outcome.find(row, server);
    let both = find(one).zip(find(other));
    let Some(((one, other), ratio)) =
        both.zip(both.and_then(|(one, other)| Some(one.cpu_us? / other.cpu_us?)))
    else {
        return Target { name, found: "-".into(), is_met: None };
    };
    let (ours, theirs) = if one.server == OURS { (one, other) } else { (other, one) };
    let found = format!(
        "{ratio:.2} ({} to {}; {:.0} to {:.0} requests/s)",
        optional(ours.cpu_us, time),
        optional(theirs.cpu_us, time),
        ours.requests_per_s,
        theirs.requests_per_s
    );
    Target { name, found, is_met: Some(holds(ratio)) }
}

fn errors(outcome: &Outcome) -> Target {
    let rows: Vec<&Measured> = outcome.rows.iter().filter(|row| row.server == OURS).collect();
    let errors: u64 = rows.iter().map(|row| row.errors).sum();
    let refused = outcome.unmeasured.iter().filter(|entry| entry.server == OURS).count();
    Target {
        name: "no request of ours fails, in any row".into(),
        found: format!("{errors} failed in {} rows, {refused} rows refused", rows.len()),
        is_met: (!rows.is_empty()).then_some(errors == 0 && refused == 0),
    }
}

fn tail(outcome: &Outcome, row: &str) -> Target {
    let name = format!("{row}: p99 below 8 times p50 at 100 connections");
    let Some(ours) = outcome.find(row, OURS) else {
        return Target { name, found: "-".into(), is_met: None };
    };
    let ratio = ours.p99_us / ours.p50_us;
    let peers = [STATIC, GROXPI].iter().filter_map(|peer| outcome.find(row, peer));
    let peers: Vec<String> =
        peers.map(|entry| format!("{} {:.1}", entry.server, entry.p99_us / entry.p50_us)).collect();
    let found =
        format!("{ratio:.1} ({} over {}; {})", time(ours.p99_us), time(ours.p50_us), peers.join(", "));
    Target { name, found, is_met: Some(ratio < 8.0) }
}

fn cold(outcome: &Outcome) -> Vec<Target> {
    let runs: Vec<_> = outcome.cold.iter().filter(|run| run.server == OURS).collect();
    let worst = |of: fn(&Cold) -> f64| runs.iter().map(|run| of(run)).fold(0.0, f64::max);
    let is_met = |met: bool| (!runs.is_empty()).then_some(met);
    let gets = runs.iter().map(|run| run.upstream_gets).max().unwrap_or(0);
    let failed: usize = runs.iter().map(|run| run.failed).sum();
    let first = worst(|run| run.first_byte_ms.median);
    let first_max = worst(|run| run.first_byte_ms.max);
    let total = worst(|run| run.total_ms.max / run.upstream_ms);
    let clients = single::CLIENTS;
    vec![
        Target {
            name: format!("cold, {clients} clients: one GET of the index, every client gets the right bytes"),
            found: format!("{gets} GETs, {failed} clients failed"),
            is_met: is_met(gets == 1 && failed == 0),
        },
        Target {
            name: format!("cold, {clients} clients: first byte below 100 ms in the median"),
            found: format!("{first:.1} ms, the last client {first_max:.1} ms"),
            is_met: is_met(first < 100.0),
        },
        Target {
            name: format!("cold, {clients} clients: the last one done within 1.1 times the index's own time"),
            found: format!("{total:.2}"),
            is_met: is_met(total <= 1.1),
        },
    ]
}

fn start(outcome: &Outcome) -> Target {
    let runs = outcome.starts.iter().filter(|start| start.server.starts_with(OURS));
    let worst = runs.clone().flat_map(|start| &start.first_answer_ms).copied().fold(0.0, f64::max);
    Target {
        name: "start to the first 200 below 50 ms".into(),
        found: format!("{worst:.1} ms, the slowest of all starts"),
        is_met: runs.clone().next().map(|_| worst < 50.0),
    }
}

fn memory_below(what: &str, found: Option<u64>, most: u64) -> Target {
    Target {
        name: format!("{what} below {most} MB"),
        found: optional(found, memory),
        is_met: found.map(|found| found < most << 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(row: &str, server: &str, cpu_us: f64) -> Measured {
        Measured {
            row: row.into(),
            server: server.into(),
            role: if server == OURS { Role::Ours } else { Role::Peer },
            requests_per_s: 1000.0,
            p50_us: 100.0,
            p99_us: 900.0,
            max_us: 1000,
            cpu_us: Some(cpu_us),
            coding: "identity".into(),
            is_alike: row != "health",
            peak_memory: Some(70 << 20),
            ..Measured::default()
        }
    }

    #[test]
    fn figures_have_the_unit_of_their_quantity() {
        let round = Round { p50_us: 90, ..Round::default() };
        let entry = |row, server| Measured { rounds: vec![round, round], ..measured(row, server, 1.0) };
        let rows = vec![entry("health", "groxpi"), entry("six_json", "groxpi")];
        let rows = Outcome { rows, ..Outcome::default() }.report_rows();
        assert_eq!((rows[0].key.as_str(), rows[0].language), ("pypi_proxy/health", "go"));
        assert_eq!((&rows[0].class, rows[1].class.as_deref()), (&None, Some("identity")));
        assert_eq!((&rows[0].figures["p50"], &rows[0].figures["longest"]), (&vec![90e3, 90e3], &vec![1e6]));
        assert_eq!(
            (rows[2].key.as_str(), &rows[2].figures["memory"]),
            ("pypi_proxy/memory_peak", &vec![73_400_320.0])
        );
        assert_eq!(rows.len(), 3, "neither starts nor downloads were measured");
    }

    fn outcome(rows: Vec<Measured>) -> Outcome {
        Outcome { rows, ..Outcome::default() }
    }

    fn verdict(targets: &[Target], start: &str) -> Option<bool> {
        targets.iter().find(|target| target.name.starts_with(start)).expect(start).is_met
    }

    #[test]
    fn targets_are_met_or_missed() {
        let outcome = outcome(vec![
            measured("wheel_1m", OURS, 130.0),
            measured("wheel_1m", STATIC, 100.0),
            measured("wheel_60m", OURS, 131.0),
            measured("wheel_60m", STATIC, 100.0),
            measured("six_json_100", OURS, 4.0),
            measured("six_json_100", GROXPI, 9.9),
        ]);
        let targets = evaluate(&outcome);
        assert_eq!(verdict(&targets, "wheel_1m"), Some(true));
        assert_eq!(verdict(&targets, "wheel_60m"), Some(false));
        assert_eq!(verdict(&targets, "six_json_100: at least 2.5"), Some(false));
        assert_eq!(verdict(&targets, "six_json_100: p99"), Some(false), "900 is 9 times 100");
        assert_eq!(verdict(&targets, "peak RSS of the load run"), Some(false));
        assert_eq!(verdict(&targets, "no request of ours fails"), Some(true));
    }

    #[test]
    fn unmeasured_targets_are_not_met() {
        let targets = evaluate(&outcome(Vec::new()));
        assert!(targets.iter().all(|target| target.is_met.is_none()), "{targets:?}");
        let mut failing = measured("wheel_1m", OURS, 1.0);
        failing.errors = 1;
        assert_eq!(verdict(&evaluate(&outcome(vec![failing])), "no request of ours fails"), Some(false));
    }
}
