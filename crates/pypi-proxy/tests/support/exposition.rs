//! Strict parser of the Prometheus text format: it fails where promtool only warns.

use std::collections::{BTreeMap, BTreeSet};

/// Values of the samples, by name and labels as written in the document.
pub(crate) type Samples = BTreeMap<String, f64>;

/// Parses a document. Panics if it is invalid.
pub(crate) fn parse(text: &str) -> Samples {
    assert!(text.ends_with('\n') && !text.contains('\r'), "lines end with a line feed");
    let (mut samples, mut families) = (Samples::new(), BTreeSet::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        // A family starts with its help and its type.
        let (name, words) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')).expect(line);
        assert!(!words.is_empty() && families.insert(name), "{line}");
        let kind = lines
            .next()
            .and_then(|line| line.strip_prefix("# TYPE ")?.strip_prefix(name))
            .expect(line)
            .trim();
        assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let (series, value) = line.rsplit_once(' ').expect(line);
            let (own, labels) = match series.split_once('{') {
                Some((own, labels)) => (own, parse_labels(labels.strip_suffix('}').expect(line))),
                None => (series, Vec::new()),
            };
            assert!(is_name(own, true), "{line}");
            let suffix = own.strip_prefix(name).unwrap_or_else(|| panic!("of another family: {line}"));
            match kind {
                "histogram" => assert!(matches!(suffix, "_bucket" | "_sum" | "_count"), "{line}"),
                _ => assert_eq!(suffix, "", "{line}"),
            }
            assert_eq!(suffix == "_bucket", labels.iter().any(|label| label == "le"), "{line}");
            let value: f64 = if value == "+Inf" { f64::INFINITY } else { value.parse().expect(line) };
            assert!(value >= 0.0, "{line}");
            assert!(samples.insert(series.to_owned(), value).is_none(), "a sample is there twice: {line}");
        }
    }
    histograms(text, &samples);
    samples
}

/// Checks that bucket counts do not decrease and that the last one is the total.
fn histograms(text: &str, samples: &Samples) {
    let mut last: Option<(String, f64, f64)> = None;
    for line in text.lines().filter(|line| line.contains("_bucket{")) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (front, bound) = series.strip_suffix("\"}").unwrap().rsplit_once("le=\"").unwrap();
        let (value, bound): (f64, f64) =
            (value.parse().unwrap(), if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() });
        if let Some((before, least, below)) = &last
            && before == front
        {
            assert!(value >= *least && bound > *below, "{line}");
        } else {
            assert!(last.is_none_or(|(_, _, bound)| bound.is_infinite()), "{line}");
        }
        if bound.is_infinite() {
            let labels = front.trim_end_matches([',', '{']).replace("_bucket", "_count");
            let count = if labels.contains('{') { labels + "}" } else { labels };
            assert_eq!(samples.get(&count), Some(&value), "{line}");
        }
        last = Some((front.to_owned(), value, bound));
    }
    assert!(last.is_none_or(|(_, _, bound)| bound.is_infinite()));
}

fn parse_labels(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = text;
    loop {
        let (name, value) = rest.split_once("=\"").expect(text);
        assert!(is_name(name, false) && names.iter().all(|other| other != name), "{text}");
        names.push(name.to_owned());
        let mut end = value.find(['"', '\\']).expect(text);
        while value[end..].starts_with('\\') {
            assert!(value[end + 1..].starts_with(['n', '\\', '"']), "an unknown escape: {text}");
            end += 2 + value[end + 2..].find(['"', '\\']).expect(text);
        }
        rest = match &value[end + 1..] {
            "" => return names,
            more => more.strip_prefix(',').expect(text),
        };
    }
}

/// Returns whether a metric or label has a valid name in lower case. Lower case is a convention, not part of the
/// format.
fn is_name(name: &str, is_metric: bool) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && (is_metric || !name.starts_with("__"))
}
