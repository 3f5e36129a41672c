//! `seed-rows.toml`: every figure that the reports of the Go projects publish.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::parse::benchfmt::BenchLine;
use crate::quantity as units;

#[derive(Debug, Deserialize)]
pub(crate) struct Seed {
    #[serde(rename = "system")]
    pub(crate) systems: Vec<System>,
    #[serde(rename = "bench")]
    pub(crate) benches: Vec<Bench>,
    #[serde(rename = "table")]
    pub(crate) tables: Vec<Table>,
    #[serde(rename = "row")]
    pub(crate) rows: Vec<Row>,
}

/// One report, with the source of its figures.
#[derive(Debug, Deserialize)]
pub(crate) struct System {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) cpu: Option<String>,
    pub(crate) os: Option<String>,
    pub(crate) arch: Option<String>,
    pub(crate) language_version: Option<String>,
    pub(crate) report_date: Option<String>,
}

impl System {
    /// Returns the Go project and its machine in one line.
    pub(crate) fn platform(&self) -> String {
        let place = match (&self.os, &self.arch) {
            (Some(os), Some(arch)) => Some(format!("{os}/{arch}")),
            (os, arch) => os.clone().or_else(|| arch.clone()),
        };
        let version = self.language_version.as_ref().map(|version| format!("Go {version}"));
        let details: Vec<String> =
            [self.cpu.clone(), place, version, self.report_date.clone()].into_iter().flatten().collect();
        if details.is_empty() { self.name.clone() } else { format!("{}, {}", self.name, details.join(", ")) }
    }
}

/// One benchmark; suites and peers use the same key.
#[derive(Debug, Deserialize)]
pub(crate) struct Bench {
    pub(crate) key: String,
    pub(crate) system: String,
    pub(crate) upstream: String,
    pub(crate) package: Option<String>,
    #[serde(default = "yes")]
    pub(crate) published: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) system: String,
    pub(crate) heading: String,
}

/// One published line.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) table: String,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) bench: Option<String>,
    #[serde(default)]
    pub(crate) approx: bool,
    #[serde(default)]
    pub(crate) lower_bound: bool,
    #[serde(default)]
    pub(crate) upper_bound: bool,
    pub(crate) time_ns: Option<f64>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) throughput: Option<f64>,
    pub(crate) throughput_unit: Option<String>,
    pub(crate) peer: Option<String>,
    pub(crate) peer_time_ns: Option<f64>,
    #[serde(default)]
    pub(crate) peer_approx: bool,
    /// Figures that only a few lines have; the name ends with the unit.
    #[serde(flatten)]
    others: BTreeMap<String, toml::Value>,
}

impl Row {
    /// Returns the name of the line: `table/row`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.table, self.id)
    }

    /// Returns the printed figures in one line, such as `611 ns, 4336 B, 7 allocs`.
    pub(crate) fn figures(&self) -> String {
        let mark = match (self.approx, self.lower_bound, self.upper_bound) {
            (true, ..) => "~",
            (_, true, _) => ">",
            (.., true) => "<",
            _ => "",
        };
        let peer = self.peer_time_ns.map(|time| {
            let name = self.peer.as_deref().unwrap_or("peer");
            let mark = if self.peer_approx { "~" } else { "" };
            format!("{name} {mark}{}", units::time(time))
        });
        let parts = [
            self.time_ns.map(|time| format!("{mark}{}", units::time(time))),
            self.bytes_op.map(|bytes| format!("{bytes} B")),
            self.allocs_op.map(|count| format!("{count} allocs")),
            self.throughput.map(|rate| {
                let unit = self.throughput_unit.as_deref().unwrap_or("/s");
                format!("{mark}{} {unit}", units::count(rate))
            }),
            peer,
        ];
        parts.into_iter().flatten().chain(self.other_figures(mark)).collect::<Vec<_>>().join(", ")
    }

    fn other_figures(&self, mark: &str) -> Vec<String> {
        let mut parts = Vec::new();
        for (name, value) in &self.others {
            // Iteration counts and computed figures were not published as results.
            if name == "iterations"
                || name.starts_with("derived_")
                || name.ends_with("_max") && self.has_least(name)
            {
                continue;
            }
            let number =
                |value: &toml::Value| value.as_float().or(value.as_integer().map(|value| value as f64));
            let Some(least) = number(value) else {
                parts.extend(value.as_str().map(str::to_owned));
                continue;
            };
            let (name, most) = match name.strip_suffix("_min") {
                Some(stem) => (stem, self.others.get(&format!("{stem}_max")).and_then(number)),
                None => (name.as_str(), None),
            };
            // Targets and statements about peers are printed unchanged.
            let is_plain = ["target", "peer", "ratio"].iter().any(|word| name.starts_with(word));
            parts.push(figure(name, if is_plain { "" } else { mark }, least, most));
        }
        parts
    }

    fn has_least(&self, name: &str) -> bool {
        name.strip_suffix("_max").is_some_and(|stem| self.others.contains_key(&format!("{stem}_min")))
    }
}

/// Formats one figure. The end of the field name is the unit.
fn figure(name: &str, mark: &str, least: f64, most: Option<f64>) -> String {
    let (stem, write): (&str, fn(f64) -> String) = match name {
        _ if name.ends_with("ns") => (&name[..name.len() - 2], units::time),
        _ if name.ends_with("bytes") => (&name[..name.len() - 5], units::bytes),
        _ if name.contains("ratio") => (name, |ratio| format!("{}x", units::ratio(ratio))),
        _ if name.contains("percent") => (name, |percent| format!("{percent} %")),
        _ => (name, units::per_op),
    };
    // The unit and the main figure of a line need no name.
    let words = stem.replace("ratio", "").replace("percent", "").replace("time", "").replace('_', " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = match most {
        Some(most) => format!("{} to {}", write(least), write(most)),
        None => write(least),
    };
    if words.is_empty() { format!("{mark}{value}") } else { format!("{words} {mark}{value}") }
}

impl Seed {
    /// Returns the key of the benchmark that an output line belongs to.
    ///
    /// Two projects use the same function names; the package of the output distinguishes them. Returns `None` for
    /// unknown and ambiguous names.
    pub(crate) fn key_of(&self, line: &BenchLine) -> Option<&str> {
        let named =
            |name: &str| self.benches.iter().filter(|bench| bench.upstream == name).collect::<Vec<&Bench>>();
        let mut candidates = named(&line.name);
        if candidates.is_empty() {
            // A benchmark's name may end in a number, and Go adds none if GOMAXPROCS is 1.
            candidates = named(&line.full_name);
        }
        if candidates.len() > 1 {
            let package = line.package.as_deref()?;
            candidates
                .retain(|bench| bench.package.as_deref().is_some_and(|suffix| package.ends_with(suffix)));
        }
        match candidates.as_slice() {
            [bench] => Some(&bench.key),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::benchfmt;

    fn seed() -> Seed {
        crate::data::committed("seed-rows.toml")
    }

    #[test]
    fn reads_the_committed_file() {
        let seed = seed();
        assert_eq!((seed.systems.len(), seed.tables.len(), seed.rows.len()), (5, 47, 257));
        assert!(seed.systems[0].platform().contains("AMD Ryzen 9 5950X"));
        for row in &seed.rows {
            assert!(seed.tables.iter().any(|table| table.id == row.table), "{} has no table", row.id);
            if let Some(key) = &row.bench {
                assert!(seed.benches.iter().any(|bench| bench.key == *key), "{key} is not listed");
            }
        }
    }

    #[test]
    fn figures_are_printed_as_published() {
        let seed = seed();
        let figures = |table: &str, id: &str| {
            seed.rows.iter().find(|row| row.table == table && row.id == id).unwrap().figures()
        };
        assert_eq!(
            figures("perplexity.event_decoding", "simple_event"),
            "611 ns, 4336 B, 7 allocs, 1.64 M events/s"
        );
        assert_eq!(figures("perplexity.headline", "sse_decoding_range"), "600 ns to 1.70 µs");
        assert_eq!(figures("perplexity.headline", "sse_per_event_overhead"), "~146 ns");
        assert_eq!(figures("perplexity.headline", "sse_events_per_second"), ">1.60 M events/s");
        assert_eq!(
            figures("perplexity.http_vs_python", "sse_decode"),
            "611 ns, perplexity-py (est.) ~10.0 µs, 16.0x"
        );
        assert_eq!(figures("perplexity.requirements", "http_request"), "target 100 µs, 31.0 µs to 74.0 µs");
        assert_eq!(figures("codec.payload_size", "small").split(", ").count(), 5);
        assert!(seed.rows.iter().all(|row| !row.figures().is_empty()), "every line says something");
    }

    #[test]
    fn imported_names_find_their_keys() {
        let seed = seed();
        let key = |text: &str| {
            let lines = benchfmt::parse(text);
            seed.key_of(lines.last().unwrap()).map(str::to_owned)
        };
        assert_eq!(
            key("BenchmarkDecoder_Decode_SimpleEvent-32 1798516 611.0 ns/op").as_deref(),
            Some("sse/decode_simple_event")
        );
        assert_eq!(key("BenchmarkNobody-32 1 611.0 ns/op"), None);
        assert_eq!(key("BenchmarkMessageEncode-8 100 154 ns/op"), None, "two originals have this name");
    }
}
