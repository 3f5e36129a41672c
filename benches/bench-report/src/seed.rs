//! `seed-rows.toml`: every figure that the reports of the Go projects publish.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::quantity as units;

/// Content of the file.
#[derive(Clone, Debug, Deserialize)]
pub struct Seed {
    /// Reports of the Go projects.
    #[serde(rename = "system")]
    pub systems: Vec<System>,
}

/// One report, with the source of its figures.
#[derive(Clone, Debug, Deserialize)]
pub struct System {
    /// Name of its files and of the suite with most of its rows.
    pub id: String,
    /// Name of the Go project.
    pub name: String,
    /// What the Go project is.
    pub role: String,
    cpu: Option<String>,
    os: Option<String>,
    arch: Option<String>,
    language_version: Option<String>,
    report_date: Option<String>,
    /// What was measured.
    pub benches: Vec<Bench>,
    #[serde(rename = "table")]
    /// What was published.
    pub tables: Vec<Table>,
}

/// One benchmark; suites and peers use the same key.
#[derive(Clone, Debug, Deserialize)]
pub struct Bench {
    /// `system/row`.
    pub key: String,
    /// Name of the function in the Go project.
    pub upstream: String,
    /// End of the path of its Go package.
    pub package: Option<String>,
    #[serde(default = "yes")]
    /// False if no figure of it was published.
    pub published: bool,
}

fn yes() -> bool {
    true
}

/// One published table.
#[derive(Clone, Debug, Deserialize)]
pub struct Table {
    /// `system.name`.
    pub id: String,
    /// Title in the report.
    pub heading: String,
    /// Lines in their order.
    pub lines: Vec<Line>,
}

/// One published line.
#[derive(Clone, Debug, Deserialize)]
pub struct Line {
    /// Name within the table.
    pub id: String,
    /// Name as printed.
    pub label: String,
    /// Key of the benchmark whose result the line prints.
    pub bench: Option<String>,
    #[serde(default)]
    approx: bool,
    #[serde(default)]
    lower_bound: bool,
    #[serde(default)]
    upper_bound: bool,
    time_ns: Option<f64>,
    bytes_op: Option<f64>,
    allocs_op: Option<f64>,
    throughput: Option<f64>,
    throughput_unit: Option<String>,
    peer: Option<String>,
    peer_time_ns: Option<f64>,
    #[serde(default)]
    peer_approx: bool,
    /// Figures that only a few lines have; the name ends with the unit.
    #[serde(flatten)]
    others: BTreeMap<String, toml::Value>,
}

impl System {
    /// Returns the Go project and its machine in one line.
    pub fn platform(&self) -> String {
        let place = match (&self.os, &self.arch) {
            (Some(os), Some(arch)) => Some(format!("{os}/{arch}")),
            (os, arch) => os.clone().or_else(|| arch.clone()),
        };
        let version = self.language_version.as_ref().map(|version| format!("Go {version}"));
        let details = [self.cpu.clone(), place, version, self.report_date.clone()];
        let parts = std::iter::once(self.name.clone()).chain(details.into_iter().flatten());
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl Seed {
    /// Returns all published tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.systems.iter().flat_map(|system| &system.tables)
    }

    /// Returns all published lines with their names, `table/line`.
    pub fn lines(&self) -> impl Iterator<Item = (String, &Line)> {
        self.tables().flat_map(|table| table.lines.iter().map(|line| (table.name_of(line), line)))
    }

    /// Returns all benchmarks.
    pub fn benches(&self) -> impl Iterator<Item = &Bench> {
        self.systems.iter().flat_map(|system| &system.benches)
    }

    /// Returns the key of the benchmark with one of these names in Go.
    ///
    /// Two projects use the same function names; the Go package distinguishes them. Returns `None` for unknown and
    /// ambiguous names.
    pub fn key_of(&self, names: [&str; 2], package: Option<&str>) -> Option<&str> {
        let named = |name: &str| self.benches().filter(|bench| bench.upstream == name).collect::<Vec<_>>();
        let mut candidates = named(names[0]);
        if candidates.is_empty() {
            candidates = named(names[1]);
        }
        if candidates.len() > 1 {
            let is_of_package = |suffix: &str| package.is_some_and(|package| package.ends_with(suffix));
            candidates.retain(|bench| bench.package.as_deref().is_some_and(is_of_package));
        }
        match candidates.as_slice() {
            [bench] => Some(&bench.key),
            _ => None,
        }
    }
}

impl Table {
    /// Returns the name of a line of this table.
    pub fn name_of(&self, line: &Line) -> String {
        format!("{}/{}", self.id, line.id)
    }
}

impl Line {
    /// Returns whether the line prints bytes or allocations.
    pub fn is_counted(&self) -> bool {
        self.bytes_op.is_some() || self.allocs_op.is_some()
    }

    /// Returns the printed figures in one line, such as `611 ns, 4336 B, 7 allocs`.
    pub fn figures(&self) -> String {
        let mark = match (self.approx, self.lower_bound, self.upper_bound) {
            (true, ..) => "~",
            (_, true, _) => ">",
            (.., true) => "<",
            _ => "",
        };
        let peer = self.peer_time_ns.map(|time| {
            let mark = if self.peer_approx { "~" } else { "" };
            format!("{} {mark}{}", self.peer.as_deref().unwrap_or("peer"), units::time(time))
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
        let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|value| value as f64));
        let has_least = |name: &str| {
            name.strip_suffix("_max").is_some_and(|stem| self.others.contains_key(&format!("{stem}_min")))
        };
        // Iteration counts and computed figures were not published as results.
        let is_shown = |name: &str| name != "iterations" && !name.starts_with("derived_") && !has_least(name);
        let shown = self.others.iter().filter(|(name, _)| is_shown(name));
        let figures = shown.filter_map(|(name, value)| {
            let Some(least) = number(value) else { return value.as_str().map(str::to_owned) };
            let (name, most) = match name.strip_suffix("_min") {
                Some(stem) => (stem, self.others.get(&format!("{stem}_max")).and_then(number)),
                None => (name.as_str(), None),
            };
            // Targets and statements about peers are printed unchanged.
            let is_plain = ["target", "peer", "ratio"].iter().any(|word| name.starts_with(word));
            Some(figure(name, if is_plain { "" } else { mark }, least, most))
        });
        figures.collect()
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

#[cfg(test)]
mod tests {
    use crate::sources::tests::sources;

    #[test]
    fn every_published_figure_is_in_the_file() {
        let seed = sources().seed;
        let counts =
            (seed.systems.len(), seed.benches().count(), seed.tables().count(), seed.lines().count());
        assert_eq!(counts, (5, 163, 47, 257));
        assert!(seed.systems[0].platform().contains("AMD Ryzen 9 5950X"));
        for (name, line) in seed.lines() {
            assert!(!line.figures().is_empty(), "{name} says nothing");
            if let Some(key) = &line.bench {
                assert!(seed.benches().any(|bench| bench.key == *key), "{key} is not listed");
            }
        }
    }

    #[test]
    fn figures_are_printed_as_published() {
        let seed = sources().seed;
        let figures = |name: &str| seed.lines().find(|line| line.0 == name).unwrap().1.figures();
        for (name, printed) in [
            ("perplexity.event_decoding/simple_event", "611 ns, 4336 B, 7 allocs, 1.64 M events/s"),
            ("perplexity.headline/sse_decoding_range", "600 ns to 1.70 µs"),
            ("perplexity.headline/sse_per_event_overhead", "~146 ns"),
            ("perplexity.headline/sse_events_per_second", ">1.60 M events/s"),
            ("perplexity.http_vs_python/sse_decode", "611 ns, perplexity-py (est.) ~10.0 µs, 16.0x"),
            ("perplexity.requirements/http_request", "target 100 µs, 31.0 µs to 74.0 µs"),
        ] {
            assert_eq!(figures(name), printed);
        }
        assert_eq!(figures("codec.payload_size/small").split(", ").count(), 5);
    }

    #[test]
    fn names_in_go_find_their_keys() {
        let seed = sources().seed;
        let key = |name: &str, package| seed.key_of([name, name], package);
        assert_eq!(key("BenchmarkDecoder_Decode_SimpleEvent", None), Some("sse/decode_simple_event"));
        assert_eq!(key("BenchmarkNobody", None), None);
        assert_eq!(key("BenchmarkMessageEncode", None), None, "two projects have this name");
    }
}
