//! The last minutes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::super::meter::Sums;
use super::super::service::Inner;
use super::view::View;
use crate::upstream::RequestKind;

/// How far back it goes.
pub(super) const SPAN: Duration = Duration::from_secs(15 * 60);
const INTERVAL: Duration = Duration::from_secs(5);
/// For how long a view is shown to all who look.
const VIEW: Duration = Duration::from_secs(1);

/// What was counted at times of the last minutes, and the last view of it.
#[derive(Debug, Default)]
pub(in super::super) struct History {
    samples: Mutex<VecDeque<Sample>>,
    view: Mutex<Option<(Instant, Arc<View>)>>,
}

/// What was counted until some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) sums: Sums,
    pub(super) fetched: u64,
}

impl Sample {
    pub(super) fn now(proxy: &Inner) -> Self {
        let bytes = |asked| proxy.upstreams.iter().map(move |index| index.meter().bytes(asked));
        let fetched = RequestKind::ALL.into_iter().flat_map(bytes).sum();
        Self { at: Instant::now(), sums: proxy.meter.sums(), fetched }
    }
}

/// Takes samples for ever.
pub(in super::super) async fn sample(proxy: &Inner) {
    let mut interval = tokio::time::interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        interval.tick().await;
        let sample = Sample::now(proxy);
        let mut samples = lock(&proxy.history.samples);
        samples.push_back(sample);
        // One from before the span is where its first part begins.
        while samples.get(1).is_some_and(|second| sample.at - second.at >= SPAN) {
            samples.pop_front();
        }
    }
}

impl History {
    /// The samples, the oldest first.
    pub(super) fn samples(&self) -> Vec<Sample> {
        lock(&self.samples).iter().copied().collect()
    }

    /// The view that was made last, or a new one.
    pub(super) fn view(&self, make: impl FnOnce() -> View) -> Arc<View> {
        let mut last = lock(&self.view);
        match &*last {
            Some((at, view)) if at.elapsed() < VIEW => view.clone(),
            _ => {
                let view = Arc::new(make());
                *last = Some((Instant::now(), view.clone()));
                view
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these locks half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
