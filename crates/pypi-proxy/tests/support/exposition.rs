//! Strict parser of the Prometheus text format: it fails where promtool only warns.

use std::collections::{BTreeMap, BTreeSet};

/// Values of the samples, by name and labels as written in the document.
pub(crate) type Samples = BTreeMap<String, f64>;

/// Parses a document. Panics if it is invalid.
pub(crate) fn parse(text: &str) -> Samples {
    assert!(text.ends_with('\n') && !text.contains('\r'), "lines end with a line feed");
    let mut samples = Samples::new();
    let mut families = BTreeSet::new();
    let mut family: Option<(&str, &str)> = None;
    let mut help = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, words) = rest.split_once(' ').expect(line);
            assert!(!words.is_empty() && help.is_none(), "{line}");
            assert!(families.insert(name), "a family is there twice: {line}");
            help = Some(name);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect(line);
            assert_eq!(help.take(), Some(name), "a type follows the help of its family: {line}");
            assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            family = Some((name, kind));
        } else {
            let (name, kind) = family.unwrap_or_else(|| panic!("a sample without a family: {line}"));
            assert!(help.is_none(), "{line}");
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
            assert_eq!(suffix == "_bucket", labels.iter().any(|(label, _)| label == "le"), "{line}");
            let value: f64 = if value == "+Inf" { f64::INFINITY } else { value.parse().expect(line) };
            assert!(value >= 0.0, "{line}");
            assert!(samples.insert(series.to_owned(), value).is_none(), "a sample is there twice: {line}");
        }
    }
    assert!(help.is_none());
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

fn parse_labels(text: &str) -> Vec<(String, String)> {
    let mut labels: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    loop {
        let (name, more) = rest.split_once("=\"").expect(text);
        assert!(is_name(name, false) && labels.iter().all(|(other, _)| other != name), "{text}");
        let mut value = String::new();
        let mut characters = more.char_indices();
        let end = loop {
            match characters.next().expect(text) {
                (at, '"') => break at,
                (_, '\\') => match characters.next().expect(text).1 {
                    'n' => value.push('\n'),
                    character @ ('\\' | '"') => value.push(character),
                    _ => panic!("an escape that there is not: {text}"),
                },
                (_, character) => value.push(character),
            }
        };
        labels.push((name.to_owned(), value));
        rest = match &more[end + 1..] {
            "" => return labels,
            more => more.strip_prefix(',').expect(text),
        };
    }
}

/// Lower case is a convention, not part of the format.
fn is_name(name: &str, is_metric: bool) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && (is_metric || !name.starts_with("__"))
}
