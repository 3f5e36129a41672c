//! Runs a suite: screens all implementations, plans the duels, starts worker processes until every duel is decided,
//! and writes the report.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench_report::machine;
use bench_report::model::{self, Duel, Outcome, Ratio, Report, Role, Run, SCHEMA};
use bench_report::program::{exit, find, first_line, say};
use bench_report::quantity::Quantity;
use bench_report::stats::{median, rounded};
use clap::Parser as _;
use indicatif::{ProgressBar, ProgressStyle};

use crate::alloc;
use crate::duel::Block;
use crate::options::{Mode, Options};
use crate::resident;
use crate::suite::Suite;
use crate::worker::{MARK, Message, Plan, Planned, Requests, Task};

/// Processes of each duel at least and at most.
const PROCESSES: std::ops::RangeInclusive<usize> = 3..=20;
/// Processes of a duel with a peer in another language at most: each starts the peer's program again, which takes seconds
/// for PowerShell.
const RESIDENT_PROCESSES: usize = 6;
/// Placements in each process.
const PASSES: usize = 3;
/// Placements of each duel at least, with which the range of the ratios is an interval of 95 % confidence.
const PLACEMENTS: usize = 6;
/// Peers of each language that ours is compared with: the fastest ones.
const PEERS: usize = 2;
/// Implementations of ours that are compared with themselves, to show the error of the method.
const EQUALS: usize = 5;
/// A worker that sends nothing for this time is stopped.
const SILENCE: Duration = Duration::from_secs(40);

/// The rows of a suite.
type Rows = fn(&mut Suite) -> Result<()>;

/// Runs a suite as the command line says.
///
/// `target_tmpdir` is `env!("CARGO_TARGET_TMPDIR")`, because cargo runs benchmarks in the folder of the package. Results
/// go to `report` beside that folder, unless the environment variable `BENCH_REPORT` is set, and criterion's files to
/// `criterion`, unless `CRITERION_HOME` is set. `rows` is called several times, in several processes.
///
/// Exits with code 2 if the arguments are invalid, and with 1 if an implementation of ours failed.
pub fn main(system: &str, target_tmpdir: &str, rows: Rows) -> ExitCode {
    let target = Path::new(target_tmpdir).parent().unwrap_or_else(|| Path::new(target_tmpdir));
    let folder = |variable, name| env::var_os(variable).map_or_else(|| target.join(name), PathBuf::from);
    let coordinator = Coordinator {
        system,
        rows,
        criterion: folder("CRITERION_HOME", "criterion"),
        report: folder("BENCH_REPORT", "report"),
        documents: target_tmpdir.into(),
        build: env::var("BENCH_BUILD").unwrap_or_default(),
        options: Options::parse(),
    };
    exit(coordinator.run())
}

struct Coordinator<'a> {
    system: &'a str,
    rows: Rows,
    options: Options,
    criterion: PathBuf,
    report: PathBuf,
    /// Folder of the files for programs in other languages.
    documents: PathBuf,
    /// Empty, or the name of the build.
    build: String,
}

/// A duel and its results so far.
struct Running {
    planned: Planned,
    is_pinned: bool,
    /// Processes at most.
    most: usize,
    processes: usize,
    blocks: Vec<Block>,
    failure: Option<String>,
}

impl Running {
    fn ratios(&self) -> Vec<f64> {
        self.blocks.iter().filter_map(Block::ratio).collect()
    }

    /// Returns whether more processes may change the verdict.
    fn is_open(&self) -> bool {
        let outcome = || Ratio::of("", &self.ratios()).map(|ratio| ratio.outcome());
        self.failure.is_none()
            && self.processes < self.most
            && (self.processes < *PROCESSES.start()
                || self.blocks.len() < PLACEMENTS
                || outcome() == Some(Outcome::Undecided))
    }

    fn result(&self, build: &str) -> Option<Duel> {
        let (ours, peer): (Vec<f64>, Vec<f64>) = self.blocks.iter().flat_map(Block::times).unzip();
        Some(Duel {
            key: self.planned.key.clone(),
            ours: self.planned.ours.clone(),
            peer: self.planned.peer.clone(),
            build: build.to_owned(),
            ratios: self.ratios().into_iter().map(rounded).collect(),
            processes: self.processes,
            ours_ns: rounded(median(&ours)?),
            peer_ns: rounded(median(&peer)?),
        })
    }
}

impl Coordinator<'_> {
    fn run(&self) -> Result<()> {
        match self.options.mode() {
            Mode::List => self.list(),
            Mode::Test => self.pass(&mut self.suite(Task::Test)?),
            Mode::Worker => self.work(),
            Mode::Resident => self.serve(),
            Mode::Bench => self.bench(),
        }
    }

    fn suite(&self, task: Task) -> Result<Suite> {
        let programs = resident::programs(self.system, &self.documents)?;
        Ok(Suite::new(self.system, self.options.clone(), task, programs, self.documents.clone()))
    }

    fn pass(&self, suite: &mut Suite) -> Result<()> {
        suite.begin_pass();
        (self.rows)(suite)
    }

    /// Returns all implementations that pass the filters.
    fn entries(&self) -> Result<Vec<model::Row>> {
        let mut suite = self.suite(Task::List(Vec::new()))?;
        self.pass(&mut suite)?;
        if let Task::List(entries) = suite.task { Ok(entries) } else { Ok(Vec::new()) }
    }

    fn list(&self) -> Result<()> {
        for entry in self.entries()? {
            match self.options.format.as_deref() {
                Some("json") => say(&format!("{}\n", serde_json::to_string(&entry)?)),
                _ => say(&format!("{}/{}: benchmark\n", entry.key, entry.implementation)),
            }
        }
        Ok(())
    }

    fn serve(&self) -> Result<()> {
        let mut suite = self.suite(Task::Serve(Requests::default()))?;
        loop {
            let Task::Serve(requests) = &mut suite.task else { return Ok(()) };
            if !requests.end_pass() {
                return Ok(());
            }
            self.pass(&mut suite)?;
        }
    }

    /// Follows the plan on standard input.
    fn work(&self) -> Result<()> {
        match serde_json::from_reader(io::stdin().lock()).context("cannot read the plan")? {
            Plan::Screen { skip } => {
                let criterion = self.criterion.clone();
                self.pass(&mut self.suite(Task::Screen { skip, criterion })?)
            }
            Plan::Duel { duels, passes } => {
                let start = Instant::now();
                let mut suite = self.suite(Task::default())?;
                (0..passes).try_for_each(|pass| {
                    suite.task = Task::Duel { duels: duels.clone(), pass, start };
                    self.pass(&mut suite)
                })
            }
        }
    }

    fn bench(&self) -> Result<()> {
        ensure!(
            alloc::is_installed(),
            "this suite does not invoke benches::counting_allocator!(), so all its counts would be zero"
        );
        let count = self.entries()?.len();
        if count == 0 {
            say(&format!(
                "{}: no benchmark has {} in its name; `cargo bench -- --list` prints all names\n",
                self.system,
                self.options.filters.join(" or ")
            ));
            return Ok(());
        }
        let (start, busy) = (Instant::now(), machine::Busy::start());
        let (rows, threaded) = self.screen(count)?;
        let mut duels = plan(&rows, &threaded);
        self.duel(&mut duels)?;

        let rust = first_line("rustc", &["-V"]);
        let mut report = Report {
            schema: SCHEMA,
            run: Run {
                date: machine::date(),
                machine: machine::describe(),
                versions: Vec::from_iter(rust.map(|version| ("rust".to_owned(), version))),
                commit: machine::commit(Path::new(env!("CARGO_MANIFEST_DIR"))),
                busy_after: busy.of_others(),
                elapsed_s: start.elapsed().as_secs_f64(),
                ..Run::default()
            },
            duels: duels.iter().filter_map(|duel| duel.result(&self.build)).collect(),
            rows,
            ..Report::default()
        };
        for row in &mut report.rows {
            row.is_rough = row.role.is_other()
                && !report.duels.iter().any(|duel| duel.key == row.key && duel.peer == row.implementation);
        }
        self.publish(report, &duels)
    }

    /// Returns the entries of all implementations with the figures of the screening, and the keys of rows that use
    /// several threads.
    fn screen(&self, count: usize) -> Result<(Vec<model::Row>, HashSet<String>)> {
        let (mut rows, mut threaded, mut skip) = (Vec::new(), HashSet::new(), Vec::new());
        let progress = progress(self.system, "screened", count);
        loop {
            let mut begun: Option<Box<model::Row>> = None;
            let end = self.worker(&Plan::Screen { skip: skip.clone() }, false, |message| match message {
                Message::Screening(entry) => {
                    skip.push((entry.key.clone(), entry.implementation.clone()));
                    begun = Some(entry);
                }
                Message::Screened { entry, has_threads } => {
                    threaded.extend(has_threads.then(|| entry.key.clone()));
                    progress.inc(1);
                    rows.push(*entry);
                    begun = None;
                }
                _ => {}
            })?;
            let Some(why) = end else { break };
            let entry = begun.with_context(|| self.cannot_be_set_up(&why))?;
            say(&format!("{}/{}: {why} (the run goes on)\n", entry.key, entry.implementation));
            rows.push(model::Row { remark: Some(why), ..*entry });
        }
        progress.finish_and_clear();
        Ok((rows, threaded))
    }

    fn cannot_be_set_up(&self, why: &str) -> String {
        format!("the suite {} cannot be set up: {why}", self.system)
    }

    /// Runs all duels until they are decided.
    fn duel(&self, duels: &mut [Running]) -> Result<()> {
        for (process, is_pinned) in
            (1..=*PROCESSES.end()).flat_map(|process| [(process, true), (process, false)])
        {
            let open = duels.iter().filter(|duel| duel.is_open() && duel.is_pinned == is_pinned);
            let mut planned: Vec<Planned> = open.map(|duel| duel.planned.clone()).collect();
            let of = format!("in process {process} of {} to {} per duel", PROCESSES.start(), PROCESSES.end());
            let progress = progress(self.system, &of, planned.len() * PASSES);
            while !planned.is_empty() {
                for duel in &planned {
                    duels[duel.index].processes = process;
                    duels[duel.index].blocks.retain(|block| block.process != process);
                }
                let mut current = None;
                let plan = Plan::Duel { duels: planned.clone(), passes: PASSES };
                let end = self.worker(&plan, is_pinned, |message| match message {
                    Message::Duelling(index) => {
                        progress.inc(1);
                        current = Some(index);
                    }
                    Message::Block(block) => duels[block.duel].blocks.push(Block { process, ..block }),
                    Message::Failed(index, why) => duels[index].failure = Some(why),
                    _ => {}
                })?;
                let Some(why) = end else { break };
                // The other duels of the process are repeated without the one that crashed.
                let index = current.with_context(|| self.cannot_be_set_up(&why))?;
                let Planned { key, ours, peer, .. } = &duels[index].planned;
                say(&format!("{key}: {ours} beside {peer}: {why} (the run goes on)\n"));
                duels[index].failure = Some(why);
                planned.retain(|duel| duel.index != index);
            }
            progress.finish_and_clear();
        }
        Ok(())
    }

    /// Runs a worker and passes its messages on; prints its other output. Returns what happened if it did not end with
    /// success.
    fn worker(
        &self,
        plan: &Plan,
        is_pinned: bool,
        mut receive: impl FnMut(Message),
    ) -> Result<Option<String>> {
        let program = env::current_exe()?;
        let mut command = Command::new(&program);
        if let Some(processor) = machine::last_processor().filter(|_| is_pinned && find("taskset").is_some())
        {
            command = Command::new("taskset");
            command.args(["-c", &processor.to_string()]).arg(program);
        }
        command.args(env::args_os().skip(1)).arg("--worker").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start a worker process")?;
        if let Some(mut stdin) = child.stdin.take() {
            // A worker that has ended already reports why.
            let _ = stdin.write_all(&serde_json::to_vec(plan)?);
        }
        let stdout = child.stdout.take().context("the worker has no output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(io::Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut why = None;
        loop {
            match lines.recv_timeout(SILENCE) {
                Ok(line) => match line.strip_prefix(MARK) {
                    Some(message) => receive(serde_json::from_str(message).context("a message of a worker")?),
                    None => say(&format!("{line}\n")),
                },
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    why = Some(format!("failed: no result within {} s", SILENCE.as_secs()));
                    child.kill()?;
                }
            }
        }
        let status = child.wait()?;
        Ok(why.or_else(|| (!status.success()).then(|| format!("failed: the process ended with {status}"))))
    }

    /// Writes the results, prints the tables, and fails if one of ours failed.
    fn publish(&self, mut report: Report, duels: &[Running]) -> Result<()> {
        let name = match self.build.as_str() {
            "" => self.system.to_owned(),
            build => format!("{}-{build}", self.system),
        };
        let folder = self.report.join("suites");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join(format!("{name}.json"));
        let keys: HashSet<String> = report.rows.iter().map(|row| row.key.clone()).collect();
        let earlier = fs::read(&path).ok().and_then(|json| serde_json::from_slice::<Report>(&json).ok());
        // A run of some rows replaces these rows in the results of the same commit.
        let earlier = earlier.filter(|earlier| {
            !self.options.filters.is_empty()
                && earlier.schema == SCHEMA
                && earlier.run.commit == report.run.commit
        });
        let pairs = folder.join(format!("{name}.pairs.csv"));
        let mut lines = String::new();
        if let Some(earlier) = earlier {
            report.rows.extend(earlier.rows.into_iter().filter(|row| !keys.contains(&row.key)));
            report.duels.extend(earlier.duels.into_iter().filter(|duel| !keys.contains(&duel.key)));
            let text = fs::read_to_string(&pairs).unwrap_or_default();
            let others = text
                .lines()
                .skip(1)
                .filter(|line| !keys.contains(line.split(',').next().unwrap_or_default()));
            others.for_each(|line| lines.extend([line, "\n"]));
        }
        fs::write(&pairs, format!("{PAIR_COLUMNS}\n{lines}{}", pair_lines(duels, &self.build)))?;
        fs::write(&path, serde_json::to_vec(&report)?)?;

        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sources = bench_report::Sources::load(&root)?;
        let measured = Report {
            rows: report.rows.iter().filter(|row| keys.contains(&row.key)).cloned().collect(),
            ..report.clone()
        };
        say(&bench_report::tables(&measured, &sources));
        bench_report::collect(&self.report, &sources)?;
        let failed: Vec<String> = report
            .rows
            .iter()
            .filter(|row| row.role == Role::Ours && keys.contains(&row.key))
            .filter_map(|row| Some(format!("{}/{}: {}", row.key, row.implementation, row.remark.as_ref()?)))
            .collect();
        ensure!(failed.is_empty(), "of ours, this failed: {}", failed.join("; "));
        Ok(())
    }
}

const PAIR_COLUMNS: &str =
    "key,build,ours,peer,process,placement,ms,first,ours_iterations,peer_iterations,ours_ns,peer_ns";

/// Returns a line per pair of slices.
fn pair_lines(duels: &[Running], build: &str) -> String {
    let mut lines = String::new();
    for Running { planned: Planned { key, ours, peer, .. }, blocks, .. } in duels {
        for Block { process, placement, ms, ours_first, ours_iterations, peer_iterations, pairs, .. } in
            blocks
        {
            for (index, (ours_ns, peer_ns)) in pairs.iter().enumerate() {
                let first = if *ours_first == index.is_multiple_of(2) { "ours" } else { "peer" };
                let _ = writeln!(
                    lines,
                    "{key},{build},\"{ours}\",\"{peer}\",{process},{placement},{ms},{first},{ours_iterations},\
                     {peer_iterations},{ours_ns},{peer_ns}"
                );
            }
        }
    }
    lines
}

/// Plans the duels: each of ours with the fastest and the second fastest peer of each language, and some of ours with
/// themselves.
fn plan(rows: &[model::Row], threaded: &HashSet<String>) -> Vec<Running> {
    let time = |row: &model::Row| row.value(Quantity::Time).filter(|_| row.remark.is_none());
    let ours: Vec<&model::Row> =
        rows.iter().filter(|row| row.role == Role::Ours && time(row).is_some()).collect();
    let mut pairs: Vec<(&model::Row, &model::Row)> = Vec::new();
    for row in &ours {
        let mut peers: Vec<(f64, &model::Row)> = rows
            .iter()
            .filter(|peer| peer.key == row.key && peer.role.is_other() && peer.class == row.class)
            .filter_map(|peer| Some((time(peer)?, peer)))
            .collect();
        peers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        pairs.extend(peers.into_iter().filter_map(|(_, peer)| {
            let count = counts.entry(&peer.language).or_default();
            *count += 1;
            (*count <= PEERS).then_some((*row, peer))
        }));
    }
    let comparable: Vec<&&model::Row> =
        ours.iter().filter(|row| time(row).is_some_and(|time| time < 5e6)).collect();
    let step = comparable.len().div_ceil(EQUALS).max(1);
    pairs.extend(comparable.iter().step_by(step).map(|row| (**row, **row)));
    let running = |(index, (ours, peer)): (usize, (&model::Row, &model::Row))| Running {
        planned: Planned {
            index,
            key: ours.key.clone(),
            ours: ours.implementation.clone(),
            peer: peer.implementation.clone(),
        },
        is_pinned: !threaded.contains(&ours.key),
        most: if peer.language == "rust" { *PROCESSES.end() } else { RESIDENT_PROCESSES },
        processes: 0,
        blocks: Vec::new(),
        failure: None,
    };
    pairs.into_iter().enumerate().map(running).collect()
}

/// Shows progress and the remaining time, on a terminal.
fn progress(system: &str, what: &str, count: usize) -> ProgressBar {
    let template = format!("{system}: {{pos}} of {{len}} {what}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count as u64).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(implementation: &str, role: Role, language: &str, time: f64) -> model::Row {
        model::Row {
            key: "sse/a".to_owned(),
            implementation: implementation.to_owned(),
            role,
            language: language.to_owned(),
            class: Some("owned".to_owned()),
            figures: BTreeMap::from([(Quantity::Time, vec![time])]),
            ..model::Row::default()
        }
    }

    #[test]
    fn ours_meets_the_fastest_peers_of_each_language_and_itself() {
        let failed =
            model::Row { remark: Some("failed".to_owned()), ..row("failed", Role::Peer, "rust", 1.0) };
        let rows = [
            row("ours", Role::Ours, "rust", 10.0),
            row("third", Role::Peer, "rust", 14.0),
            row("first", Role::Peer, "rust", 11.0),
            row("second", Role::Peer, "rust", 12.0),
            row("go", Role::OriginalStandin, "go", 50.0),
            row("second go", Role::Peer, "go", 80.0),
            row("limit", Role::Limit, "rust", 1.0),
            failed,
        ];
        let duels = plan(&rows, &HashSet::new());
        let peers: Vec<&str> = duels.iter().map(|duel| duel.planned.peer.as_str()).collect();
        assert_eq!(peers, ["first", "second", "go", "second go", "ours"]);
        assert!(duels.iter().all(|duel| duel.is_open() && duel.is_pinned));
        assert!(plan(&rows, &HashSet::from(["sse/a".to_owned()])).iter().all(|duel| !duel.is_pinned));
    }

    #[test]
    fn a_duel_ends_when_it_is_decided() {
        let mut duel = plan(&[row("ours", Role::Ours, "rust", 1.0)], &HashSet::new()).remove(0);
        let block = |peer_ns| Block {
            ours_iterations: 1,
            peer_iterations: 1,
            pairs: vec![(100, peer_ns)],
            ..Block::default()
        };
        duel.blocks = (0..12).map(|index| block(104 + index)).collect();
        duel.processes = 2;
        assert!(duel.is_open(), "too few processes");
        duel.processes = 3;
        assert!(!duel.is_open());
        duel.blocks.extend((0..12).map(|index| block(95 - index)));
        assert!(duel.is_open());
        duel.processes = 20;
        assert!(!duel.is_open());
        let result = duel.result("native").unwrap();
        assert_eq!((result.ratios.len(), result.build.as_str(), result.processes), (24, "native", 20));
        assert_eq!(pair_lines(&[duel], "").lines().count(), 24);
    }
}
