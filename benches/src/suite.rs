//! Suites and rows: check first, count apart, then time.

use std::collections::HashSet;
use std::env;
use std::hint::black_box;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use serde_json::json;

use crate::alloc;
use crate::count::count_batches;
use crate::implementation::{Impl, Role};
use crate::options::{HELP, Mode, Options};
use crate::record::{Outcome, Record};
use crate::table::{Line, Table, Time};

/// From this duration of one operation on, criterion's linear sampling would take tens of seconds.
const SLOW: Duration = Duration::from_millis(50);
/// criterion's lower bound.
const SLOW_SAMPLES: usize = 10;
/// A peer that needs longer than this for one operation is measured once.
const TIME_GUARD: Duration = Duration::from_secs(2);

/// All rows of one system.
#[derive(Debug)]
#[must_use = "a suite prints its table in `finish`"]
pub struct Suite {
    system: String,
    options: Options,
    criterion_directory: PathBuf,
    record_directory: PathBuf,
    rows: HashSet<String>,
    table: Table,
}

impl Suite {
    /// Reads the command line of a benchmark binary.
    ///
    /// `target_tmpdir` is `env!("CARGO_TARGET_TMPDIR")`: cargo runs benchmarks in the package's directory, so the
    /// target directory cannot be named relative to it. Figures go to `criterion` and `bench` beside that directory;
    /// the environment variables `CRITERION_HOME` and `BENCH_HOME` name other places.
    ///
    /// Prints the reason and exits with code 2 where the arguments are wrong.
    ///
    /// # Panics
    ///
    /// Panics when asked to measure in a binary without [`counting_allocator!`](crate::counting_allocator).
    pub fn from_args(system: impl Into<String>, target_tmpdir: impl AsRef<Path>) -> Self {
        let mut arguments = env::args().skip(1).peekable();
        if arguments.peek().is_some_and(|first| first == "--help") {
            say(HELP);
            std::process::exit(0);
        }
        let options = Options::parse(arguments).unwrap_or_else(|mistake| {
            let _ = writeln!(io::stderr(), "{mistake}");
            std::process::exit(2)
        });
        assert!(
            options.mode != Mode::Bench || alloc::is_installed(),
            "this suite does not invoke benches::counting_allocator!(), so all its counts would be zero"
        );
        let target = target_tmpdir.as_ref().parent().unwrap_or_else(|| target_tmpdir.as_ref());
        let directory = |variable: &str, name: &str| {
            env::var_os(variable).map_or_else(|| target.join(name), PathBuf::from)
        };
        Self {
            system: system.into(),
            options,
            criterion_directory: directory("CRITERION_HOME", "criterion"),
            record_directory: directory("BENCH_HOME", "bench"),
            rows: HashSet::new(),
            table: Table::default(),
        }
    }

    /// Starts a row; its key is `<system>/<name>` and must match the published row's key where there is one.
    ///
    /// # Panics
    ///
    /// Panics when the suite already has a row of this name.
    pub fn row(&mut self, name: impl Into<String>) -> Row<'_> {
        let name = name.into();
        assert!(self.rows.insert(name.clone()), "the suite {} has two rows named {name}", self.system);
        Row {
            key: format!("{}/{name}", self.system),
            name,
            payload: None,
            elements: None,
            time_guard: self.options.time_guard.unwrap_or(TIME_GUARD),
            implementations: HashSet::new(),
            suite: self,
        }
    }

    /// Says whether any implementation of the row may be run by this invocation.
    ///
    /// Lets a suite skip building a large payload. May answer `true` for a row that is not run in the end, never
    /// `false` for one that is.
    pub fn selects(&self, row: &str) -> bool {
        let key = format!("{}/{row}", self.system);
        !matches!(self.options.mode, Mode::List | Mode::ListJson) && self.options.may_select_row(&key)
    }

    /// Says whether this invocation only checks that every operation works, for which less of it may do.
    pub fn is_testing(&self) -> bool {
        self.options.mode == Mode::Test
    }

    /// Prints the table of what was measured.
    pub fn finish(self) {
        if self.options.mode == Mode::Bench && !self.table.0.is_empty() {
            say(format_args!("\n{}\n\n{}", self.system, self.table));
        }
    }
}

/// One row of a suite: an operation that several implementations perform on the same input.
#[derive(Debug)]
pub struct Row<'a> {
    suite: &'a mut Suite,
    name: String,
    key: String,
    payload: Option<u64>,
    elements: Option<u64>,
    time_guard: Duration,
    implementations: HashSet<String>,
}

impl Row<'_> {
    /// Input bytes per operation; the base of the throughput in bytes per second.
    pub fn payload(mut self, bytes: u64) -> Self {
        self.payload = Some(bytes);
        self
    }

    /// Elements per operation, such as events; the base of the throughput in elements per second.
    pub fn elements(mut self, elements: u64) -> Self {
        self.elements = Some(elements);
        self
    }

    /// The longest a single operation of a peer may take to be sampled, two seconds unless set.
    ///
    /// A peer beyond it keeps the duration of its checked call as its only figure and is marked in the report.
    /// The command line may lower the limit. Ours is always sampled, but for [`Impl::once`].
    pub fn time_guard(mut self, limit: Duration) -> Self {
        self.time_guard = self.suite.options.time_guard.map_or(limit, |lower| limit.min(lower));
        self
    }

    /// Checks, counts and times one implementation.
    ///
    /// `operation` returns a value computed from its result, such as a sum of lengths, which must equal `expected`.
    ///
    /// # Panics
    ///
    /// Panics when an implementation of [`Role::Ours`] returns another value, so that the process fails. A peer's
    /// wrong value or panic is recorded and the run goes on. Panics when the row has two implementations of one name.
    pub fn run(self, implementation: Impl, expected: u64, mut operation: impl FnMut() -> u64) -> Self {
        self.run_batches(implementation, expected, |iterations| {
            let mut value = 0;
            for _ in 0..iterations {
                value = black_box(operation());
            }
            value
        })
    }

    /// [`run`](Self::run) for an operation that repeats itself.
    ///
    /// `operations` is told how often, never 0, and returns the value that each repetition gave. This is for
    /// operations that run elsewhere, such as in tasks of a runtime, so that handing them over is paid for once.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub fn run_batches(
        mut self,
        implementation: Impl,
        expected: u64,
        mut operations: impl FnMut(u64) -> u64,
    ) -> Self {
        assert!(
            self.implementations.insert(implementation.name.clone()),
            "row {} has two implementations named {}",
            self.key,
            implementation.name
        );
        let name = format!("{}/{}", self.key, implementation.name);
        if !self.suite.options.selects(&name) {
            return self;
        }
        match self.suite.options.mode {
            Mode::List => say(format_args!("{name}: benchmark\n")),
            Mode::ListJson => say(format_args!("{}\n", self.description(&implementation))),
            Mode::Test => match check(&implementation, &name, expected, &mut operations) {
                Ok(_) => say(format_args!("{name}: ok\n")),
                Err(why) => say(format_args!("{name}: {why} (a peer, so the run goes on)\n")),
            },
            Mode::Bench => self.measure(&implementation, &name, expected, &mut operations),
        }
        self
    }

    fn description(&self, implementation: &Impl) -> serde_json::Value {
        json!({
            "key": self.key,
            "implementation": implementation.name,
            "role": implementation.role,
            "language": implementation.language,
            "version": implementation.version,
            "class": implementation.class,
            "payload_bytes": implementation.payload.or(self.payload),
            "elements": self.elements,
        })
    }

    fn measure(
        &mut self,
        implementation: &Impl,
        name: &str,
        expected: u64,
        operations: &mut impl FnMut(u64) -> u64,
    ) {
        let payload = implementation.payload.or(self.payload);
        let mut record = Record::new(&self.key, implementation, self.payload, self.elements, expected);
        let time = match check(implementation, name, expected, operations) {
            Err(why) => {
                say(format_args!("{name}: {why} (a peer, so the run goes on)\n"));
                record.outcome = Outcome::Failed { why: why.clone() };
                Err(why)
            }
            Ok(once)
                if implementation.once || (once > self.time_guard && implementation.role == Role::Peer) =>
            {
                record.outcome = Outcome::Guarded { once_ns: once.as_nanos() as f64 };
                Ok(Time { nanoseconds: once.as_nanos() as f64, sampled: false })
            }
            Ok(once) => {
                if self.suite.options.counting {
                    record.set_counts(&count_batches(&mut *operations));
                }
                let slow = implementation.slow || once > SLOW;
                let nanoseconds = self.suite.time(
                    &self.name,
                    &implementation.name,
                    payload,
                    self.elements,
                    slow,
                    operations,
                );
                Ok(Time { nanoseconds, sampled: true })
            }
        };
        let line = Line {
            row: self.name.clone(),
            implementation: implementation.name.clone(),
            time,
            bytes_op: record.bytes_op,
            allocs_op: record.allocs_op,
            payload_bytes: payload,
            elements: self.elements,
        };
        if let Err(error) = record.write(&self.suite.record_directory) {
            panic!("cannot write the figures of {name} below {:?}: {error}", self.suite.record_directory);
        }
        self.suite.table.0.push(line);
    }
}

impl Suite {
    /// Lets criterion time `operations` and returns the median of its samples in nanoseconds per operation.
    fn time(
        &self,
        row: &str,
        implementation: &str,
        payload: Option<u64>,
        elements: Option<u64>,
        slow: bool,
        operations: &mut impl FnMut(u64) -> u64,
    ) -> f64 {
        let sampling = &self.options.sampling;
        let mut criterion = Criterion::default()
            // Plots of single rows are of no use; `cargo xtask bench` draws the joined data.
            .without_plots()
            .output_directory(&self.criterion_directory)
            .warm_up_time(sampling.warm_up)
            .measurement_time(sampling.measurement)
            .sample_size(if slow { SLOW_SAMPLES } else { sampling.samples })
            .nresamples(sampling.resamples);
        if let Some(baseline) = &self.options.baseline {
            criterion = criterion.save_baseline(baseline.clone());
        }
        // Owned by this call alone, so criterion's file names depend on nothing that ran before.
        let mut group = criterion.benchmark_group(&self.system);
        if slow {
            group.sampling_mode(SamplingMode::Flat);
        }
        match (elements, payload) {
            (Some(elements), Some(bytes)) => {
                group.throughput(Throughput::ElementsAndBytes { elements, bytes });
            }
            (Some(elements), None) => {
                group.throughput(Throughput::Elements(elements));
            }
            (None, Some(bytes)) => {
                group.throughput(Throughput::Bytes(bytes));
            }
            (None, None) => {}
        }
        // criterion keeps the samples to itself, so the closure notes them; warm-up calls come first in the list.
        let mut samples = Vec::new();
        group.bench_function(BenchmarkId::new(row, implementation), |bencher| {
            bencher.iter_custom(|iterations| {
                let start = Instant::now();
                black_box(operations(iterations));
                let elapsed = start.elapsed();
                samples.push(elapsed.as_nanos() as f64 / iterations as f64);
                elapsed
            });
        });
        group.finish();
        let taken = if slow { SLOW_SAMPLES } else { sampling.samples };
        median(&mut samples.split_off(samples.len().saturating_sub(taken)))
    }
}

/// Runs `operations` once and compares its value; returns how long it took, or a peer's failure in one line.
fn check(
    implementation: &Impl,
    name: &str,
    expected: u64,
    operations: &mut impl FnMut(u64) -> u64,
) -> Result<Duration, String> {
    let start = Instant::now();
    let result = if implementation.role == Role::Ours {
        Ok(operations(1))
    } else {
        // A peer that panics may be left half-way through; it is not called again after a failed check.
        catch_unwind(AssertUnwindSafe(|| operations(1)))
    };
    let elapsed = start.elapsed();
    let why = match result {
        Ok(value) if value == expected => return Ok(elapsed),
        Ok(value) => format!("failed: check value {value}, expected {expected}"),
        Err(payload) => {
            let message = payload
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            format!("failed: panicked: {}", message.lines().next().unwrap_or_default())
        }
    };
    assert!(implementation.role != Role::Ours, "{name} {why}");
    Err(why)
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => samples[length / 2],
        length => f64::midpoint(samples[length / 2 - 1], samples[length / 2]),
    }
}

/// Writes to standard output and ends the process quietly when nobody reads on, as with `cargo bench | head`.
fn say(text: impl std::fmt::Display) {
    if write!(io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}
