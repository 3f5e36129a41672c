//! Deterministic simulations: all decisions of a run come from one seed.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, process, thread};

/// Time of a run after which it hangs, in a loop that no simulated clock interrupts.
const HANG: Duration = Duration::from_secs(300);

/// Random numbers that only depend on the seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Returns the numbers of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`.
    ///
    /// # Panics
    ///
    /// If `limit` is 0.
    pub const fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    /// Returns whether an event of this probability in percent occurs.
    pub const fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the values.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// Prints the seed of a run that panics.
struct PrintSeed(u64);

impl PrintSeed {
    #[allow(clippy::print_stderr, reason = "the output of a failed test")]
    fn print(&self) {
        eprintln!("rerun with SIMULATION_SEED={}", self.0);
    }
}

impl Drop for PrintSeed {
    fn drop(&mut self) {
        if thread::panicking() {
            self.print();
        }
    }
}

/// Runs a simulation with the seeds below `count`. The environment variable `SIMULATION_SEEDS` replaces the count, and
/// `SIMULATION_SEED` selects one seed.
///
/// # Panics
///
/// If a run panics, or a variable is not a number. The seed of the failed run is printed, also if a run takes five
/// minutes. This aborts the process.
pub fn simulate(count: u64, run: impl Fn(Random)) {
    simulate_part(count, 1, run);
}

/// Like [`simulate`], with the given part of the seeds of the environment variable, for runs that take longer.
///
/// # Panics
///
/// As [`simulate`].
pub fn simulate_part(count: u64, part: u64, run: impl Fn(Random)) {
    let variable =
        |name| env::var(name).ok().map(|value| value.parse::<u64>().expect("the variable is a number"));
    let seeds = match variable("SIMULATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..variable("SIMULATION_SEEDS").map_or(count, |seeds| seeds / part),
    };
    for seed in seeds {
        let _seed = PrintSeed(seed);
        let (running, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            if ended.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout) {
                PrintSeed(seed).print();
                process::abort();
            }
        });
        run(Random::new(seed));
        drop(running);
    }
}
