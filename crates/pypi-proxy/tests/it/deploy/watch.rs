//! The Prometheus rules and the Grafana dashboard only use existing metrics.

use std::collections::{BTreeMap, BTreeSet};

use crate::deploy::{WHEEL, file, index};
use crate::support::exposition;
use crate::support::prelude::*;
use crate::support::program::{run, serve};

/// Labels of each metric and their values.
type Metrics = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Returns names and values between braces: labels of a sample, or matchers of an expression.
fn labels(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\",").map(move |label| {
        let (name, value) = label.split_once(['=', '!']).unwrap_or_else(|| panic!("{text}"));
        (name.trim(), value.trim_start_matches(['=', '~', '"']).trim_end_matches('"'))
    })
}

async fn exposed() -> Metrics {
    let dir = tempfile::tempdir().unwrap();
    let index = index();
    let url = index.url("/simple/");
    // No server needs to respond there.
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_STORAGE_TYPE", "hybrid"),
        ("PYPI_PROXY_S3_BUCKET", "bucket"),
        ("PYPI_PROXY_S3_ENDPOINT", "http://127.0.0.1:1"),
        ("PYPI_PROXY_S3_ACCESS_KEY_ID", "id"),
        ("PYPI_PROXY_S3_SECRET_ACCESS_KEY", "key"),
    ];
    let served = serve(dir.path(), &env).await;
    let get = |path: &str| reqwest::get(format!("{}{path}", served.url));
    get(&format!("/simple/demo/{WHEEL}")).await.unwrap().bytes().await.unwrap();
    let text = get("/metrics").await.unwrap().text().await.unwrap();
    let mut metrics = Metrics::new();
    for series in exposition::parse(&text).into_keys() {
        let (name, found) = series.split_once('{').unwrap_or((&series, ""));
        let known = metrics.entry(name.to_owned()).or_default();
        if let Some(found) = found.strip_suffix('}') {
            for (label, value) in labels(found) {
                known.entry(label.to_owned()).or_default().insert(value.to_owned());
            }
        }
    }
    served.kill().await;
    metrics
}

/// Checks an expression. Returns the number of names in it, and those that are neither exposed nor recorded.
fn check(text: &str, metrics: &Metrics, recorded: &BTreeSet<String>) -> (usize, Vec<String>) {
    let (mut names, mut wrong) = (0, Vec::new());
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let mut rest = text;
    while let Some(at) = rest.find(is_name) {
        rest = &rest[at..];
        let (name, after) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
        rest = after;
        if name.contains(":pypi_proxy_") {
            names += 1;
            if !recorded.contains(name) {
                wrong.push(format!("{name} is not recorded"));
            }
        } else if name.starts_with("pypi_proxy_") || name.starts_with("process_") {
            names += 1;
            let Some(known) = metrics.get(name) else {
                wrong.push(format!("there is no {name}"));
                continue;
            };
            let requests = after.strip_prefix('{').and_then(|after| after.split_once('}'));
            for (label, values) in requests.iter().flat_map(|(requests, _)| labels(requests)) {
                if matches!(label, "job" | "instance") {
                    continue;
                }
                for value in values.split('|') {
                    if !known.get(label).is_some_and(|known| known.contains(value)) {
                        wrong.push(format!("no {name} has {label}={value}"));
                    }
                }
            }
        }
    }
    (names, wrong)
}

/// Collects all strings with this key, at any depth.
fn members<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| members(value, name, found)),
        Value::Object(object) => {
            found.extend(object.get(name).and_then(Value::as_str));
            object.values().for_each(|value| members(value, name, found));
        }
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_and_dashboard_use_existing_metrics() {
    let metrics = exposed().await;
    let rules = file("prometheus/rules.yml");
    let recorded: BTreeSet<String> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).map(str::to_owned).collect();
    let (names, wrong) = check(&rules, &metrics, &recorded);
    assert_eq!(wrong, [""; 0]);
    assert!(names > 20 && !recorded.is_empty());

    let dashboard: Value = tightwire_json::from_str(&file("grafana/pypi-proxy.json")).unwrap();
    let mut queries = Vec::new();
    members(&dashboard, "expr", &mut queries);
    members(&dashboard["templating"], "query", &mut queries);
    let mut names = 0;
    for query in &queries {
        let (count, wrong) = check(query, &metrics, &recorded);
        assert_eq!(wrong, [""; 0], "{query}");
        names += count;
    }
    assert!(names > 30, "{names}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_metric_names_are_detected() {
    let metrics = exposed().await;
    let recorded = BTreeSet::from(["job:pypi_proxy_x:rate5m".to_owned()]);
    let wrong = |text| check(text, &metrics, &recorded).1;
    assert_eq!(wrong("pypi_proxy_pages + job:pypi_proxy_x:rate5m"), [""; 0]);
    assert_eq!(wrong("rate(pypi_proxy_oranges[5m])"), ["there is no pypi_proxy_oranges"]);
    assert_eq!(wrong("job:pypi_proxy_y:rate5m"), ["job:pypi_proxy_y:rate5m is not recorded"]);
    let text = r#"pypi_proxy_cache_answers_total{job="$job",verdict=~"hit|hot"}"#;
    assert_eq!(wrong(text), ["no pypi_proxy_cache_answers_total has verdict=hot"]);
    assert_eq!(wrong(r#"pypi_proxy_pages{route="file"}"#), ["no pypi_proxy_pages has route=file"]);
}

#[tokio::test]
async fn the_kubernetes_settings_are_valid() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file("kubernetes/config.toml")).unwrap();
    let (code, text) = run(dir.path(), &[], &["config", "--config", path.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{text}");
}

#[test]
fn each_alert_is_documented() {
    let guide = file("../operations.md");
    let rules = file("prometheus/rules.yml");
    let alerts: Vec<_> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alerts.len() > 5);
    for alert in alerts {
        assert!(guide.contains(&format!("`{alert}`")), "{alert}");
    }
}
