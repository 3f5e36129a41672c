//! Alternating rounds: each implementation of a row runs for a short slice, and every other round reverses the
//! order.
//!
//! The sides of a row are measured seconds apart, so that a change of the machine's load affects all of them.
//! Running whole suites in turn leaves ten seconds and more between the sides; the ratios of one row then ranged from
//! 4.1 to 14.2.

mod kept;
mod side;
mod slice;

use std::time::Instant;

use anyhow::Result;

pub(crate) use self::kept::{Begun, Kept};
use self::side::Runner;
pub(crate) use self::side::Side;
pub(crate) use self::slice::Slice;
use crate::parse::Timing;
use crate::parse::record::Listed;
use crate::peers::Program;
use crate::progress::Progress;
use crate::report::Role;
use crate::suites::Suite;
use crate::workspace::Workspace;

/// A peer that takes this many times as long as the best of its class is measured in one round only.
const DISTANT: f64 = 3.0;

/// The sides of each row.
type Sides = Vec<Vec<Side>>;

/// Lists the sides of the rows whose keys are wanted.
pub(crate) fn plan(suites: &[Suite], programs: &[Program], is_wanted: impl Fn(&str) -> bool) -> Sides {
    let mut rows: Sides = Vec::new();
    for (index, suite) in suites.iter().enumerate() {
        let wanted = suite.listed.iter().filter(|listed| is_wanted(&listed.key));
        for listed in wanted {
            let side = Side::new(listed.clone(), Runner::Suite(index));
            match rows.last_mut().filter(|sides| sides[0].listed.key == listed.key) {
                Some(sides) => sides.push(side),
                None => rows.push(vec![side]),
            }
        }
    }
    for sides in &mut rows {
        let first = sides[0].listed.clone();
        let Some((system, row)) = first.key.split_once('/') else { continue };
        for (index, program) in programs.iter().enumerate().filter(|(_, program)| program.system == system) {
            for implementation in program.implementations.iter().filter(|candidate| candidate.has(row)) {
                let listed = Listed {
                    key: first.key.clone(),
                    implementation: implementation.name.clone(),
                    role: implementation.role,
                    language: program.language.clone(),
                    version: implementation.version.clone(),
                    class: implementation.class.clone(),
                    payload_bytes: first.payload_bytes,
                    elements: first.elements,
                };
                sides.push(Side::new(listed, Runner::Program(index)));
            }
        }
    }
    rows
}

/// Runs all rounds, and reuses the slices of an earlier run.
///
/// # Errors
///
/// Fails if a slice cannot be saved. Failures of a side are recorded in it.
pub(crate) fn run(
    sides: &mut Sides,
    suites: &[Suite],
    programs: &[Program],
    workspace: &Workspace,
    kept: &mut Kept,
    rounds: usize,
    slice: Slice,
) -> Result<()> {
    let order = order(sides, rounds);
    let scratch = workspace.scratch().join("step");
    let names: Vec<String> = order.iter().map(|&(_, row, side)| sides[row][side].name()).collect();
    let mut progress = Progress::new(order.len());
    for (index, &(round, row, side)) in order.iter().enumerate() {
        let name = &names[index];
        let identity = sides[row][side].identity();
        // A suite checks its own results, because its implementations may have different expected values.
        let expected = match sides[row][side].runner {
            Runner::Suite(_) => None,
            Runner::Program(_) => {
                let ours = sides[row].iter().find(|side| side.listed.role == Role::Ours);
                ours.and_then(|side| side.check)
            }
        };
        if round == 1 {
            leave_behind(&mut sides[row]);
        }
        let side = &mut sides[row][side];
        if side.is_done() {
            progress.skip();
            continue;
        }
        if let Some(step) = kept.find(&identity, round) {
            side.take(step, expected);
            progress.skip();
            continue;
        }
        progress.begin(name, names[index + 1..].iter().map(String::as_str));
        let start = Instant::now();
        let step = match side.runner {
            Runner::Suite(suite) => slice::of_suite(side, &suites[suite], &scratch, round, slice),
            Runner::Program(program) => slice::of_program(side, &programs[program], &scratch, slice),
        };
        kept.add(&identity, round, start.elapsed().as_secs_f64(), &step)?;
        side.take(step, expected);
        progress.end(name, start.elapsed());
    }
    progress.finish();
    for row in sides.iter_mut() {
        row.retain(|side| !side.absent);
    }
    Ok(())
}

/// Marks the peers of a row that are too slow for more rounds. The best of each class, ours, the Go project and the
/// limits are never marked.
fn leave_behind(sides: &mut [Side]) {
    let best = |class: &Option<String>, sides: &[Side]| {
        let alike = sides.iter().filter(|side| side.listed.role == Role::Peer && side.listed.class == *class);
        alike.filter_map(typical).fold(f64::INFINITY, f64::min)
    };
    let distant: Vec<bool> = sides
        .iter()
        .map(|side| {
            let limit = DISTANT * best(&side.listed.class, sides);
            side.listed.role == Role::Peer && typical(side).is_some_and(|time| time > limit)
        })
        .collect();
    for (side, distant) in sides.iter_mut().zip(distant) {
        side.distant |= distant;
    }
}

/// Returns the best time of a side so far.
fn typical(side: &Side) -> Option<f64> {
    side.timings.iter().map(Timing::typical_ns).reduce(f64::min)
}

/// Returns round, row and side of every step.
fn order(sides: &Sides, rounds: usize) -> Vec<(usize, usize, usize)> {
    let mut steps = Vec::new();
    for round in 0..rounds {
        for (row, sides) in sides.iter().enumerate() {
            // The second side may find warmer caches or a slower clock.
            let forward = round % 2 == 0;
            let turn = (0..sides.len()).map(|side| if forward { side } else { sides.len() - 1 - side });
            steps.extend(turn.map(|side| (round, row, side)));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn side(key: &str, implementation: &str) -> Side {
        let listed = Listed {
            key: key.to_owned(),
            implementation: implementation.to_owned(),
            role: Role::Ours,
            language: "rust".to_owned(),
            version: None,
            class: None,
            payload_bytes: None,
            elements: None,
        };
        Side::new(listed, Runner::Suite(0))
    }

    #[test]
    fn the_order_turns_every_other_round() {
        let sides = vec![vec![side("s/a", "x"), side("s/a", "y")], vec![side("s/b", "x")]];
        assert_eq!(order(&sides, 2), [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (1, 1, 0)]);
    }

    #[test]
    fn only_peers_far_behind_the_best_of_their_class_are_left_behind() {
        let timed = |name: &str, role, class: &str, time: f64| {
            let mut listed = side("s/a", name).listed;
            (listed.role, listed.class) = (role, Some(class.to_owned()));
            Side::with_timings(listed, vec![Timing { median_ns: Some(time), mean_ns: time }])
        };
        let mut sides = [
            timed("ours", Role::Ours, "owned", 10.0),
            timed("best", Role::Peer, "owned", 50.0),
            timed("near", Role::Peer, "owned", 149.0),
            timed("far", Role::Peer, "owned", 151.0),
            timed("only one", Role::Peer, "borrowed", 5000.0),
            timed("original", Role::Original, "owned", 9000.0),
        ];
        leave_behind(&mut sides);
        let done: Vec<&str> =
            sides.iter().filter(|side| side.is_done()).map(|side| &*side.listed.implementation).collect();
        assert_eq!(done, ["far"]);
    }
}
