//! The tasks of a process: list, test, screen, duel, or serve the rows of its suite.

use std::hint::black_box;
use std::io::{self, BufRead};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bench_report::model::{self, Role};
use bench_report::program::say;
use bench_report::quantity::Quantity;
use bench_report::stats::rounded;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use serde::{Deserialize, Serialize};

use crate::alloc::{Counts, count};
use crate::duel::{Block, Run, block, calibrate};
use crate::options::Options;
use crate::suite::Side;

/// Separates messages to the coordinator from other output.
pub(crate) const MARK: char = '\u{1e}';
/// Duration of an operation above which criterion's linear sampling would take tens of seconds.
const SLOW: Duration = Duration::from_millis(20);
/// criterion's minimum.
const SLOW_SAMPLES: usize = 10;
/// criterion's bootstrap. More only narrow the printed confidence interval, and take longer than the measurement.
const RESAMPLES: usize = 1_001;
/// Duration of a screening slice.
const SCREENING: Duration = Duration::from_millis(2);
/// Screening slices of which the fastest counts.
const SCREENING_SLICES: usize = 3;
/// An operation above this duration is called once, and not timed by criterion, which calls it more than ten times.
const ONCE: Duration = Duration::from_millis(150);

/// The task of a worker process, as the coordinator sends it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Plan {
    /// Check, count and time every implementation, except those that are known or crashed before.
    Screen {
        skip: Vec<(String, String)>,
    },
    Duel {
        duels: Vec<Planned>,
        passes: usize,
    },
}

/// A duel to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) index: usize,
    pub(crate) key: String,
    pub(crate) ours: String,
    pub(crate) peer: String,
}

/// A message of a worker to its coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Sent first, so that a crash can be attributed.
    Screening(Box<model::Row>),
    Screened {
        entry: Box<model::Row>,
        has_threads: bool,
    },
    Duelling(usize),
    Block(Block),
    Failed(usize, String),
}

impl Message {
    fn send(&self) {
        // A struct of numbers and texts is always JSON.
        say(&format!("{MARK}{}\n", serde_json::to_string(self).unwrap_or_default()));
    }
}

/// Task of a process, which each row of a pass runs.
#[derive(Debug)]
pub(crate) enum Task {
    /// Collects the entries of all implementations.
    List(Vec<model::Row>),
    /// Runs every operation once and compares its check value.
    Test,
    Screen {
        skip: Vec<(String, String)>,
        criterion: PathBuf,
    },
    Duel {
        duels: Vec<Planned>,
        pass: usize,
        start: Instant,
    },
    /// Runs operations on request, as programs in other languages do.
    Serve(Requests),
}

impl Default for Task {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Task {
    /// Returns whether the task calls an operation of this row.
    pub(crate) fn needs(&self, key: &str) -> bool {
        match self {
            Self::List(_) => false,
            Self::Test | Self::Screen { .. } => true,
            Self::Duel { duels, .. } => duels.iter().any(|duel| duel.key == key),
            Self::Serve(requests) => requests.is_next(key),
        }
    }

    pub(crate) fn run(&mut self, key: &str, sides: &mut [Side<'_>], has_threads: bool, options: &Options) {
        let is_selected = |side: &&mut Side<'_>| options.selects_entry(&side.entry);
        match self {
            Self::List(entries) => {
                entries.extend(sides.iter_mut().filter(is_selected).map(|side| side.entry.clone()));
            }
            Self::Test => sides.iter_mut().filter(is_selected).for_each(test),
            Self::Screen { skip, criterion } => {
                for side in sides.iter_mut().filter(is_selected) {
                    let name = &side.entry.implementation;
                    if !skip.iter().any(|(skipped_key, skipped)| skipped_key == key && skipped == name) {
                        screen(side, has_threads, options, criterion);
                    }
                }
            }
            Self::Duel { duels, pass, start } => {
                for duel in duels.iter().filter(|duel| duel.key == key) {
                    run_duel(duel, sides, has_threads, *pass, *start);
                }
            }
            Self::Serve(requests) => requests.serve(key, sides),
        }
    }
}

fn test(side: &mut Side<'_>) {
    let name = format!("{}/{}", side.entry.key, side.entry.implementation);
    match side.check() {
        Ok(_) => say(&format!("{name}: ok\n")),
        Err(why) => {
            assert!(side.entry.role != Role::Ours, "{name} {why}");
            say(&format!("{name}: {why} (a peer, so the run goes on)\n"));
        }
    }
}

fn run_duel(duel: &Planned, sides: &mut [Side<'_>], has_threads: bool, pass: usize, start: Instant) {
    Message::Duelling(duel.index).send();
    let find = |name: &str| sides.iter().position(|side| side.entry.implementation == *name);
    let result = match (find(&duel.ours), find(&duel.peer)) {
        (Some(ours), Some(peer)) => block(sides, ours, peer, pass, has_threads),
        _ => Err("failed: an implementation is gone".to_owned()),
    };
    match result {
        Ok(Some(block)) => {
            Message::Block(Block { duel: duel.index, ms: start.elapsed().as_millis(), ..block }).send();
        }
        Ok(None) => {}
        Err(why) => Message::Failed(duel.index, why).send(),
    }
}

fn screen(side: &mut Side<'_>, has_threads: bool, options: &Options, criterion: &Path) {
    let mut entry = side.entry.clone();
    Message::Screening(Box::new(entry.clone())).send();
    let mut measure = || {
        let Some(once) = side.check()? else { return Ok(false) };
        let mut figure = |quantity, value| drop(entry.figures.insert(quantity, vec![value]));
        if side.once || once > ONCE {
            figure(Quantity::Time, rounded(once.as_nanos() as f64));
            return Ok(true);
        }
        if let Some(counts) = counts(side) {
            figure(Quantity::Bytes, rounded(counts.bytes_op));
            figure(Quantity::Allocs, rounded(counts.allocs_op));
            entry.deterministic = Some(counts.deterministic);
        }
        let (iterations, mut fastest) = calibrate(side, SCREENING)?;
        for _ in 0..SCREENING_SLICES {
            fastest = fastest.min(side.run(iterations)?.0);
        }
        entry.figures.insert(Quantity::Time, vec![rounded(fastest.as_nanos() as f64 / iterations as f64)]);
        Ok::<_, String>(true)
    };
    match measure() {
        Ok(false) => return,
        Ok(true) => {}
        Err(why) => {
            say(&format!("{}/{}: {why}\n", entry.key, entry.implementation));
            entry.remark = Some(why);
        }
    }
    if !options.no_criterion
        && let Some(&[time]) = entry.figures.get(&Quantity::Time).map(Vec::as_slice)
        && let time = Duration::from_nanos(time as u64)
        && time <= ONCE
        && let Some(operations) = side.here()
    {
        time_with_criterion(&entry, time > SLOW, operations, options, criterion);
    }
    Message::Screened { entry: Box::new(entry), has_threads }.send();
}

fn counts(side: &mut Side<'_>) -> Option<Counts> {
    if let Some(operations) = side.here() {
        return Some(count(operations));
    }
    const CALLS: u32 = 20;
    // The first call allocates caches and tables.
    side.count(1)?;
    let (bytes, allocations) = side.count(u64::from(CALLS))?;
    Some(Counts {
        allocs_op: allocations as f64 / f64::from(CALLS),
        bytes_op: bytes as f64 / f64::from(CALLS),
        deterministic: true,
    })
}

/// Times `operations` with criterion, which prints the result and saves it for `--baseline` and critcmp.
fn time_with_criterion(
    entry: &model::Row,
    is_slow: bool,
    operations: &mut dyn FnMut(u64) -> u64,
    options: &Options,
    directory: &Path,
) {
    let mut criterion = Criterion::default()
        // The report draws the joined data instead.
        .without_plots()
        .output_directory(directory)
        .warm_up_time(options.warm_up)
        .measurement_time(options.measurement)
        .sample_size(if is_slow { SLOW_SAMPLES } else { options.samples as usize })
        .nresamples(RESAMPLES);
    if let Some(name) = &options.save_baseline {
        criterion = criterion.save_baseline(name.clone());
    }
    if let Some(name) = &options.baseline {
        criterion = criterion.retain_baseline(name.clone(), false);
    }
    // A new group per call, so that criterion's file names do not depend on earlier rows.
    let mut group = criterion.benchmark_group(entry.system());
    if is_slow {
        group.sampling_mode(SamplingMode::Flat);
    }
    let throughput = match (entry.elements, entry.payload_bytes) {
        (Some(elements), Some(bytes)) => Some(Throughput::ElementsAndBytes { elements, bytes }),
        (Some(elements), None) => Some(Throughput::Elements(elements)),
        (None, bytes) => bytes.map(Throughput::Bytes),
    };
    if let Some(throughput) = throughput {
        group.throughput(throughput);
    }
    group.bench_function(BenchmarkId::new(entry.name(), &entry.implementation), |bencher| {
        bencher.iter_custom(|iterations| {
            let start = Instant::now();
            black_box(operations(iterations));
            start.elapsed()
        });
    });
    group.finish();
}

/// Requests on standard input, in the protocol of programs in other languages.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    pending: Option<[String; 4]>,
    /// Whether a pass answered a request.
    has_answered: bool,
}

impl Requests {
    /// Returns whether the next request may be about this row.
    fn is_next(&self, key: &str) -> bool {
        let row = key.split_once('/').map_or(key, |(_, row)| row);
        self.pending.as_ref().is_none_or(|request| request[1] == row)
    }

    /// Reads the next request. False at the end of the input.
    fn read(&mut self) -> bool {
        let mut line = String::new();
        while self.pending.is_none() {
            line.clear();
            if !io::stdin().lock().read_line(&mut line).is_ok_and(|length| length > 0) {
                return false;
            }
            let parts: Vec<String> = line.trim_end().split('\t').map(str::to_owned).collect();
            match parts.try_into() {
                Ok(request) => self.pending = Some(request),
                Err(_) => say("error\tunknown request\n"),
            }
        }
        true
    }

    /// Ends a pass. False at the end of the input.
    pub(crate) fn end_pass(&mut self) -> bool {
        if !mem::take(&mut self.has_answered) && self.pending.take().is_some() {
            say("none\n");
        }
        self.read()
    }

    fn serve(&mut self, key: &str, sides: &mut [Side<'_>]) {
        while self.read() {
            let row = key.split_once('/').map_or(key, |(_, row)| row);
            let Some([verb, _, implementation, iterations]) =
                self.pending.take_if(|request| request[1] == row)
            else {
                return;
            };
            self.has_answered = true;
            let side = sides.iter_mut().find(|side| side.entry.implementation == implementation);
            let answer = match (side, iterations.parse()) {
                (None, _) => "none".to_owned(),
                (_, Err(_)) => "error\tnot a number of operations".to_owned(),
                (Some(side), Ok(iterations)) if verb == "run" => match side.run(iterations) {
                    Ok((time, check)) => format!("ok\t{}\t{check}", time.as_nanos()),
                    Err(why) => format!("error\t{why}"),
                },
                (Some(side), Ok(iterations)) => match side.count(iterations) {
                    Some((bytes, allocations)) => format!("ok\t{bytes}\t{allocations}"),
                    None => "none".to_owned(),
                },
            };
            say(&format!("{answer}\n"));
        }
    }
}
