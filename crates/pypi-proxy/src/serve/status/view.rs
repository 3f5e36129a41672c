//! What the page shows, in words.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::super::service::Inner;
use super::history::{SPAN, Sample};
use super::{plot, text};
use crate::upstream::Condition;

/// The rows of a table.
const ROWS: usize = 10;
/// The lower end of the scale of latencies, in seconds.
const SHORTEST: f64 = 1e-5;
/// The plots show at least this much time.
const LEAST_SPAN: Duration = Duration::from_secs(10);
/// What is not known yet.
const NOTHING: &str = "–";

/// What changes on the page, each by the name that its element has. It is written into the page, and sent to its script.
#[derive(Debug, Default, Serialize)]
pub(super) struct View {
    pub(super) texts: BTreeMap<&'static str, String>,
    /// Paths of lines.
    pub(super) lines: BTreeMap<&'static str, String>,
    pub(super) bars: BTreeMap<&'static str, Bar>,
    pub(super) tables: BTreeMap<&'static str, Vec<Row>>,
    pub(super) is_well: bool,
    /// Whether having the cache forget something is for some only, which does not change.
    #[serde(skip)]
    pub(super) needs_token: bool,
}

/// How much there is of what may be.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Bar {
    pub(super) value: u64,
    /// Not known for a file whose length nobody tells.
    pub(super) max: Option<u64>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) cells: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bar: Option<Bar>,
    /// The project that a button has the cache forget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forget: Option<String>,
}

impl View {
    /// What there is to see now, or was a moment ago.
    pub(super) fn of(proxy: &Arc<Inner>) -> Arc<Self> {
        proxy.history.view(|| {
            let mut view = Self { needs_token: proxy.needs_token(), ..Self::default() };
            view.general(proxy);
            view.cache(proxy);
            view.plots(proxy);
            view.tables(proxy);
            view
        })
    }

    fn say(&mut self, name: &'static str, text: impl Into<String>) {
        self.texts.insert(name, text.into());
    }

    fn general(&mut self, proxy: &Inner) {
        let failing =
            proxy.upstreams.iter().filter(|index| index.meter().condition() == Condition::Failing).count();
        self.is_well = failing == 0;
        self.say(
            "state",
            match failing {
                0 => "Serving".to_owned(),
                _ if failing < proxy.upstreams.len() => "Degraded: an index fails".to_owned(),
                _ => "Degraded: no index answers".to_owned(),
            },
        );
        let uptime = SystemTime::now().duration_since(proxy.meter.started()).unwrap_or_default();
        self.say("uptime", text::long(uptime));
        self.say("in-flight", text::count(proxy.meter.in_flight(), "request"));
        let indexes = proxy.upstreams.iter().map(|index| {
            let state = match index.meter().condition() {
                Condition::Unknown => "not asked yet",
                Condition::Responding => "answers",
                Condition::Failing => "fails",
            };
            let cells =
                vec![index.to_string(), format!("fresh for {}", text::long(index.ttl())), state.to_owned()];
            Row { cells, ..Row::default() }
        });
        self.tables.insert("indexes", indexes.collect());
    }

    fn cache(&mut self, proxy: &Inner) {
        let stats = proxy.store.stats();
        let max = Some(proxy.store.max_bytes()).filter(|max| *max < u64::MAX);
        let limit = max.map_or_else(|| "no limit".to_owned(), text::size);
        let files = text::count(stats.files, "file");
        self.say("files", format!("{} of {limit} in {files}", text::size(stats.bytes)));
        self.bars.insert("files", Bar { value: stats.bytes, max });
        let (pages, max) = (proxy.pages.bytes(), proxy.pages.max_bytes());
        self.say(
            "pages",
            format!(
                "{} of {} in {}",
                text::size(pages),
                text::size(max),
                text::count(proxy.pages.count(), "page")
            ),
        );
        self.bars.insert("pages", Bar { value: pages, max: Some(max) });
        self.say("evicted", stats.evicted.to_string());
        self.say("failed", stats.failed.to_string());
        self.say("corrupt", stats.corrupt.to_string());
    }

    fn tables(&mut self, proxy: &Inner) {
        let mut transfers = proxy.store.transfers();
        transfers.sort_unstable_by_key(|transfer| std::cmp::Reverse(transfer.bytes));
        self.say("running", text::count(transfers.len() as u64, "download"));
        let rows = transfers.into_iter().take(ROWS).map(|transfer| {
            let name = transfer.label.as_deref().unwrap_or(NOTHING);
            // The page above names the project already.
            let name = name.split_once('/').map_or(name, |(_, file)| file);
            let so_far = text::size(transfer.bytes);
            let told =
                transfer.len.map_or_else(|| so_far.clone(), |len| format!("{so_far} of {}", text::size(len)));
            let bar = Some(Bar { value: transfer.bytes, max: transfer.len });
            Row { cells: vec![name.to_owned(), told], bar, forget: None }
        });
        self.tables.insert("running", rows.collect());
        let wanted = proxy.pages.most_wanted(ROWS).into_iter().map(|(name, count)| {
            let name = name.as_str().to_owned();
            Row { cells: vec![name.clone(), text::count(count, "time")], bar: None, forget: Some(name) }
        });
        self.tables.insert("wanted", wanted.collect());
        let largest = proxy.store.largest(ROWS).into_iter().map(|(name, bytes, files)| {
            let cells = vec![name, text::size(bytes), text::count(files, "file")];
            Row { cells, bar: None, forget: None }
        });
        self.tables.insert("largest", largest.collect());
    }

    #[expect(clippy::cast_precision_loss, reason = "pixels are larger")]
    fn plots(&mut self, proxy: &Inner) {
        let mut samples = proxy.history.samples();
        let now = Sample::now(proxy);
        self.totals(&now);
        samples.push(now);
        // Until it has run for longer, the plots begin where it has begun.
        let span = samples.first().map_or(SPAN, |first| (now.at - first.at).clamp(LEAST_SPAN, SPAN));
        self.say("span", text::long(span));
        let mut points = Vec::new();
        for pair in samples.windows(2) {
            let [before, after] = pair else { continue };
            // A moment is too short to tell something of.
            let seconds = (after.at - before.at).as_secs_f64();
            if seconds < 0.5 {
                continue;
            }
            let x = 1.0 - (now.at - after.at).as_secs_f64() / span.as_secs_f64();
            let requests = after.sums.requests - before.sums.requests;
            let heads = after.sums.heads.since(&before.sums.heads);
            points.push(Point {
                x,
                hits: (requests > 0).then(|| (after.sums.hits - before.sums.hits) as f64 / requests as f64),
                median: heads.quantile(0.5),
                slow: heads.quantile(0.99),
                sent: (after.sums.sent - before.sums.sent) as f64 / seconds,
                fetched: (after.fetched - before.fetched) as f64 / seconds,
            });
        }
        let last = points.last();
        let or_nothing = |value: Option<String>| value.unwrap_or_else(|| NOTHING.to_owned());
        let hits = points.iter().rev().find_map(|point| point.hits);
        let median = points.iter().rev().find_map(|point| point.median);
        let slow = points.iter().rev().find_map(|point| point.slow);
        let rate = |bytes: f64| format!("{}/s", text::bytes(bytes));
        self.say("hits", or_nothing(hits.map(text::percent)));
        self.say("median", or_nothing(median.map(text::seconds)));
        self.say("slow", or_nothing(slow.map(text::seconds)));
        self.say("sent", or_nothing(last.map(|point| rate(point.sent))));
        self.say("fetched", or_nothing(last.map(|point| rate(point.fetched))));

        let slowest = points.iter().filter_map(|point| point.slow).fold(0.0, f64::max);
        let top = plot::power_of_ten(slowest.max(0.01));
        self.say("latency-top", text::seconds(top));
        self.say("latency-bottom", text::seconds(SHORTEST));
        let most = points.iter().map(|point| point.sent.max(point.fetched)).fold(0.0, f64::max);
        let most = plot::power_of_two(most.max(1024.0));
        self.say("traffic-top", rate(most));
        let line = |height: &dyn Fn(&Point) -> Option<f64>| {
            let points: Vec<_> = points.iter().map(|point| (point.x, height(point))).collect();
            plot::path(&points)
        };
        let latency = |value: Option<f64>| value.map(|value| plot::logarithmic(value, SHORTEST, top));
        self.lines = BTreeMap::from([
            ("hits", line(&|point| point.hits)),
            ("median", line(&|point| latency(point.median))),
            ("slow", line(&|point| latency(point.slow))),
            ("sent", line(&|point| Some(point.sent / most))),
            ("fetched", line(&|point| Some(point.fetched / most))),
        ]);
    }

    /// Since the start.
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn totals(&mut self, now: &Sample) {
        let sums = &now.sums;
        let hits = (sums.requests > 0).then(|| text::percent(sums.hits as f64 / sums.requests as f64));
        self.say("all-hits", hits.unwrap_or_else(|| NOTHING.to_owned()));
        self.say("all-requests", sums.requests.to_string());
        self.say("all-sent", text::size(sums.sent));
        self.say("all-fetched", text::size(now.fetched));
    }
}

/// Figures of a few seconds.
struct Point {
    /// From 0 at the begin of the span to 1.
    x: f64,
    hits: Option<f64>,
    median: Option<f64>,
    slow: Option<f64>,
    /// Bytes per second.
    sent: f64,
    fetched: f64,
}
