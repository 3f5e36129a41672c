//! Suites and rows: check first, then count, then time.

use std::collections::HashSet;
use std::env;
use std::hint::black_box;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};

use crate::alloc;
use crate::count::count_batches;
use crate::implementation::{Impl, Role};
use crate::line::{Line, say};
use crate::options::{HELP, Mode, Options};
use crate::sampler::sample;

/// Duration of an operation above which criterion's linear sampling would take tens of seconds.
const SLOW: Duration = Duration::from_millis(50);
/// criterion's minimum.
const SLOW_SAMPLES: usize = 10;
/// criterion's bootstrap. More only narrow the printed confidence interval, and take longer than the measurement.
const RESAMPLES: usize = 10_000;

/// All rows of one system.
#[derive(Debug)]
pub struct Suite {
    system: String,
    options: Options,
    criterion_directory: PathBuf,
    rows: HashSet<String>,
}

impl Suite {
    /// Parses the command line of a benchmark binary.
    ///
    /// `target_tmpdir` is `env!("CARGO_TARGET_TMPDIR")`, because cargo runs benchmarks in the folder of the package.
    /// criterion's files go to `criterion` beside that folder, unless the environment variable `CRITERION_HOME` is set.
    ///
    /// Prints the reason and exits with code 2 if the arguments are invalid.
    ///
    /// # Panics
    ///
    /// Panics if it has to measure in a binary without [`counting_allocator!`](crate::counting_allocator).
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
        let criterion_directory =
            env::var_os("CRITERION_HOME").map_or_else(|| target.join("criterion"), PathBuf::from);
        Self { system: system.into(), options, criterion_directory, rows: HashSet::new() }
    }

    /// Starts a row. Its key `<system>/<name>` must equal the key of the published row, if there is one.
    ///
    /// # Panics
    ///
    /// Panics if the suite already has a row of this name.
    pub fn row(&mut self, name: impl Into<String>) -> Row<'_> {
        let name = name.into();
        assert!(self.rows.insert(name.clone()), "the suite {} has two rows named {name}", self.system);
        Row {
            key: format!("{}/{name}", self.system),
            name,
            payload: None,
            elements: None,
            implementations: HashSet::new(),
            classes: HashSet::new(),
            suite: self,
        }
    }

    /// Returns whether this invocation may run an implementation of the row.
    ///
    /// A suite can use this to avoid building a large payload. May return true for a row that is not run, never false
    /// for one that is.
    pub fn selects(&self, row: &str) -> bool {
        let key = format!("{}/{row}", self.system);
        self.options.mode != Mode::List && self.options.may_select_row(&key)
    }

    /// Returns whether this invocation only checks that every operation works, so that a smaller input suffices.
    pub fn is_testing(&self) -> bool {
        self.options.mode == Mode::Test
    }
}

/// One row of a suite: one operation on one input by several implementations.
#[derive(Debug)]
pub struct Row<'a> {
    suite: &'a mut Suite,
    name: String,
    key: String,
    payload: Option<u64>,
    elements: Option<u64>,
    implementations: HashSet<String>,
    /// Classes of ours.
    classes: HashSet<Option<String>>,
}

impl Row<'_> {
    /// Bytes of input per operation, for the throughput in bytes per second.
    pub fn payload(mut self, bytes: u64) -> Self {
        self.payload = Some(bytes);
        self
    }

    /// Elements per operation, such as events, for the throughput in elements per second.
    pub fn elements(mut self, elements: u64) -> Self {
        self.elements = Some(elements);
        self
    }

    /// Checks, counts and times one implementation.
    ///
    /// `operation` returns a value computed from its result, such as a sum of lengths. It must equal `expected`.
    ///
    /// # Panics
    ///
    /// Panics if an implementation with [`Role::Ours`] returns another value, if the row has two implementations with
    /// one name or two of ours with one class, or if ours or a peer has no class. A wrong value or a panic of a peer is
    /// recorded, and the run continues.
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
    /// `operations` gets the number of repetitions, at least 1, and returns the value of each repetition. Use it for
    /// operations in tasks of a runtime, so that starting the task is paid once per sample.
    ///
    /// # Panics
    ///
    /// Same as [`run`](Self::run).
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
        let class = implementation.class.as_deref();
        assert!(
            class.is_some() || implementation.role == Role::Limit,
            "{} of row {} has no class",
            implementation.name,
            self.key
        );
        assert!(
            implementation.role != Role::Ours || self.classes.insert(class.map(str::to_owned)),
            "row {} has two implementations of ours of the class {class:?}",
            self.key
        );
        let name = format!("{}/{}", self.key, implementation.name);
        if !self.suite.options.selects(&name) {
            return self;
        }
        match self.suite.options.mode {
            Mode::List if self.suite.options.is_json => self.line(&implementation).print(),
            Mode::List => say(format_args!("{name}: benchmark\n")),
            Mode::Test => match check(&implementation, &name, expected, &mut operations) {
                Ok(_) => say(format_args!("{name}: ok\n")),
                Err(why) => say(format_args!("{name}: {why} (a peer, so the run goes on)\n")),
            },
            Mode::Bench => self.measure(&implementation, &name, expected, &mut operations),
        }
        self
    }

    fn line(&self, implementation: &Impl) -> Line {
        Line {
            key: self.key.clone(),
            implementation: implementation.name.clone(),
            role: implementation.role,
            language: "rust",
            version: implementation.version.clone(),
            class: implementation.class.clone(),
            payload_bytes: implementation.payload.or(self.payload),
            elements: self.elements,
            ..Line::default()
        }
    }

    fn measure(
        &self,
        implementation: &Impl,
        name: &str,
        expected: u64,
        operations: &mut impl FnMut(u64) -> u64,
    ) {
        let mut line = self.line(implementation);
        line.check = Some(expected);
        match check(implementation, name, expected, operations) {
            Err(why) => {
                say(format_args!("{name}: {why} (a peer, so the run goes on)\n"));
                line.failure = Some(why);
            }
            Ok(once)
                if implementation.once
                    || (once > self.suite.options.time_guard && implementation.role == Role::Peer) =>
            {
                line.is_once = true;
                line.time_ns = Some(once.as_nanos() as f64);
            }
            Ok(once) => {
                if self.suite.options.counting {
                    let counts = count_batches(&mut *operations);
                    (line.bytes_op, line.allocs_op) = (Some(counts.bytes_op), Some(counts.allocs_op));
                    line.deterministic = Some(counts.deterministic);
                }
                if self.suite.options.is_json {
                    line.time_ns = median(sample(self.suite.options.measurement, operations));
                } else {
                    self.suite.time(&self.name, &line, once > SLOW, operations);
                }
            }
        }
        if self.suite.options.is_json {
            line.print();
        } else {
            line.print_counts();
        }
    }
}

impl Suite {
    /// Times `operations` with criterion, which prints the result.
    fn time(&self, row: &str, line: &Line, slow: bool, operations: &mut impl FnMut(u64) -> u64) {
        let options = &self.options;
        let mut criterion = Criterion::default()
            // `cargo xtask bench` draws the joined data instead.
            .without_plots()
            .output_directory(&self.criterion_directory)
            .warm_up_time(options.warm_up)
            .measurement_time(options.measurement)
            .sample_size(if slow { SLOW_SAMPLES } else { options.samples })
            .nresamples(RESAMPLES);
        // A new group per call, so that criterion's file names do not depend on earlier rows.
        let mut group = criterion.benchmark_group(&self.system);
        if slow {
            group.sampling_mode(SamplingMode::Flat);
        }
        let throughput = match (line.elements, line.payload_bytes) {
            (Some(elements), Some(bytes)) => Some(Throughput::ElementsAndBytes { elements, bytes }),
            (Some(elements), None) => Some(Throughput::Elements(elements)),
            (None, bytes) => bytes.map(Throughput::Bytes),
        };
        if let Some(throughput) = throughput {
            group.throughput(throughput);
        }
        group.bench_function(BenchmarkId::new(row, &line.implementation), |bencher| {
            bencher.iter_custom(|iterations| {
                let start = Instant::now();
                black_box(operations(iterations));
                start.elapsed()
            });
        });
        group.finish();
    }
}

/// Runs `operations` once and compares its value. Returns the duration, or a peer's failure in one line.
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
        // A peer that panicked may be in an invalid state; it is not called again.
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

fn median(mut samples: Vec<f64>) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    let upper = *samples.get(samples.len() / 2)?;
    Some(if samples.len() % 2 == 1 { upper } else { f64::midpoint(samples[samples.len() / 2 - 1], upper) })
}
