//! The status page: cached projects with a search, downloads in flight, totals, slow indexes, refusals, recent failures,
//! and buttons to purge the cache.

mod html;
mod projects;
mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use serde::Serialize;

use self::projects::Projects;
use super::message::ProxyResponse;
use super::request_metrics::{Endpoint, RejectionReason, Totals};
use super::service::{Scope, State};
use crate::failures::{Failure, MAX_FAILURES};
use crate::metrics::StatusClass;
use crate::page_cache::PageCache;
use crate::upstream::{Condition, RequestKind};

const STYLE: &str = include_str!("status.css");
const SCRIPT: &str = include_str!("status.js");

/// Time for which a view is reused, so that many visitors cost as much as one.
const VIEW_TTL: Duration = Duration::from_secs(1);

/// Allows only the embedded style and script, and requests and forms to this proxy.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT),
    );
    // Consists of ASCII characters only.
    HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Returns the view with the projects that match a search.
async fn view(proxy: &Arc<State>, query: &str) -> View {
    let compute = async {
        let proxy = proxy.clone();
        // Visits all entries of the cache.
        tokio::task::spawn_blocking(move || Arc::new(View::of(&proxy))).await.unwrap_or_default()
    };
    let (view, query) = (proxy.status_view.get(VIEW_TTL, compute).await, query.to_owned());
    tokio::task::spawn_blocking(move || view.searched(&query)).await.unwrap_or_default()
}

/// Who can purge the cache with the buttons of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purging {
    /// Clients with the admin token.
    Token,
    /// Everybody: there is no token, and the page is served at the address for administration.
    Open,
    /// No client.
    Off,
}

/// Response with the page.
pub(super) async fn html(proxy: &Arc<State>, scope: Scope, query: Option<&str>) -> ProxyResponse {
    let query = projects::query(query);
    let view = view(proxy, &query).await;
    let purging = match (&proxy.config.admin_token, scope) {
        (Some(_), _) => Purging::Token,
        (None, Scope::Admin) => Purging::Open,
        (None, _) => Purging::Off,
    };
    let mut response = private("text/html; charset=utf-8", html::page(&view, &query, purging, STYLE, SCRIPT));
    response.set(CONTENT_SECURITY_POLICY, POLICY.clone());
    response
}

/// Response with the data of the page, which its script requests to update it.
pub(super) async fn json(proxy: &Arc<State>, query: Option<&str>) -> ProxyResponse {
    let view = view(proxy, &projects::query(query)).await;
    // Serializing texts and numbers can't fail.
    let view = tightwire_json::to_string(&view).unwrap_or_default();
    private("application/json", view)
}

fn private(content_type: &'static str, text: String) -> ProxyResponse {
    let mut response = ProxyResponse::typed(StatusCode::OK, content_type, text);
    response.set(CACHE_CONTROL, "no-store");
    response.set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    response.set(REFERRER_POLICY, "no-referrer");
    response
}

/// Maximum rows of a table.
const ROWS: usize = 10;
/// Placeholder for unknown values.
const UNKNOWN: &str = "–";

/// Everything on the page that changes, by the name of its element. Rendered into the page and sent to its script.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct View {
    texts: BTreeMap<&'static str, String>,
    bars: BTreeMap<&'static str, Bar>,
    tables: BTreeMap<&'static str, Vec<Row>>,
    is_well: bool,
    #[serde(skip)]
    projects: Arc<Projects>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Bar {
    value: u64,
    /// `None` for a download of unknown length.
    max: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    cells: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bar: Option<Bar>,
    /// Path that the button of this row requests to purge a project.
    #[serde(skip_serializing_if = "Option::is_none")]
    purge: Option<String>,
}

impl View {
    fn of(proxy: &State) -> Self {
        let mut view = Self::default();
        view.general(proxy);
        view.cache(proxy);
        view.totals(proxy);
        view.tables(proxy);
        view.latencies(proxy);
        view.refusals(proxy);
        view.failures(proxy);
        view.projects = Arc::new(Projects::of(proxy));
        view
    }

    /// Returns the view with the projects whose names contain a text.
    fn searched(&self, query: &str) -> Self {
        let mut view = self.clone();
        let (found, rows) = self.projects.find(query, SystemTime::now());
        view.set_text("projects", found);
        view.tables.insert("projects", rows);
        view
    }

    fn set_text(&mut self, name: &'static str, text: impl Into<String>) {
        self.texts.insert(name, text.into());
    }

    fn general(&mut self, proxy: &State) {
        let upstreams: Vec<_> = proxy.all_upstreams().collect();
        let failing =
            upstreams.iter().filter(|(_, index)| index.meter.condition() == Condition::Failing).count();
        self.is_well = failing == 0;
        let state = match failing {
            _ if proxy.is_offline() => "Offline: serving the cache only",
            0 => "Serving",
            _ if failing < upstreams.len() => "Degraded: an index fails",
            _ => "Degraded: no index responds",
        };
        self.set_text("state", state);
        let uptime = SystemTime::now().duration_since(proxy.started).unwrap_or_default();
        self.set_text("uptime", text::long(uptime));
        self.set_text("in-flight", text::count(proxy.metrics.in_flight.get(), "request"));
        let indexes = upstreams.iter().map(|(label, index)| {
            let state = match index.meter.condition() {
                _ if index.is_offline() => "offline",
                Condition::Unknown => "no request yet",
                Condition::Responding => "responds",
                Condition::Failing => "fails",
            };
            let fresh = format!("fresh for {}", text::long(index.ttl()));
            let cells = vec![format!("{}{index}", name_of(label)), fresh, state.to_owned()];
            Row { cells, ..Row::default() }
        });
        self.tables.insert("indexes", indexes.collect());
    }

    fn cache(&mut self, proxy: &State) {
        let stats = proxy.store.stats();
        let max = Some(proxy.store.max_bytes()).filter(|max| *max < u64::MAX);
        let limit = max.map_or_else(|| "no limit".to_owned(), text::size);
        let files = text::count(stats.files, "file");
        self.set_text("files", format!("{} of {limit} in {files}", text::size(stats.bytes)));
        self.bars.insert("files", Bar { value: stats.bytes, max });
        let (pages, max) = (proxy.sum_of_pages(PageCache::bytes), proxy.sum_of_pages(PageCache::max_bytes));
        let count = text::count(proxy.sum_of_pages(PageCache::count), "page");
        self.set_text("pages", format!("{} of {} in {count}", text::size(pages), text::size(max)));
        self.bars.insert("pages", Bar { value: pages, max: Some(max) });
        self.set_text("evicted", stats.evicted.to_string());
        self.set_text("failed", stats.failed.to_string());
        self.set_text("corrupt", stats.corrupt.to_string());
    }

    fn tables(&mut self, proxy: &State) {
        let mut downloads = proxy.store.downloads_in_flight();
        downloads.sort_unstable_by_key(|download| std::cmp::Reverse(download.bytes));
        self.set_text("running", text::count(downloads.len() as u64, "download"));
        let rows = downloads.into_iter().take(ROWS).map(|download| {
            let label = download.label.as_deref().unwrap_or(UNKNOWN);
            // The file name is enough, because it contains the project's name.
            let name = label.split_once('/').map_or(label, |(_, file)| file);
            let received = text::size(download.bytes);
            let progress = download
                .len
                .map_or_else(|| received.clone(), |len| format!("{received} of {}", text::size(len)));
            let bar = Some(Bar { value: download.bytes, max: download.len });
            Row { cells: vec![name.to_owned(), progress], bar, purge: None }
        });
        self.tables.insert("running", rows.collect());
        let in_memory = proxy.indexes().flat_map(|(index, state)| {
            let projects = state.pages.projects_in_memory().into_iter();
            projects.map(move |(name, _, count)| (index, name, count))
        });
        let mut requested: Vec<_> = in_memory.filter(|(_, _, count)| *count > 0).collect();
        requested.sort_unstable_by(|(index, name, count), (other_index, other, other_count)| {
            (other_count, index, name).cmp(&(count, other_index, other))
        });
        let requested = requested.into_iter().take(ROWS).map(|(index, name, count)| {
            let (label, prefix) = match index {
                "" => (name.to_string(), String::new()),
                index => (format!("{index}: {name}"), format!("{index}/")),
            };
            let cells = vec![label, text::count(count, "time")];
            Row { cells, bar: None, purge: Some(format!("{prefix}cache/{name}")) }
        });
        self.tables.insert("requested", requested.collect());
        let largest = proxy.store.largest(ROWS).into_iter().map(|(name, bytes, files)| {
            let cells = vec![name, text::size(bytes), text::count(files, "file")];
            Row { cells, bar: None, purge: None }
        });
        self.tables.insert("largest", largest.collect());
    }

    /// Totals since the start of the process.
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn totals(&mut self, proxy: &State) {
        let totals = proxy.metrics.totals();
        let hits = |totals: &Totals| match totals.requests {
            0 => UNKNOWN.to_owned(),
            requests => text::percent(totals.hits as f64 / requests as f64),
        };
        let pages = proxy.metrics.totals_of(&[Endpoint::List, Endpoint::Project]);
        let files = proxy.metrics.totals_of(&[Endpoint::File, Endpoint::Metadata]);
        self.set_text("page-hits", hits(&pages));
        self.set_text("file-hits", hits(&files));
        let latency =
            |quantile| totals.response_starts.quantile(quantile).map_or(UNKNOWN.to_owned(), text::seconds);
        let received_by = |kind| proxy.all_upstreams().map(move |(_, index)| index.meter[kind].bytes.get());
        let fetched = RequestKind::ALL.into_iter().flat_map(received_by).sum();
        self.set_text("all-hits", hits(&totals));
        self.set_text("all-requests", totals.requests.to_string());
        self.set_text("median", latency(0.5));
        self.set_text("slow", latency(0.99));
        self.set_text("all-sent", text::size(proxy.metrics.bytes.sum()));
        self.set_text("all-fetched", text::size(fetched));
    }

    /// Latencies and failures of the indexes, the slowest ones first.
    fn latencies(&mut self, proxy: &State) {
        let mut found = Vec::new();
        for (label, index) in proxy.all_upstreams() {
            for kind in RequestKind::ALL {
                let meter = &index.meter[kind];
                let (times, faults) = (meter.latency.snapshot(), meter.faults.sum());
                if times.count() + faults == 0 {
                    continue;
                }
                let failures = faults + meter.responses[StatusClass::ServerError].get();
                let latency = |part| times.quantile(part).map_or(UNKNOWN.to_owned(), text::seconds);
                let cells = vec![
                    format!("{}{index}", name_of(&label)),
                    format!("{}s", kind.name()),
                    latency(0.5),
                    latency(0.95),
                    (times.count() + faults).to_string(),
                    failures.to_string(),
                ];
                // An index that never responds is the slowest.
                found.push((times.quantile(0.95).unwrap_or(f64::MAX), Row { cells, ..Row::default() }));
            }
        }
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        self.tables.insert("latencies", found.into_iter().take(ROWS).map(|(_, row)| row).collect());
    }

    fn refusals(&mut self, proxy: &State) {
        let rejected = &proxy.metrics.rejected;
        let mut found: Vec<_> = RejectionReason::ALL.map(|reason| (rejected[reason].get(), reason)).into();
        found.retain(|(count, _)| *count > 0);
        found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let rows = found.into_iter().map(|(count, reason)| {
            let cells = vec![reason.name().to_owned(), meaning(reason).to_owned(), count.to_string()];
            Row { cells, ..Row::default() }
        });
        self.tables.insert("refusals", rows.collect());
    }

    /// The last failures of indexes, downloads and the bucket, the newest ones first.
    fn failures(&mut self, proxy: &State) {
        let mut found = proxy.store.failures().all();
        for (name, index) in proxy.indexes() {
            let mut failures = index.pages.failures().all();
            if !name.is_empty() {
                failures.iter_mut().for_each(|one| one.subject = format!("{name}: {}", one.subject).into());
            }
            found.append(&mut failures);
        }
        if let Some(bucket) = proxy.store.bucket() {
            let operations = bucket.remote().failures.all().into_iter();
            found.extend(
                operations.map(|one| Failure { subject: format!("bucket: {}", one.subject).into(), ..one }),
            );
        }
        found.sort_by_key(|failure| std::cmp::Reverse(failure.at));
        let now = SystemTime::now();
        let rows =
            found.into_iter().take(MAX_FAILURES).map(|Failure { at, subject, cause, count, .. }| {
                let cells = vec![subject.into(), cause.into(), text::ago(now, at), count.to_string()];
                Row { cells, ..Row::default() }
            });
        self.tables.insert("failures", rows.collect());
    }
}

/// Returns the name of the index before that of its upstream. The upstreams of the default index have numbers only.
fn name_of(label: &str) -> String {
    label.split_once('/').map(|(name, _)| format!("{name}: ")).unwrap_or_default()
}

/// Describes a reason for people.
fn meaning(reason: RejectionReason) -> &'static str {
    match reason {
        RejectionReason::Login => "the login is missing or wrong",
        RejectionReason::Rate => "more requests than the rate limit",
        RejectionReason::Busy => "too many queued password checks",
        RejectionReason::Project => "rule: the project is not allowed",
        RejectionReason::Version => "rule: the version is not allowed",
        RejectionReason::Osv => "rule: a malware record has the version",
        RejectionReason::Status => "rule: the project is quarantined or archived",
        RejectionReason::Newer => "rule: uploaded after the cut-off date",
        RejectionReason::Age => "rule: uploaded too recently",
        RejectionReason::Yanked => "rule: the file is yanked",
        RejectionReason::Head => "too many or too long header fields",
        RejectionReason::Purge => "purge without the admin token",
        RejectionReason::FileHost => "the file is on a host that is not allowed",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page_with(text: &str) -> String {
        let mut view = View::default();
        for table in ["projects", "failures", "indexes", "running"] {
            let row = || Row { cells: vec![text.to_owned(); 2], ..Row::default() };
            view.tables.insert(table, vec![row(), row()]);
        }
        view.set_text("projects", text);
        html::page(&view, text, Purging::Token, "", "")
    }

    proptest! {
        #[test]
        fn hostile_texts_are_escaped(text in r#"[<>&"'=a-z/!\-\x00-\x1f\PC]{1,60}"#) {
            let (hostile, harmless) = (page_with(&text), page_with("x"));
            for special in ['<', '>', '"'] {
                let count = |page: &str| page.matches(special).count();
                prop_assert_eq!(count(&hostile), count(&harmless), "{}", special);
            }
            let end = hostile.split("value=\"").nth(1).and_then(|rest| rest.split('"').next());
            let decoded = end.unwrap_or_default().replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            prop_assert_eq!(decoded.replace("&amp;", "&"), text);
        }
    }
}
