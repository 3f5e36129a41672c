//! Counters and histograms for the metrics. Recording costs atomic additions only, so that it never blocks a response.

use std::array;
use std::marker::PhantomData;
use std::ops::Index;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

/// A number that many threads change.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Returns the new value.
    pub(crate) fn add(&self, more: u64) -> u64 {
        self.0.fetch_add(more, Ordering::Relaxed) + more
    }

    pub(crate) fn subtract(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An enumeration whose variants are the values of a metric label.
pub(crate) trait Label {
    const NAMES: &'static [&'static str];

    /// Position in [`Self::NAMES`].
    fn index(self) -> usize;
}

/// Defines an enumeration with a list of its variants and a name for each.
macro_rules! named {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$one:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$one])* $variant),* }

        #[allow(dead_code, reason = "not all of them are listed or named")]
        impl $name {
            /// All variants.
            $vis const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// Returns the name, as in metrics and the output of commands.
            $vis fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl $crate::metrics::Label for $name {
            const NAMES: &'static [&'static str] = &[$($text),*];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

pub(crate) use named;

/// One counter for each value of a label.
#[derive(Debug)]
pub(crate) struct Counters<L>(Box<[Counter]>, PhantomData<fn(L)>);

impl<L: Label> Default for Counters<L> {
    fn default() -> Self {
        Self(L::NAMES.iter().map(|_| Counter::default()).collect(), PhantomData)
    }
}

impl<L: Label> Index<L> for Counters<L> {
    type Output = Counter;

    fn index(&self, label: L) -> &Counter {
        &self.0[label.index()]
    }
}

impl<L: Label> Counters<L> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        L::NAMES.iter().copied().zip(self.0.iter().map(Counter::get))
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(Counter::get).sum()
    }
}

named! {
    /// Class of a response status. Informational responses count as successful.
    pub(crate) enum StatusClass {
        Success = "2xx",
        Redirection = "3xx",
        ClientError = "4xx",
        ServerError = "5xx",
    }
}

impl From<StatusCode> for StatusClass {
    fn from(status: StatusCode) -> Self {
        Self::ALL[usize::from(status.as_u16() / 100).clamp(2, 5) - 2]
    }
}

/// Inclusive upper bounds of all buckets except the last, which is unbounded, in seconds.
///
/// A page from memory takes tens of microseconds, a large wheel over a slow connection minutes.
const BOUNDS: [f64; 20] = [
    50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 30.0, 60.0, 300.0,
];
const BUCKETS: usize = BOUNDS.len() + 1;

/// Histogram of durations. Recording costs two atomic additions.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [Counter; BUCKETS],
    /// Sum in nanoseconds; overflows after 584 years.
    nanos: Counter,
}

/// Counts of a [`Histogram`] at one time, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HistogramSnapshot {
    buckets: [u64; BUCKETS],
    nanos: u64,
}

impl Histogram {
    pub(crate) fn record(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.buckets[BOUNDS.partition_point(|bound| *bound < seconds)].add(1);
        self.nanos.add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Returns the current counts. A duration being recorded may be in the bucket and not yet in the sum.
    pub(crate) fn snapshot(&self) -> HistogramSnapshot {
        let buckets = array::from_fn(|bucket| self.buckets[bucket].get());
        HistogramSnapshot { buckets, nanos: self.nanos.get() }
    }
}

impl HistogramSnapshot {
    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    #[expect(clippy::cast_precision_loss, reason = "metrics need few digits")]
    pub(crate) fn seconds(&self) -> f64 {
        self.nanos as f64 / 1e9
    }

    /// Returns the upper bound of each bucket in seconds with the cumulative count. The last bucket has no bound.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (Option<f64>, u64)> {
        let mut sum = 0;
        let bounds = BOUNDS.map(Some).into_iter().chain([None]);
        bounds.zip(self.buckets).map(move |(bound, count)| {
            sum += count;
            (bound, sum)
        })
    }

    pub(crate) fn plus(mut self, other: &Self) -> Self {
        for (count, more) in self.buckets.iter_mut().zip(other.buckets) {
            *count += more;
        }
        self.nanos += other.nanos;
        self
    }

    /// Estimates a quantile in seconds, with durations spread evenly over their bucket. `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        let rank = self.count() as f64 * part;
        let mut below = 0.0;
        let mut start = 0.0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            let end = BOUNDS.get(bucket).copied().unwrap_or(start);
            let count = *count as f64;
            if count > 0.0 && below + count >= rank {
                return Some(start + (end - start) * ((rank - below) / count).clamp(0.0, 1.0));
            }
            below += count;
            start = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn upper_bounds_are_inclusive() {
        let histogram = Histogram::default();
        for micros in [0, 50, 51, 300_000_000, 300_000_001] {
            histogram.record(Duration::from_micros(micros));
        }
        let snapshot = histogram.snapshot();
        let cumulative: Vec<_> = snapshot.cumulative().collect();
        assert_eq!(cumulative[0], (Some(0.00005), 2));
        assert_eq!(cumulative[1], (Some(0.0001), 3));
        assert_eq!(cumulative[19], (Some(300.0), 4));
        assert_eq!(cumulative[20], (None, 5));
        assert_eq!(HistogramSnapshot::default().quantile(0.5), None);
    }

    proptest! {
        #[test]
        fn estimated_quantile_is_in_the_bucket_of_the_exact_one(
            mut micros in proptest::collection::vec(0_u64..400_000_000, 1..200), part in 0.01_f64..1.0,
        ) {
            let histogram = Histogram::default();
            micros.iter().for_each(|micros| histogram.record(Duration::from_micros(*micros)));
            micros.sort_unstable();
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
            let at = ((micros.len() as f64 * part).ceil() as usize).clamp(1, micros.len()) - 1;
            let exact = Duration::from_micros(micros[at]).as_secs_f64();
            let bucket = BOUNDS.partition_point(|bound| *bound < exact);
            let edge = |bucket: Option<usize>| bucket.map_or(0.0, |bucket| BOUNDS.get(bucket).copied().unwrap_or(300.0));
            let found = histogram.snapshot().quantile(part).unwrap();
            prop_assert!(found >= edge(bucket.checked_sub(1)) - 1e-9 && found <= edge(Some(bucket)) + 1e-9);
        }
    }
}
