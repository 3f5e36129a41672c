//! Output of the Go projects' own benchmarks, in the text format of `go test -bench`.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use bench_report::Sources;
use bench_report::model::{Role, Row};
use bench_report::quantity::Quantity;
use bench_report::stats::median;

use crate::note;

/// One result line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BenchLine {
    /// The name as printed, with the suffix for GOMAXPROCS.
    full_name: String,
    /// Values by unit, such as `ns/op`, `B/op`, `allocs/op` and custom metrics.
    values: BTreeMap<String, f64>,
    /// The package of the latest `pkg:` line above.
    package: Option<String>,
    /// The processor of the latest `cpu:` line above.
    cpu: Option<String>,
}

impl BenchLine {
    /// Returns the name without the `-NUMBER` that Go appends unless GOMAXPROCS is 1.
    fn name(&self) -> &str {
        let name = self.full_name.trim_end_matches(|sign: char| sign.is_ascii_digit());
        name.strip_suffix('-').filter(|_| name != self.full_name).unwrap_or(&self.full_name)
    }
}

/// Parses all result lines. Lines `pkg:` and `cpu:` apply to the following lines; others are ignored.
fn parse(text: &str) -> Vec<BenchLine> {
    let (mut package, mut cpu) = (None, None);
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        match fields.next() {
            Some("pkg:") => package = line.split_once(": ").map(|(_, value)| value.trim().to_owned()),
            Some("cpu:") => cpu = line.split_once(": ").map(|(_, value)| value.trim().to_owned()),
            Some(name) if name.starts_with("Benchmark") => {
                let values = values(fields).filter(|values| !values.is_empty());
                lines.extend(values.map(|values| BenchLine {
                    full_name: name.to_owned(),
                    values,
                    package: package.clone(),
                    cpu: cpu.clone(),
                }));
            }
            _ => {}
        }
    }
    lines
}

/// Parses the number of iterations and the pairs of value and unit after it.
fn values<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<BTreeMap<String, f64>> {
    fields.next()?.parse::<u64>().ok()?;
    let mut values = BTreeMap::new();
    while let Some(value) = fields.next() {
        values.insert(fields.next()?.to_owned(), value.parse().ok()?);
    }
    Some(values)
}

/// Output of a Go project by row, with the name of the project.
pub(super) type Imported = BTreeMap<String, (String, Vec<BenchLine>)>;

/// Reads imported files. Lines without a row are reported and ignored.
pub(super) fn read(files: &[String], sources: &Sources) -> Result<Imported> {
    let mut imported = Imported::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let lines = parse(&text);
        ensure!(!lines.is_empty(), "{file} holds no output of `go test -bench`");
        for line in lines {
            // A benchmark's name may end in a number, and Go adds none if GOMAXPROCS is 1.
            match sources.key_of([line.name(), &line.full_name], line.package.as_deref()) {
                Some((key, project)) => {
                    let entry = imported.entry(key.to_owned()).or_insert((project.to_owned(), Vec::new()));
                    entry.1.push(line);
                }
                None => note(&format!("{file}: {} belongs to no published row", line.full_name)),
            }
        }
    }
    Ok(imported)
}

/// Adds the rows of the Go projects' own output. They have no duel, so their ratios are rough.
pub(super) fn add(rows: &mut Vec<Row>, imported: &Imported) {
    for (key, (project, lines)) in imported {
        let is_row = |row: &&Row| row.key == *key || row.aliases.contains(key);
        let Some(first) = rows.iter().find(is_row) else { continue };
        // Like the first row, the Go project is of the class of ours that is compared with Go.
        let class =
            rows.iter().filter(is_row).find(|row| row.language == "go").unwrap_or(first).class.clone();
        let units = [(Quantity::Time, "ns/op"), (Quantity::Bytes, "B/op"), (Quantity::Allocs, "allocs/op")];
        let figures = units.into_iter().filter_map(|(quantity, unit)| {
            let values: Vec<f64> = lines.iter().filter_map(|line| line.values.get(unit).copied()).collect();
            Some((quantity, vec![median(&values)?]))
        });
        let cpu = lines.iter().find_map(|line| line.cpu.as_deref()).unwrap_or("unknown machine");
        let row = Row {
            class,
            implementation: project.clone(),
            role: Role::Original,
            language: "go".to_owned(),
            version: None,
            figures: figures.collect(),
            is_rough: true,
            deterministic: None,
            remark: Some(format!("imported, {cpu}")),
            ..first.clone()
        };
        rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    /// Printed by a test binary of Go 1.26 with `-test.count 2`.
    const SAMPLE: &str = include_str!("../../tests/data/go-bench.txt");

    #[test]
    fn reads_a_real_run() {
        let lines = parse(SAMPLE);
        assert_eq!(lines.len(), 6);
        let first = &lines[0];
        assert_eq!(first.name(), "BenchmarkRow/decode_simple_event/launchdarkly");
        assert_eq!(first.full_name, "BenchmarkRow/decode_simple_event/launchdarkly-2");
        assert_eq!(first.package.as_deref(), Some("example.org/sample"));
        assert_eq!(first.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
        assert!(first.values["ns/op"] > 1.0 && first.values["ns/op"] < 100.0);
        let units = ["payload_bytes/op", "B/op", "allocs/op"];
        assert_eq!(units.map(|unit| first.values[unit]), [269.0, 32.0, 1.0]);
        assert_eq!(lines[2].name(), "BenchmarkRow/decode_simple_event/original-standin");
    }

    #[test]
    fn ignores_everything_else() {
        let text = "PASS\nok  \texample.org/x\t1.2s\nBenchmarkAlone\nBenchmarkNoPairs-8 100\nUnit ns/op better=lower\n\
                    --- BENCH: BenchmarkLogs-2\nBenchmarking is fun 3 4 ns/op\nBenchmarkOdd-8 100 5\nBenchmarkText-8 100 x ns/op\n";
        assert_eq!(parse(text), []);
        for name in ["Benchmark/go-sse", "Benchmark/a-"] {
            assert_eq!(parse(&format!("{name} 1 2 ns/op"))[0].name(), name);
        }
    }

    #[test]
    fn imported_figures_become_a_rough_row() {
        let path = std::env::temp_dir().join(format!("xtask-import-{}", std::process::id()));
        let text = "cpu: Some CPU\nBenchmarkDecoder_Decode_SimpleEvent-32 1798516 600.0 ns/op 4336 B/op 7 allocs/op\n\
                    BenchmarkDecoder_Decode_SimpleEvent-32 1798516 620.0 ns/op 4336 B/op 7 allocs/op\n";
        fs::write(&path, text).unwrap();
        let sources = Sources::load(&Workspace::find().unwrap().root).unwrap();
        let imported = read(&[path.to_string_lossy().into_owned()], &sources).unwrap();
        fs::remove_file(path).unwrap();
        let alias = "sse/decode_simple_event".to_owned();
        let mut rows = vec![Row { key: "sse/x".to_owned(), aliases: vec![alias], ..Row::default() }];
        add(&mut rows, &imported);
        let [_, row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((&*row.key, &*row.implementation, row.role), ("sse/x", "perplexity-go", Role::Original));
        assert_eq!((row.value(Quantity::Time), row.value(Quantity::Allocs)), (Some(610.0), Some(7.0)));
        assert_eq!(row.remark.as_deref(), Some("imported, Some CPU"));
    }
}
