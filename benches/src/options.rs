//! Command line of a suite, as cargo, test runners and `cargo xtask bench` pass it.

use std::time::Duration;

use bench_report::model::Row;
use clap::Parser;

/// The mode of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Check, count, time and compare.
    Bench,
    /// Run every operation once and compare its check value.
    Test,
    /// List the benchmarks.
    List,
    /// Follow the plan on standard input, as a process of `Bench`.
    Worker,
    /// Run operations on request.
    Resident,
}

/// Run the benchmarks of a suite
#[derive(Clone, Debug, Parser)]
#[command(override_usage = "cargo bench [--bench SUITE] -- [OPTIONS] [FILTER]...", args_override_self = true)]
pub(crate) struct Options {
    /// Keep the benchmarks whose name (system/row/implementation) contains it
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// FILTER is a whole name
    #[arg(long)]
    pub(crate) exact: bool,
    /// Run every operation once and compare its check value
    #[arg(long)]
    test: bool,
    /// List the benchmarks
    #[arg(long)]
    list: bool,
    /// Format of the list: one JSON object per line if it is `json`
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// Save criterion's times under this name
    #[arg(long, value_name = "NAME")]
    pub(crate) save_baseline: Option<String>,
    /// Compare criterion's times with those saved under this name
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Only compare ours with its peers
    #[arg(long)]
    pub(crate) no_criterion: bool,
    // The defaults are short, because comparisons do not depend on criterion: 2,000 benchmarks take half a minute.
    /// Warm-up time of criterion
    #[arg(long = "warm-up-time", value_name = "SECONDS", default_value = "0.003", value_parser = seconds)]
    pub(crate) warm_up: Duration,
    /// Measurement time of criterion
    #[arg(long = "measurement-time", value_name = "SECONDS", default_value = "0.01", value_parser = seconds)]
    pub(crate) measurement: Duration,
    /// Samples of criterion, at least 10
    #[arg(long = "sample-size", value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(10..))]
    pub(crate) samples: u32,
    /// Run operations on request (benches/README.md)
    #[arg(long)]
    resident: bool,
    #[arg(long, hide = true)]
    worker: bool,
    /// Cargo passes it only under `cargo bench`, so its absence means a test run, as with libtest.
    #[arg(long, hide = true)]
    bench: bool,
    /// Test runners pass it, and its aliases, to every harness. It does not change the output of a suite.
    #[arg(long = "nocapture", short = 'q', hide = true, aliases = ["no-capture", "quiet", "noplot", "ignored"])]
    _nocapture: bool,
    #[arg(long = "color", hide = true)]
    _color: Option<String>,
}

impl Options {
    pub(crate) fn mode(&self) -> Mode {
        match self {
            Self { worker: true, .. } => Mode::Worker,
            Self { resident: true, .. } => Mode::Resident,
            Self { list: true, .. } => Mode::List,
            Self { bench: true, test: false, .. } => Mode::Bench,
            _ => Mode::Test,
        }
    }

    /// Returns whether `name` (system/row/implementation) passes the filters.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let is_named = |filter: &String| if self.exact { name == filter } else { name.contains(filter) };
        self.filters.is_empty() || self.filters.iter().any(is_named)
    }

    /// Returns whether an implementation passes the filters, by the key of the row or an alias.
    pub(crate) fn selects_entry(&self, entry: &Row) -> bool {
        let mut keys = std::iter::once(&entry.key).chain(&entry.aliases);
        keys.any(|key| self.selects(&format!("{key}/{}", entry.implementation)))
    }

    /// Returns whether an implementation of the row `key` (system/row) may pass the filters.
    ///
    /// In case of doubt it may, because the names of the implementations are not known here.
    pub(crate) fn may_select_row(&self, key: &str) -> bool {
        let system = key.split_inclusive('/').next().unwrap_or(key);
        let may_be_named = |filter: &String| {
            let is_whole = filter.strip_prefix(key).is_some_and(|rest| rest.starts_with('/'));
            is_whole || !self.exact && (key.starts_with(filter) || !filter.starts_with(system))
        };
        self.filters.is_empty() || self.filters.iter().any(may_be_named)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "not a positive number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Options {
        Options::parse_from(format!("suite {line}").split_whitespace())
    }

    #[test]
    fn mode_follows_cargo() {
        assert_eq!(parse("--bench").mode(), Mode::Bench);
        assert_eq!(parse("--nocapture -q --color never").mode(), Mode::Test);
        assert_eq!(parse("--bench --bench --test").mode(), Mode::Test);
        assert_eq!(parse("--list --format terse").mode(), Mode::List);
        assert_eq!(parse("--bench --list --format=json").format.as_deref(), Some("json"));
        assert_eq!(parse("--bench --measurement-time 0.25").measurement, Duration::from_millis(250));
        assert!(Options::try_parse_from(["suite", "--warm-up-time", "-1"]).is_err());
    }

    #[test]
    fn filters_are_substrings_unless_exact() {
        let contains = parse("decode");
        assert!(contains.selects("sse/decode_x/borrowed") && !contains.selects("sse/encode/ours"));
        let exact = parse("--exact sse/a/b");
        assert!(exact.selects("sse/a/b") && !exact.selects("sse/a/bc"));
    }

    #[test]
    fn rows_are_ruled_out_only_when_no_implementation_can_match() {
        let exact = parse("--exact sse/large/borrowed");
        assert!(exact.may_select_row("sse/large") && !exact.may_select_row("sse/larger"));
        let by_row = parse("sse/lar");
        assert!(by_row.may_select_row("sse/large") && !by_row.may_select_row("sse/tiny"));
        let others = ["sse/large/bo", "borrowed", ""];
        assert!(others.iter().all(|filter| parse(filter).may_select_row("sse/large")));
    }
}
