//! Rounds of one row. In each round every server has a short slice, so that a disturbance of the machine affects all of
//! them, and slices of a round are compared.

use std::time::Duration;

use anyhow::{Result, ensure};
use bench_report::model::{self, Ratio, Role, Row as ReportRow};
use bench_report::quantity::Quantity;

use crate::client::Header;
use crate::data::Data;
use crate::procfs;
use crate::results::Outcome;
use crate::rows::{Resource, Row};
use crate::servers::Server;
use crate::verify::{Verified, verify};
use crate::wrk::{Load, Wrk, head_requests};

/// Maximum number of rounds of a row that is undecided after the number of rounds that it gets at least.
const MAX_ROUNDS: usize = 16;

/// Minimum duration of a slice of a slow server, twice that for large responses, and their maximum number of
/// connections.
const SLOW: Duration = Duration::from_secs(1);
const SLOW_CONNECTIONS: usize = 8;

/// Size above which a response counts as large, in bytes.
const LARGE: usize = 64 << 10;

/// Number of rounds in which connections are counted, which takes some milliseconds.
const COUNTED: usize = 3;

/// Figures of one server in one row.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) row: &'static Row,
    /// Figures for the report, with a value per round. The class is the content coding of the response; absent if the
    /// content was not found to be the same as that of the other servers.
    pub(crate) report: ReportRow,
    pub(crate) verified: Verified,
    pub(crate) rounds: usize,
    requests: u64,
    is_slow: bool,
    /// Whether a slice failed. There are no more rounds then.
    is_failed: bool,
}

impl Measured {
    fn is_ours(&self) -> bool {
        self.report.role == Role::Ours
    }

    /// Returns how many times the processor time of `ours` this server needs, or its rate without that. `None` if the
    /// responses are not alike.
    pub(crate) fn ratio(&self, ours: &Self) -> Option<Ratio> {
        let is_alike = self.report.class.is_some() && self.report.class == ours.report.class;
        let ratio = |quantity| ours.report.ratio(&self.report, quantity);
        let is_other = is_alike && !self.is_ours();
        is_other.then(|| ratio(Quantity::CpuPerRequest).or_else(|| ratio(Quantity::RequestsPerS)))?
    }

    /// Returns whether more rounds would not change the comparison with ours, or there is only one.
    fn is_decided(&self, ours: &Self) -> bool {
        let ratio = || self.ratio(ours).filter(|ratio| !ratio.is_rough());
        self.is_slow
            || self.is_failed
            || ratio().is_none_or(|ratio| ratio.outcome() != model::Outcome::Undecided)
    }
}

/// Measures a row and adds it to the results.
pub(crate) fn measure(
    row: &'static Row,
    servers: &[Server],
    data: &Data,
    wrk: &Wrk,
    least_rounds: usize,
    outcome: &mut Outcome,
) {
    let mut ready: Vec<(&Server, Measured)> = Vec::new();
    for server in servers {
        let Some(request) = row.request(server) else {
            outcome.skip(row.key, &server.name, "it does not have this resource");
            continue;
        };
        let verified = match verify(server, &request, data) {
            Ok(verified) => verified,
            Err(error) => {
                outcome.skip(row.key, &server.name, format!("{error:#}"));
                continue;
            }
        };
        ready.push((
            server,
            Measured {
                row,
                report: ReportRow {
                    class: verified.is_alike.then(|| verified.coding.clone()),
                    payload_bytes: Some(verified.body as u64),
                    ..server.row(row.key)
                },
                verified,
                rounds: 0,
                requests: 0,
                is_slow: server.is_slow(),
                is_failed: false,
            },
        ));
        server.clear_log();
    }
    let largest = ready.iter().map(|(_, entry)| entry.verified.body).max().unwrap_or(0);
    let load =
        Load { threads: row.threads, connections: row.connections, time: slice(row.connections, largest) };
    for round in 0..MAX_ROUNDS.max(least_rounds) {
        let ours = ready.iter().find(|(_, entry)| entry.is_ours()).map(|(_, entry)| entry);
        let is_decided = ours.is_none_or(|ours| ready.iter().all(|(_, entry)| entry.is_decided(ours)));
        if round >= least_rounds && is_decided {
            break;
        }
        for index in order(&ready, round) {
            turn(&mut ready[index], wrk, load, outcome);
        }
        if ready.iter().any(|(_, entry)| entry.is_ours() && entry.is_failed) {
            break;
        }
    }
    // One slice of slow servers, at the end, because they still work when it is over.
    ready.iter_mut().filter(|(_, entry)| entry.is_slow).for_each(|slow| turn(slow, wrk, load, outcome));
    for (server, mut entry) in ready {
        let memory = server.pid().map(|pid| (Quantity::Memory, vec![procfs::peak_memory(pid)]));
        entry.report.figures.extend(memory);
        if let Err(error) = server.check_log(entry.requests) {
            outcome.skip(row.key, &server.name, format!("{error:#}"));
        }
        if entry.rounds > 0 {
            outcome.rows.push(entry);
        }
    }
}

/// Returns the duration of a slice. It is so long that opening the connections, and responses that are in flight at the
/// end, are a small part of it.
fn slice(connections: usize, body: usize) -> Duration {
    let each = Duration::from_micros(600) + Duration::from_nanos(2 * body as u64);
    Duration::from_millis(250) + each * u32::try_from(connections).unwrap_or(u32::MAX)
}

/// Returns the servers in the order of a round. Ours is in the middle of the others, which change places, so that each
/// of them is often next to ours, before and after it.
fn order(ready: &[(&Server, Measured)], round: usize) -> Vec<usize> {
    let remaining = (0..ready.len()).filter(|&index| !ready[index].1.is_slow && !ready[index].1.is_failed);
    let (ours, others) = remaining.partition(|&index| ready[index].1.is_ours());
    places(others, round, ours)
}

fn places(mut others: Vec<usize>, round: usize, ours: Vec<usize>) -> Vec<usize> {
    let count = others.len();
    others.rotate_left(round % count.max(1));
    let middle = (count + round % 2) / 2;
    others.splice(middle..middle, ours);
    others
}

/// Measures one slice of a server.
fn turn((server, entry): &mut (&Server, Measured), wrk: &Wrk, load: Load, outcome: &mut Outcome) {
    entry.rounds += 1;
    if let Err(error) = run(server, entry, wrk, load) {
        entry.is_failed = true;
        outcome.skip(entry.row.key, &server.name, format!("round {}: {error:#}", entry.rounds));
        entry.rounds -= 1;
    }
}

fn run(server: &Server, entry: &mut Measured, wrk: &Wrk, mut load: Load) -> Result<()> {
    let is_large = entry.verified.wire > LARGE;
    if entry.is_slow {
        load.time = load.time.max(SLOW);
    }
    if entry.is_slow && is_large {
        // It works for minutes on the requests of connections that were closed.
        load.time = load.time.max(2 * SLOW);
        load.connections = load.connections.min(SLOW_CONNECTIONS);
    }
    let (path, headers): (&str, &[Header]) = (&entry.verified.path, &entry.verified.headers);
    let mut connections = 0;
    let (found, cpu) = server.cpu_during(|| match entry.row.resource {
        Resource::Head(_) => head_requests(server.address, path, load),
        _ => wrk.run(server.address, path, headers, load, || {
            if entry.rounds <= COUNTED {
                connections = procfs::connections(server.address.port());
            }
        }),
    });
    let found = found?;
    ensure!(found.requests > 0, "no response within {} ms", load.time.as_millis());
    let (requests, bytes, wire) = (found.requests as f64, found.bytes as f64, entry.verified.wire as f64);
    // Responses that are shorter than the verified one are wrong, even if they count as successful.
    ensure!(
        found.errors > 0 || bytes > 0.97 * requests * wire,
        "{bytes} bytes in {requests} responses, of which each has {wire}"
    );
    entry.requests += found.requests;
    // Large responses in flight at the end used a part of the processor time as well.
    let responses = if is_large { (bytes / wire).max(requests) } else { requests };
    let round = [
        (Quantity::RequestsPerS, found.rate()),
        (Quantity::Requests, found.rate() * 60.0),
        (Quantity::BytesPerS, bytes * 1e6 / found.duration_us as f64),
    ];
    let cpu = cpu.map(|cpu| (Quantity::CpuPerRequest, cpu / responses));
    let errors = [(Quantity::Errors, found.errors as f64)];
    let connections = (connections > 0).then_some((Quantity::Connections, connections as f64));
    let round = round.into_iter().chain(cpu).chain(errors).chain(connections);
    for (quantity, value) in round.chain(found.latencies) {
        let values = entry.report.figures.entry(quantity).or_default();
        match (quantity, values.last_mut()) {
            (Quantity::Errors, Some(sum)) => *sum += value,
            (Quantity::Longest | Quantity::Connections, Some(most)) => *most = most.max(value),
            _ => values.push(value),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_next_to_the_others() {
        assert_eq!([0, 1].map(|round| places(vec![1], round, vec![0])), [[0, 1], [1, 0]]);
        assert_eq!([0, 1].map(|round| places(vec![1, 2], round, vec![0])), [[1, 0, 2], [2, 0, 1]]);
        assert_eq!(places(vec![1, 2, 3], 1, vec![0]), [2, 3, 0, 1]);
    }
}
