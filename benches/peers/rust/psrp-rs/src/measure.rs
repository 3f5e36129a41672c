//! The time of an operation.

use std::time::{Duration, Instant};

/// Number of samples.
const SAMPLES: u32 = 10;

/// The median time of a call in nanoseconds over about so many milliseconds, after a third of that to warm up.
pub(crate) fn median(operation: &mut dyn FnMut(), millis: u32) -> f64 {
    let whole = Duration::from_millis(millis.into());
    let start = Instant::now();
    let mut calls = 0_u32;
    while calls == 0 || start.elapsed() < whole / 3 {
        // The clock is asked rarely, for it takes as long as a short operation.
        for _ in 0..16 {
            operation();
        }
        calls += 16;
    }
    let once = start.elapsed().as_nanos() as f64 / f64::from(calls);
    let count = (whole.as_nanos() as f64 / once / f64::from(SAMPLES)).ceil() as u32;
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..count {
                operation();
            }
            start.elapsed().as_nanos() as f64 / f64::from(count)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
