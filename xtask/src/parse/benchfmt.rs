//! The text format of `go test -bench` (Go's benchfmt).

use std::collections::BTreeMap;

/// One result line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BenchLine {
    /// The name as printed, with the suffix for GOMAXPROCS.
    pub(crate) full_name: String,
    /// The name without a trailing `-<number>`.
    pub(crate) name: String,
    /// Values by unit, such as `ns/op`, `B/op`, `allocs/op` and custom metrics.
    pub(crate) values: BTreeMap<String, f64>,
    /// The package of the latest `pkg:` line above.
    pub(crate) package: Option<String>,
    /// The processor of the latest `cpu:` line above.
    pub(crate) cpu: Option<String>,
}

impl BenchLine {
    pub(crate) fn value(&self, unit: &str) -> Option<f64> {
        self.values.get(unit).copied()
    }
}

/// Parses all result lines. Configuration lines apply to the following lines; other lines are ignored.
pub(crate) fn parse(text: &str) -> Vec<BenchLine> {
    let mut configuration = BTreeMap::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some((key, value)) = configuration_line(line) {
            configuration.insert(key, value);
        } else if let Some((full_name, values)) = result_line(line) {
            lines.push(BenchLine {
                full_name: full_name.to_owned(),
                name: without_procs(full_name).to_owned(),
                values,
                package: configuration.get("pkg").map(|&value| value.to_owned()),
                cpu: configuration.get("cpu").map(|&value| value.to_owned()),
            });
        }
    }
    lines
}

/// Parses `key: value`. The key begins with a lower-case letter and contains no white space or upper-case letters.
fn configuration_line(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain = |c: char| !c.is_whitespace() && !c.is_uppercase();
    (key.starts_with(char::is_lowercase) && key.chars().all(plain)).then(|| (key, value.trim()))
}

/// Parses name, number of iterations and at least one pair of value and unit. Returns the name and the pairs.
fn result_line(line: &str) -> Option<(&str, BTreeMap<String, f64>)> {
    let mut fields = line.split_whitespace();
    let name = fields.next().filter(|name| name.starts_with("Benchmark"))?;
    // "Benchmarking ..." is prose: the letter after the prefix is in upper case.
    if name["Benchmark".len()..].starts_with(char::is_lowercase) {
        return None;
    }
    fields.next()?.parse::<u64>().ok()?;
    let mut values = BTreeMap::new();
    while let Some(value) = fields.next() {
        values.insert(fields.next()?.to_owned(), value.parse().ok()?);
    }
    (!values.is_empty()).then_some((name, values))
}

/// Removes the `-<number>` that Go appends unless GOMAXPROCS is 1.
fn without_procs(name: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('-').filter(|(_, end)| is_number(end)).map_or(name, |(rest, _)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by a test binary of Go 1.26 with `-test.count 2`.
    const SAMPLE: &str = include_str!("../../tests/data/go-bench.txt");

    #[test]
    fn reads_a_real_run() {
        let lines = parse(SAMPLE);
        assert_eq!(lines.len(), 6);
        let first = &lines[0];
        assert_eq!(first.name, "BenchmarkRow/decode_simple_event/launchdarkly");
        assert_eq!(first.full_name, "BenchmarkRow/decode_simple_event/launchdarkly-2");
        assert_eq!(first.package.as_deref(), Some("example.org/sample"));
        assert_eq!(first.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
        assert!(first.value("ns/op").is_some_and(|value| value > 1.0 && value < 100.0));
        assert_eq!(first.value("payload_bytes/op"), Some(269.0));
        assert_eq!((first.value("B/op"), first.value("allocs/op")), (Some(32.0), Some(1.0)));
        assert_eq!(lines[2].name, "BenchmarkRow/decode_simple_event/original-standin");
    }

    #[test]
    fn reads_the_appendix_of_a_report() {
        let lines =
            parse("BenchmarkDecoder_Decode_SimpleEvent-32  1798516  611.0 ns/op  4336 B/op  7 allocs/op");
        assert_eq!(lines[0].name, "BenchmarkDecoder_Decode_SimpleEvent");
        assert_eq!(lines[0].value("ns/op"), Some(611.0));
    }

    #[test]
    fn ignores_everything_else() {
        let text = "PASS\nok  \texample.org/x\t1.2s\nBenchmarkAlone\nBenchmarkNoPairs-8 100\nUnit ns/op better=lower\n\
                    --- BENCH: BenchmarkLogs-2\nBenchmarking is fun 3 4 ns/op\nBenchmarkOdd-8 100 5\nBenchmarkText-8 100 x ns/op\n";
        assert_eq!(parse(text), []);
        assert_eq!(without_procs("Benchmark/go-sse"), "Benchmark/go-sse");
        assert_eq!(without_procs("Benchmark/a-"), "Benchmark/a-");
    }
}
