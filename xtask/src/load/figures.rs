//! Single figures of a run, for the published tables.

use super::OURS;
use super::measure::Round;
use super::outcome::Outcome;
use crate::join::Party;
use crate::report::Quantity;
use crate::stats::{maximum, median};

/// Returns the servers that represent a party, the best known first.
pub(crate) fn servers_of(party: Party) -> &'static [&'static str] {
    match party {
        Party::Ours => &[OURS],
        Party::Go => &["groxpi"],
        Party::Peer => &["proxpi"],
        Party::Limit => &["nginx static", "nginx cache"],
        Party::Recorded => &[],
    }
}

impl Outcome {
    /// Returns a figure of a server, in the unit of its quantity.
    pub(crate) fn figure(&self, row: &str, server: &str, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Start => {
                let start = self.starts.iter().find(|start| start.server.starts_with(server))?;
                Some(maximum(&start.first_answer_ms)? * 1e6)
            }
            Quantity::Fetches => {
                let runs = self.cold.iter().filter(|run| run.server == server);
                maximum(&runs.map(|run| run.upstream_gets as f64).collect::<Vec<_>>())
            }
            // Peak memory over all rows of the load generator.
            Quantity::Memory => {
                let rows = self.rows.iter().filter(|row| row.server == server);
                maximum(&rows.filter_map(|row| row.peak_memory).map(|bytes| bytes as f64).collect::<Vec<_>>())
            }
            Quantity::Errors => Some(self.find(row, server)?.errors as f64),
            Quantity::Longest => Some(self.find(row, server)?.max_us as f64 * 1e3),
            _ => median(&self.rounds(row, server, quantity)),
        }
    }

    /// Returns the figure of every round. Empty if the quantity is not measured per round.
    pub(crate) fn rounds(&self, row: &str, server: &str, quantity: Quantity) -> Vec<f64> {
        let Some(measured) = self.find(row, server) else { return Vec::new() };
        measured.rounds.iter().filter_map(|round| of_round(round, quantity)).collect()
    }
}

fn of_round(round: &Round, quantity: Quantity) -> Option<f64> {
    let ns = |us: u64| us as f64 * 1e3;
    match quantity {
        Quantity::RequestsPerS => Some(round.requests_per_s),
        Quantity::BytesPerS => Some(round.bytes_per_s),
        Quantity::P50 => Some(ns(round.p50_us)),
        Quantity::P75 => round.p75_us.map(ns),
        Quantity::P90 => round.p90_us.map(ns),
        Quantity::P99 => Some(ns(round.p99_us)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Measured;
    use super::*;
    use crate::report::{Machine, Role};

    #[test]
    fn figures_have_the_unit_of_their_quantity() {
        let mut outcome =
            Outcome::new(Machine { cpu: "x".into(), cores: 2, kernel: "x".into() }, "now".into(), None);
        let round = |rate: f64, p50_us: u64| Round {
            requests_per_s: rate,
            bytes_per_s: 1e6,
            p50_us,
            p75_us: Some(120),
            p90_us: None,
            p99_us: 900,
            max_us: 1000,
            cpu_us: None,
            errors: 0,
        };
        outcome.rows.push(Measured {
            row: "index_warm".into(),
            server: OURS.into(),
            role: Role::Ours,
            requests_per_s: 2000.0,
            bytes_per_s: 1e6,
            p50_us: 100.0,
            p99_us: 900.0,
            max_us: 1000,
            cpu_us: None,
            cpu_us_range: None,
            errors: 3,
            status: 200,
            body_bytes: 224,
            coding: "identity".into(),
            peak_memory: Some(9 << 20),
            rounds: vec![round(1000.0, 90), round(3000.0, 110)],
        });
        let figure = |quantity| outcome.figure("index_warm", OURS, quantity);
        assert_eq!((figure(Quantity::RequestsPerS), figure(Quantity::P50)), (Some(2000.0), Some(100_000.0)));
        assert_eq!((figure(Quantity::P75), figure(Quantity::P90)), (Some(120_000.0), None));
        assert_eq!((figure(Quantity::Longest), figure(Quantity::Errors)), (Some(1e6), Some(3.0)));
        assert_eq!((figure(Quantity::Memory), figure(Quantity::Start)), (Some(9_437_184.0), None));
        assert_eq!(outcome.figure("index_warm", "groxpi", Quantity::P50), None);
    }
}
