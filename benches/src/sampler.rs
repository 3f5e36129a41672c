//! Sampling for `cargo xtask bench`: short samples, taken while the thread has its core for itself.
//!
//! A processor of a virtual machine is often one of two hardware threads of a core. While the other thread is busy, each
//! operation takes up to twice as long, and this changes every few milliseconds. No counter of the operating system
//! shows it, so a short calculation before and after each sample detects it.

use std::hint::black_box;
use std::time::{Duration, Instant};

const WARM_UP: Duration = Duration::from_millis(5);
/// Samples of an undisturbed process.
const SAMPLES: u32 = 100;
/// Minimum number of samples that the result is based on.
const ENOUGH: usize = 10;
/// Maximum duration as a multiple of the measurement, and that for operations too long for an undisturbed period.
const LIMIT: u32 = 20;
const LIMIT_OF_LONG: u32 = 10;
/// Maximum disturbance of an undisturbed core.
const UNDISTURBED: f64 = 0.1;

/// Times `operations`, which gets the number of repetitions, and returns nanoseconds per repetition: those of the
/// undisturbed samples, but of at least ten samples, the least disturbed ones.
///
/// Takes `measurement`, or up to 20 times as long while fewer than ten samples are undisturbed.
pub(crate) fn sample(measurement: Duration, operations: &mut impl FnMut(u64) -> u64) -> Vec<f64> {
    let mut time = |repetitions: u64| {
        let start = Instant::now();
        black_box(operations(repetitions));
        start.elapsed().as_nanos() as f64 / repetitions as f64
    };
    let (start, mut repetitions) = (Instant::now(), 1);
    let mut each = time(repetitions);
    while start.elapsed() < WARM_UP {
        repetitions *= 2;
        each = time(repetitions);
    }
    let repetitions = ((measurement / SAMPLES).as_nanos() as f64 / each).max(1.0) as u64;
    let is_long = each > measurement.as_nanos() as f64 / 10.0;
    let limit = measurement * if is_long { LIMIT_OF_LONG } else { LIMIT };

    let start = Instant::now();
    let mut samples = Vec::new();
    // A sample is between two calculations. One calculation may miss a disturbance by chance, so the two before and the
    // two after a sample count.
    let mut disturbances = vec![disturbance(), disturbance()];
    let (mut run, mut undisturbed) = (0, 0);
    while start.elapsed() < measurement || (undisturbed < ENOUGH && start.elapsed() < limit) {
        samples.push(time(repetitions));
        let disturbance = disturbance();
        disturbances.push(disturbance);
        run = if disturbance < UNDISTURBED { run + 1 } else { 0 };
        undisturbed += usize::from(run >= 4);
    }
    disturbances.push(disturbance());
    let around = disturbances.windows(4).map(|around| around.iter().copied().fold(0.0, f64::max));
    let mut samples: Vec<(f64, f64)> = around.zip(samples).collect();
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    samples.truncate(undisturbed.max(ENOUGH));
    samples.into_iter().map(|(_, time)| time).collect()
}

/// Returns how much longer three independent calculations take than one, as a part of that time.
///
/// A core executes them in parallel: about 0 if this thread has the core for itself, 0.3 to 1 if it shares the core.
fn disturbance() -> f64 {
    let start = Instant::now();
    black_box(calculate(black_box([1])));
    let one = start.elapsed().as_nanos() as f64;
    black_box(calculate(black_box([1, 2, 3])));
    let three = start.elapsed().as_nanos() as f64 - one;
    // Negative if an interrupt prolonged the first calculation.
    (three / one - 1.0).abs()
}

/// Every step of a calculation needs the result of the step before.
fn calculate<const N: usize>(mut values: [u64; N]) -> [u64; N] {
    const STEPS: usize = 10_000;
    for _ in 0..STEPS {
        for value in &mut values {
            *value = value.rotate_left(5).wrapping_add(7);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_operations_are_repeated_within_a_sample() {
        let mut calls = Vec::new();
        let samples = sample(Duration::from_millis(10), &mut |repetitions| {
            calls.push(repetitions);
            (0..repetitions).map(black_box).sum()
        });
        assert!(samples.len() >= ENOUGH && samples.iter().all(|&time| time > 0.0), "{samples:?}");
        assert!(*calls.last().unwrap() > 100, "a sample takes 0.1 ms");
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "stands for an operation that takes long")]
    fn slow_operations_are_called_until_the_limit() {
        let mut calls = 0;
        let samples = sample(Duration::from_millis(1), &mut |repetitions| {
            calls += repetitions;
            std::thread::sleep(Duration::from_millis(11));
            1
        });
        assert_eq!((samples.len(), calls), (1, 2), "one call to warm up");
    }
}
