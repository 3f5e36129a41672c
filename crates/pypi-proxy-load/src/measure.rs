//! Rounds of one row. In each round every server has a short slice, so that a disturbance of the machine affects all of
//! them, and slices of a round are compared.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::client::Header;
use crate::data::Data;
use crate::output::{Role, Row as ReportRow};
use crate::procfs;
use crate::results::Outcome;
use crate::rows::{Resource, Row};
use crate::servers::Server;
use crate::verify::{Verified, verify};
use crate::wrk::{Figures, Load, Wrk, head_requests};

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

/// Smallest ratio that counts as a difference, and range of ratios that count as even.
const LEAST: f64 = 1.02;
const EVEN: (f64, f64) = (0.95, 1.05);

/// Figures of one server in one row.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) row: &'static Row,
    /// The row for the report, without figures.
    pub(crate) server: ReportRow,
    pub(crate) verified: Verified,
    pub(crate) rounds: Vec<Round>,
    /// Simultaneous connections, counted at the port of the server. Zero if they were not counted.
    pub(crate) connections: usize,
    /// Peak memory of the server so far, in bytes.
    pub(crate) peak_memory: Option<u64>,
    is_slow: bool,
    /// True if a slice failed. There are no more rounds then.
    is_failed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    pub(crate) bytes_per_s: f64,
    /// Processor time of the server per request. Absent for servers that were not started here.
    pub(crate) cpu_us: Option<f64>,
    pub(crate) figures: Figures,
}

impl Measured {
    fn is_ours(&self) -> bool {
        self.server.role == Role::Ours
    }

    pub(crate) fn median(&self, figure: impl Fn(&Round) -> Option<f64>) -> Option<f64> {
        median(&self.rounds.iter().filter_map(figure).collect::<Vec<_>>())
    }

    /// Returns how many times the cost of `ours` this server has: the median of the rounds and its interval. `None` if
    /// the responses are not alike.
    pub(crate) fn ratio(&self, ours: &Self) -> Option<(f64, f64, f64)> {
        let is_alike =
            self.verified.is_alike && ours.verified.is_alike && self.verified.coding == ours.verified.coding;
        let cost = |own: &Round, other: &Round| match (own.cpu_us, other.cpu_us) {
            (Some(own), Some(other)) => own / other,
            _ => other.figures.rate() / own.figures.rate(),
        };
        let ratios: Vec<f64> =
            self.rounds.iter().zip(&ours.rounds).map(|(own, ours)| cost(own, ours)).collect();
        let (low, high) = interval(&ratios)?;
        Some((median(&ratios)?, low, high)).filter(|_| is_alike && !self.is_ours())
    }

    /// Returns whether more rounds would not change the comparison with ours.
    fn is_decided(&self, ours: &Self) -> bool {
        self.is_slow
            || self.is_failed
            || self.ratio(ours).is_none_or(|(_, low, high)| {
                low > LEAST || high < 1.0 / LEAST || (low >= EVEN.0 && high <= EVEN.1)
            })
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
                server: ReportRow::new(row.key, server),
                verified,
                rounds: Vec::new(),
                connections: 0,
                peak_memory: None,
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
        entry.peak_memory = server.pid().map(procfs::peak_memory);
        let requests = entry.rounds.iter().map(|round| round.figures.requests).sum();
        if let Err(error) = server.check_log(requests) {
            outcome.skip(row.key, &server.name, format!("{error:#}"));
        }
        if !entry.rounds.is_empty() {
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
    match run(server, entry, wrk, load) {
        Ok(round) => entry.rounds.push(round),
        Err(error) => {
            entry.is_failed = true;
            let round = entry.rounds.len() + 1;
            outcome.skip(entry.row.key, &server.name, format!("round {round}: {error:#}"));
        }
    }
}

fn run(server: &Server, entry: &mut Measured, wrk: &Wrk, mut load: Load) -> Result<Round> {
    let is_large = entry.verified.wire > LARGE;
    if entry.is_slow {
        load.time = load.time.max(SLOW);
    }
    if entry.is_slow && is_large {
        // It works for minutes on the requests of connections that were closed.
        load = Load {
            time: load.time.max(2 * SLOW),
            connections: load.connections.min(SLOW_CONNECTIONS),
            ..load
        };
    }
    let (path, headers): (&str, &[Header]) = (&entry.verified.path, &entry.verified.headers);
    let before = server.pid().map(procfs::cpu_seconds);
    let figures = if matches!(entry.row.resource, Resource::Head(_)) {
        head_requests(server.address, path, load)?
    } else {
        let (connections, is_counted) = (&mut entry.connections, entry.rounds.len() < COUNTED);
        let count = || {
            if is_counted {
                *connections = procfs::connections(server.address.port()).max(*connections);
            }
        };
        wrk.run(server.address, path, headers, load, count)?
    };
    let cpu = server.pid().map(procfs::cpu_seconds).zip(before).map(|(after, before)| after - before);
    ensure!(figures.requests > 0, "no response within {} ms", load.time.as_millis());
    let (requests, bytes, wire) = (figures.requests as f64, figures.bytes as f64, entry.verified.wire as f64);
    // Responses that are shorter than the verified one are wrong, even if they count as successful.
    ensure!(
        figures.errors > 0 || bytes > 0.97 * requests * wire,
        "{bytes} bytes in {requests} responses, of which each has {wire}"
    );
    // Large responses in flight at the end used a part of the processor time as well.
    let responses = if is_large { (bytes / wire).max(requests) } else { requests };
    let bytes_per_s = bytes * 1e6 / figures.duration_us as f64;
    Ok(Round { bytes_per_s, cpu_us: cpu.map(|cpu| cpu * 1e6 / responses), figures })
}

/// Returns the median; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[sorted.len() / 2 - 1], upper) })
}

/// Returns the confidence interval of the median from the order statistics: at least 95 % if there are six values or
/// more, otherwise the range.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    // Probability that exactly, and at most, `omitted` values are below the median.
    let mut exactly = 0.5_f64.powi(i32::try_from(count).ok()?);
    let (mut at_most, mut omitted) = (exactly, 0);
    while 2 * (omitted + 1) < count {
        exactly *= (count - omitted) as f64 / (omitted + 1) as f64;
        at_most += exactly;
        if 2.0 * at_most > 0.05 {
            break;
        }
        omitted += 1;
    }
    Some((*sorted.get(omitted)?, *sorted.get(count - 1 - omitted)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_of_order_statistics() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!((median(&values), interval(&values)), (Some(5.5), Some((2.0, 9.0))));
        assert_eq!((median(&[3.0]), interval(&[3.0]), interval(&[])), (Some(3.0), Some((3.0, 3.0)), None));
    }

    #[test]
    fn ours_is_next_to_the_others() {
        assert_eq!([0, 1].map(|round| places(vec![1], round, vec![0])), [[0, 1], [1, 0]]);
        assert_eq!([0, 1].map(|round| places(vec![1, 2], round, vec![0])), [[1, 0, 2], [2, 0, 1]]);
        assert_eq!(places(vec![1, 2, 3], 1, vec![0]), [2, 3, 0, 1]);
    }
}
