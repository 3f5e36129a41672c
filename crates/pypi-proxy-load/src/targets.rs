//! Target values of the load test.

use crate::measure::Measured;
use crate::output::{memory, optional, time};
use crate::results::{OURS, Outcome, Target};
use crate::single;

const GROXPI: &str = "groxpi";
const STATIC: &str = "nginx static";
const CACHE: &str = "nginx cache";

/// Evaluates all targets for a run.
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
    let worst = |of: fn(&single::Cold) -> f64| runs.iter().map(|run| of(run)).fold(0.0, f64::max);
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
    use crate::results::tests::measured;

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
