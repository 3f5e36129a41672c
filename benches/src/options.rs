//! Command line of a suite, as cargo, test runners and `cargo xtask bench` pass it.

use std::time::Duration;

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

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    /// Prints lists as one JSON object per line.
    pub(crate) is_json: bool,
    pub(crate) filters: Vec<String>,
    pub(crate) exact: bool,
    pub(crate) warm_up: Duration,
    pub(crate) measurement: Duration,
    pub(crate) samples: usize,
    pub(crate) counting: bool,
    /// Times each implementation with criterion as well.
    pub(crate) criterion: bool,
    pub(crate) save_baseline: Option<String>,
    pub(crate) baseline: Option<String>,
}

pub(crate) const HELP: &str = "\
Usage: cargo bench [--bench SUITE] -- [OPTIONS] [FILTER...]

FILTER keeps the benchmarks whose name (system/row/implementation) contains it.

  --exact                   FILTER is a whole name
  --test                    run every operation once and compare its check value
  --list                    list the benchmarks
  --format json             print the list as one JSON object per line
  --save-baseline NAME      save criterion's times under NAME
  --baseline NAME           compare criterion's times with those saved under NAME
  --no-criterion            only compare ours with its peers
  --warm-up-time SECONDS    of criterion, default 0.005
  --measurement-time SECONDS  of criterion, default 0.015
  --sample-size N           of criterion, default and minimum 10
  --skip-counting           do not count allocations
  --resident                run operations on request (benches/README.md)
";

impl Options {
    /// Parses the arguments after the program's name.
    ///
    /// Cargo passes `--bench` only under `cargo bench`, so its absence means a test run, as with libtest.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            mode: Mode::Test,
            is_json: false,
            filters: Vec::new(),
            exact: false,
            // Short, because comparisons do not depend on criterion: 2,000 benchmarks take a minute.
            warm_up: Duration::from_millis(5),
            measurement: Duration::from_millis(15),
            samples: 10,
            counting: true,
            criterion: true,
            save_baseline: None,
            baseline: None,
        };
        let (mut bench, mut test, mut special) = (false, false, None);
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (flag, inline) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (argument, None),
            };
            let mut value =
                || inline.clone().or_else(|| arguments.next()).ok_or_else(|| format!("{flag} needs a value"));
            match flag.as_str() {
                "--bench" => bench = true,
                "--test" => test = true,
                "--list" => special = Some(Mode::List),
                "--worker" => special = Some(Mode::Worker),
                "--resident" => special = Some(Mode::Resident),
                "--no-criterion" => options.criterion = false,
                "--save-baseline" => options.save_baseline = Some(value()?),
                "--baseline" => options.baseline = Some(value()?),
                "--exact" => options.exact = true,
                "--skip-counting" => options.counting = false,
                "--format" => options.is_json = value()? == "json",
                "--warm-up-time" => options.warm_up = seconds(&flag, &value()?)?,
                "--measurement-time" => options.measurement = seconds(&flag, &value()?)?,
                "--sample-size" => options.samples = at_least(10, &flag, &value()?)?,
                // Test runners pass these to every harness; they do not change the output of a suite.
                "--nocapture" | "--no-capture" | "--quiet" | "-q" | "--noplot" | "--ignored" => {}
                "--color" => drop(value()?),
                unknown if unknown.starts_with('-') => {
                    return Err(format!("unknown option {unknown}\n\n{HELP}"));
                }
                _ => options.filters.push(flag),
            }
        }
        options.mode = special.unwrap_or(if bench && !test { Mode::Bench } else { Mode::Test });
        Ok(options)
    }

    /// Returns whether `name` (system/row/implementation) passes the filters.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.filters.is_empty()
            || self
                .filters
                .iter()
                .any(|filter| if self.exact { name == filter } else { name.contains(filter.as_str()) })
    }

    /// Returns whether an implementation of the row `key` (system/row) may pass the filters.
    ///
    /// Returns true in case of doubt, because the names of the implementations are not known here.
    pub(crate) fn may_select_row(&self, key: &str) -> bool {
        let whole = |filter: &str| filter.strip_prefix(key).is_some_and(|rest| rest.starts_with('/'));
        let system = key.split_inclusive('/').next().unwrap_or(key);
        self.filters.is_empty()
            || self.filters.iter().any(|filter| {
                whole(filter)
                    || (!self.exact && (key.starts_with(filter.as_str()) || !filter.starts_with(system)))
            })
    }
}

fn seconds(flag: &str, text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|&seconds: &f64| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("{flag}: {text:?} is not a positive number of seconds"))
}

fn at_least(least: usize, flag: &str, text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number >= least)
        .ok_or_else(|| format!("{flag}: {text:?} is not a whole number of at least {least}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn mode_follows_cargo() {
        assert_eq!(parse("--bench").unwrap().mode, Mode::Bench);
        assert_eq!(parse("").unwrap().mode, Mode::Test);
        assert_eq!(parse("--bench --test").unwrap().mode, Mode::Test);
        assert_eq!(parse("--list --format terse").unwrap().mode, Mode::List);
        let json = parse("--bench --list --format=json").unwrap();
        assert_eq!((json.mode, json.is_json), (Mode::List, true));
    }

    #[test]
    fn values_may_be_inline_or_next() {
        let options = parse("--bench --sample-size=10 --measurement-time 0.25").unwrap();
        assert_eq!(options.samples, 10);
        assert_eq!(options.measurement, Duration::from_millis(250));
        assert_eq!(parse("--save-baseline old").unwrap().save_baseline.as_deref(), Some("old"));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("--sample-size 3").unwrap_err().contains("at least 10"));
        assert!(parse("--warm-up-time -1").unwrap_err().contains("positive"));
        assert!(parse("--measurement-time").unwrap_err().contains("needs a value"));
        assert!(parse("--speed").unwrap_err().contains("unknown option --speed"));
    }

    #[test]
    fn filters_are_substrings_unless_exact() {
        let contains = parse("decode").unwrap();
        assert!(contains.selects("sse/decode_x/borrowed") && !contains.selects("sse/encode/ours"));
        let exact = parse("--exact sse/a/b").unwrap();
        assert!(exact.selects("sse/a/b") && !exact.selects("sse/a/bc"));
    }

    #[test]
    fn rows_are_ruled_out_only_when_no_implementation_can_match() {
        let exact = parse("--exact sse/large/borrowed").unwrap();
        assert!(exact.may_select_row("sse/large") && !exact.may_select_row("sse/larger"));
        let by_row = parse("sse/lar").unwrap();
        assert!(by_row.may_select_row("sse/large") && !by_row.may_select_row("sse/tiny"));
        assert!(parse("sse/large/bo").unwrap().may_select_row("sse/large"));
        assert!(parse("borrowed").unwrap().may_select_row("sse/large"));
        assert!(parse("").unwrap().may_select_row("sse/large"));
    }
}
