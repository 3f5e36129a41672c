//! Rounds of one row. The servers take turns, so that a disturbance of the machine affects all of them.

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::data::Data;
use crate::output::Role;
use crate::rows::{Resource, Row};
use crate::servers::Server;
use crate::verify::{Verified, verify};
use crate::wrk::{Figures, Load, Wrk, head_requests};
use crate::{note, procfs};

/// Figures of one server in one row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measured {
    pub(crate) row: String,
    pub(crate) server: String,
    pub(crate) role: Role,
    /// Median over the rounds, as the next three figures.
    pub(crate) requests_per_s: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Maximum over the rounds.
    pub(crate) max_us: u64,
    /// Processor time of the server per request. Absent for servers that were not started here.
    pub(crate) cpu_us: Option<f64>,
    /// Minimum and maximum over the rounds.
    pub(crate) cpu_us_range: Option<(f64, f64)>,
    /// Failed requests in all rounds.
    pub(crate) errors: u64,
    /// Status, body size and content coding of the verified response.
    pub(crate) status: u16,
    pub(crate) body_bytes: usize,
    pub(crate) coding: String,
    /// True if the content was checked and is the same as that of the other servers.
    pub(crate) is_alike: bool,
    /// Peak memory of the server so far, in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// Figures of each round.
    pub(crate) rounds: Vec<Round>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Round {
    pub(crate) requests_per_s: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) cpu_us: Option<f64>,
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// A server without a figure in a row, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Unmeasured {
    pub(crate) row: String,
    pub(crate) server: String,
    pub(crate) reason: String,
}

/// Number of rounds, and seconds per round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub(crate) rounds: usize,
    pub(crate) seconds: usize,
}

pub(crate) fn measure(
    row: &Row,
    servers: &[Server],
    data: &Data,
    wrk: &Wrk,
    sampling: Sampling,
    scratch: &std::path::Path,
) -> (Vec<Measured>, Vec<Unmeasured>) {
    let mut ready: Vec<(&Server, Verified, Vec<Round>)> = Vec::new();
    let mut unmeasured = Vec::new();
    let mut skip = |server: &Server, reason: String| {
        note(&format!("  {}: {reason}", server.name));
        unmeasured.push(Unmeasured { row: row.key.into(), server: server.name.clone(), reason });
    };
    for server in servers {
        let Some(request) = row.request(server) else {
            skip(server, "it does not have this resource".to_owned());
            continue;
        };
        match verify(server, &request, data, scratch) {
            Ok(verified) => ready.push((server, verified, Vec::new())),
            Err(error) => skip(server, format!("{error:#}")),
        }
    }
    for round in 0..sampling.rounds {
        // Reverse the order in every other round, so that no server always follows the same one.
        let mut order: Vec<usize> = (0..ready.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let (server, verified, rounds) = &mut ready[index];
            // Servers that are a hundred times slower are measured once: more rounds would not change the comparison.
            if round > 0 && server.is_slow {
                continue;
            }
            let load = Load { threads: row.threads, connections: row.connections, seconds: sampling.seconds };
            let is_head = matches!(row.resource, Resource::Head(_));
            match run(server, verified, is_head, wrk, load) {
                Ok(figures) => rounds.push(figures),
                Err(error) => skip(server, format!("round {}: {error:#}", round + 1)),
            }
        }
    }
    let measured = ready.into_iter().filter(|(_, _, rounds)| !rounds.is_empty());
    let measured = measured.map(|(server, verified, rounds)| summary(row, server, &verified, rounds));
    (measured.collect(), unmeasured)
}

fn run(server: &Server, verified: &Verified, is_head: bool, wrk: &Wrk, load: Load) -> Result<Round> {
    let before = server.pid().map(procfs::cpu_seconds);
    let figures = if is_head {
        head_requests(server.address, &verified.path, load)?
    } else {
        wrk.run(&format!("http://{}{}", server.address, verified.path), &verified.headers, load)?
    };
    let cpu = server.pid().map(procfs::cpu_seconds).zip(before).map(|(after, before)| after - before);
    ensure!(figures.requests > 0, "no response within {} s", load.seconds);
    let (requests, bytes) = (figures.requests as f64, figures.bytes as f64);
    let (wire, seconds) = (verified.wire as f64, figures.duration_us as f64 / 1e6);
    // Responses that are shorter than the verified one are wrong, even if they count as successful.
    ensure!(
        figures.errors() > 0 || bytes > 0.97 * requests * wire,
        "{bytes} bytes in {requests} answers, of which each has {wire}"
    );
    // Responses in flight at the end also used processor time, so they are included.
    let answers = (bytes / wire).max(requests);
    Ok(Round {
        requests_per_s: requests / seconds,
        bytes_per_s: bytes / seconds,
        cpu_us: cpu.map(|cpu| cpu * 1e6 / answers),
        figures,
    })
}

fn summary(row: &Row, server: &Server, verified: &Verified, rounds: Vec<Round>) -> Measured {
    let of =
        |figure: fn(&Round) -> f64| median(&rounds.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0);
    let cpu: Vec<f64> = rounds.iter().filter_map(|round| round.cpu_us).collect();
    Measured {
        row: row.key.into(),
        server: server.name.clone(),
        role: server.role,
        requests_per_s: of(|round| round.requests_per_s),
        bytes_per_s: of(|round| round.bytes_per_s),
        p50_us: of(|round| round.figures.p50 as f64),
        p99_us: of(|round| round.figures.p99 as f64),
        max_us: rounds.iter().map(|round| round.figures.max).max().unwrap_or(0),
        cpu_us: median(&cpu),
        cpu_us_range: cpu.iter().copied().reduce(f64::min).zip(cpu.iter().copied().reduce(f64::max)),
        errors: rounds.iter().map(|round| round.figures.errors()).sum(),
        status: verified.status,
        body_bytes: verified.body,
        coding: verified.coding.clone(),
        is_alike: verified.is_alike,
        peak_memory: server.pid().map(procfs::peak_memory),
        rounds,
    }
}

/// Returns the median; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[sorted.len() / 2 - 1], upper) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_values() {
        assert_eq!(
            (median(&[]), median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])),
            (None, Some(2.0), Some(2.5))
        );
    }
}
