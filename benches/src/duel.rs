//! A duel: two implementations take turns in slices, and each pair of neighbouring slices gives a ratio.

use std::time::Duration;

use bench_report::stats::median;
use serde::{Deserialize, Serialize};

/// Duration of a slice of two implementations in this process.
const SLICE: Duration = Duration::from_micros(400);
/// Duration of a slice if one side is another process, whose requests and garbage collection a slice contains.
const RESIDENT_SLICE: Duration = Duration::from_millis(1);
/// Duration of a slice of operations of several threads, which take time to get all threads running and to end together.
const THREADED_SLICE: Duration = Duration::from_millis(5);
/// Pairs per placement: as many as fit into the time, within the bounds.
const PAIRS: std::ops::RangeInclusive<u128> = 3..=12;
const PLACEMENT: Duration = Duration::from_millis(12);
const RESIDENT_PAIRS: std::ops::RangeInclusive<u128> = 3..=20;
const RESIDENT_PLACEMENT: Duration = Duration::from_millis(40);
/// Above this duration of a pair, a process has only one placement.
const LONG_PAIR: Duration = Duration::from_millis(15);
/// For operations that take no time.
const MOST_ITERATIONS: u64 = 1 << 24;

/// One side of a duel.
pub(crate) trait Run {
    /// Runs a number of operations. Returns their duration and the check value of one.
    fn run(&mut self, iterations: u64) -> Result<(Duration, u64), String>;

    /// Returns whether another process runs the operations.
    fn is_resident(&self) -> bool;
}

/// The pairs of one duel in one placement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Block {
    /// Index of the duel in the plan.
    pub(crate) duel: usize,
    /// Number of the process.
    pub(crate) process: usize,
    pub(crate) placement: usize,
    /// Milliseconds since the start of the process.
    pub(crate) ms: u128,
    /// Whether the first pair began with ours. The order alternates.
    pub(crate) ours_first: bool,
    /// Operations per slice.
    pub(crate) ours_iterations: u64,
    pub(crate) peer_iterations: u64,
    /// Nanoseconds of both slices of each pair: ours and the peer's.
    pub(crate) pairs: Vec<(u128, u128)>,
    /// Whether the ratio is that of the sums, because slices contain garbage collection of a resident process.
    pub(crate) by_sums: bool,
}

impl Block {
    /// Returns the times per operation in nanoseconds.
    pub(crate) fn times(&self) -> impl Iterator<Item = (f64, f64)> {
        let (ours, peer) = (self.ours_iterations as f64, self.peer_iterations as f64);
        self.pairs.iter().map(move |pair| (pair.0 as f64 / ours, pair.1 as f64 / peer))
    }

    /// Returns the peer's time divided by ours.
    pub(crate) fn ratio(&self) -> Option<f64> {
        if self.by_sums {
            let (ours, peer) = self.times().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
            return Some(peer / ours);
        }
        median(&self.times().map(|(ours, peer)| peer / ours).collect::<Vec<_>>())
    }
}

/// Runs a block of pairs. `ours` and `peer` are indices of `sides`, and may be equal.
///
/// Returns `None` if this placement is left out, because a pair takes long.
///
/// # Errors
///
/// The message of a side that failed.
pub(crate) fn block(
    sides: &mut [impl Run],
    ours: usize,
    peer: usize,
    placement: usize,
    has_threads: bool,
) -> Result<Option<Block>, String> {
    let is_resident = sides[ours].is_resident() || sides[peer].is_resident();
    let (slice, bounds, time) = match (has_threads, is_resident) {
        (true, _) => (THREADED_SLICE, RESIDENT_PAIRS, RESIDENT_PLACEMENT),
        (false, true) => (RESIDENT_SLICE, RESIDENT_PAIRS, RESIDENT_PLACEMENT),
        (false, false) => (SLICE, PAIRS, PLACEMENT),
    };
    // An estimate is not better than its warm-up: the first side is estimated again after the second.
    calibrate(&mut sides[ours], slice)?;
    let (peer_iterations, peer_slice) = calibrate(&mut sides[peer], slice)?;
    let (ours_iterations, ours_slice) = calibrate(&mut sides[ours], slice)?;
    let pair = ours_slice + peer_slice;
    if placement > 0 && pair > LONG_PAIR {
        return Ok(None);
    }
    let count = (time.as_nanos() / pair.as_nanos().max(1)).clamp(*bounds.start(), *bounds.end());
    let mut block = Block {
        placement,
        ours_first: placement.is_multiple_of(2),
        ours_iterations,
        peer_iterations,
        by_sums: is_resident,
        ..Block::default()
    };
    for index in 0..count {
        let ours_first = block.ours_first == index.is_multiple_of(2);
        let mut run = |ours_turn: bool| {
            let (side, iterations) =
                if ours_turn { (ours, ours_iterations) } else { (peer, peer_iterations) };
            sides[side].run(iterations).map(|(time, _)| time.as_nanos())
        };
        let (first, second) = (run(ours_first)?, run(!ours_first)?);
        block.pairs.push(if ours_first { (first, second) } else { (second, first) });
    }
    Ok(Some(block))
}

/// Returns the number of operations that take about as long as a slice, and their duration.
pub(crate) fn calibrate(side: &mut impl Run, slice: Duration) -> Result<(u64, Duration), String> {
    let mut iterations = 1;
    loop {
        let time = side.run(iterations)?.0.max(Duration::from_nanos(1));
        let factor = slice.as_secs_f64() / time.as_secs_f64();
        if factor <= 2.0 || iterations >= MOST_ITERATIONS {
            let fitting = ((iterations as f64 * factor) as u64).clamp(1, MOST_ITERATIONS);
            return Ok((fitting, time.mul_f64(fitting as f64 / iterations as f64)));
        }
        iterations = (iterations as f64 * factor.min(10.0)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A side whose operation takes this time, or fails.
    struct Fake {
        time: Duration,
        calls: Vec<u64>,
    }

    impl Run for Fake {
        fn run(&mut self, iterations: u64) -> Result<(Duration, u64), String> {
            self.calls.push(iterations);
            match self.time.is_zero() {
                true => Err("too long".to_owned()),
                false => Ok((self.time * iterations as u32, 1)),
            }
        }

        fn is_resident(&self) -> bool {
            false
        }
    }

    fn sides(micros: [u64; 2]) -> [Fake; 2] {
        micros.map(|micros| Fake { time: Duration::from_micros(micros), calls: Vec::new() })
    }

    #[test]
    fn slices_take_equally_long() {
        let mut sides = sides([1, 4]);
        let block = block(&mut sides, 0, 1, 1, false).unwrap().unwrap();
        assert_eq!((block.ours_iterations, block.peer_iterations, block.pairs.len()), (400, 100, 12));
        assert_eq!((block.ratio(), block.ours_first), (Some(4.0), false));
        assert!(sides.iter().all(|side| side.calls.iter().filter(|calls| **calls >= 100).count() >= 12));
    }

    #[test]
    fn slices_of_threads_are_longer() {
        let block = block(&mut sides([50, 50]), 0, 1, 0, true).unwrap().unwrap();
        assert_eq!((block.ours_iterations, block.pairs.len()), (100, 4));
    }

    #[test]
    fn long_operations_have_few_pairs_and_one_placement() {
        let long = [9_000, 9_000];
        assert_eq!(block(&mut sides(long), 0, 1, 0, false).unwrap().unwrap().pairs.len(), 3);
        assert_eq!(block(&mut sides(long), 0, 1, 1, false), Ok(None));
    }

    #[test]
    fn a_side_can_be_compared_with_itself() {
        assert_eq!(block(&mut sides([5, 9]), 1, 1, 0, false).unwrap().unwrap().ratio(), Some(1.0));
    }

    #[test]
    fn the_ratio_of_sums_contains_rare_long_slices() {
        let mut block = Block {
            ours_iterations: 1,
            peer_iterations: 1,
            pairs: vec![(10, 10), (10, 10), (10, 40)],
            ..Block::default()
        };
        assert_eq!(block.ratio(), Some(1.0));
        block.by_sums = true;
        assert_eq!(block.ratio(), Some(2.0));
    }

    #[test]
    fn a_failure_is_returned() {
        assert!(block(&mut sides([1, 0]), 0, 1, 0, false).unwrap_err().contains("too long"));
    }
}
