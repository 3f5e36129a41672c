//! `cargo xtask bench`: builds the suites and peers, measures in alternating rounds, and writes the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};

use crate::args::Args;
use crate::data::peers::PeersFile;
use crate::data::seed::Seed;
use crate::instructions;
use crate::join::{self, Sources};
use crate::model::{Report, Role, Run, SCHEMA};
use crate::parse::benchfmt::{self, BenchLine};
use crate::peers::{self, Prepared};
use crate::process::first_line;
use crate::rounds::{self, Slice};
use crate::workspace::Workspace;
use crate::{compare, history, machine, report, say, suites};

pub(crate) const HELP: &str = "\
cargo xtask bench [SYSTEM...] [OPTIONS]

Measures the suites beside their peers and writes target/report/{report.json, report.md, index.html}.

  SYSTEM                suite to measure; may be repeated [default: all]
  --row ROW             only rows whose key (system/row) contains ROW
  --table ID            only rows of this published table, such as perplexity.raw_sse; may be repeated
  --rounds N            number of alternating rounds, each with a process per implementation [default: 10; with --quick 2]
  --quick               short slices, for a first result
  --peers LANGUAGES     languages of peers, of rust,go,python,node,powershell [default: all that are installed]
  --import FILE         output of `go test -bench` of a Go project; may be repeated
  --compare OLD.json    compare with an earlier report.json, taking noise into account
  --fail-on-regression  with --compare: fail if a row became slower or allocates more
  --save                save the ratios of the run by commit in benches/history

cargo xtask bench --history

Draws the saved ratios over the commits in target/report/history.html.

cargo xtask bench --instructions [SYSTEM...] [--save]

Counts the instructions of hot paths under valgrind and fails if a count differs by more than 3 % from
benches/data/instructions.toml.

  --save                write that file
";

const ROUNDS: usize = crate::model::MIN_PROCESSES;
const QUICK_ROUNDS: usize = 2;
/// Load per processor before the run above which the report warns: wall times on a busy machine mean nothing.
const MAX_LOAD_PER_CORE: f64 = 0.5;
/// Load that the measurement itself adds: one process at a time, some with a garbage collector thread.
const OWN_LOAD: f64 = 1.5;

#[derive(Debug)]
struct Options {
    systems: Vec<String>,
    row: Option<String>,
    tables: Vec<String>,
    rounds: usize,
    slice: Slice,
    quick: bool,
    languages: Option<Vec<String>>,
    imports: Vec<String>,
    compare: Option<PathBuf>,
    fail_on_regression: bool,
    save: bool,
}

impl Options {
    fn parse(mut args: Args) -> Result<Self> {
        let quick = args.flag("--quick");
        let rounds = args.number("--rounds")?;
        let options = Self {
            row: args.value("--row")?,
            tables: args.values("--table")?,
            rounds: rounds.unwrap_or(if quick { QUICK_ROUNDS } else { ROUNDS }),
            slice: if quick { Slice::QUICK } else { Slice::NORMAL },
            quick,
            languages: args
                .value("--peers")?
                .map(|list| list.split(',').map(|language| language.trim().to_owned()).collect()),
            imports: args.values("--import")?,
            compare: args.value("--compare")?.map(PathBuf::from),
            fail_on_regression: args.flag("--fail-on-regression"),
            save: args.flag("--save"),
            systems: args.positionals()?,
        };
        args.finish()?;
        ensure!(options.rounds > 0, "--rounds must be at least 1");
        ensure!(
            options.compare.is_some() || !options.fail_on_regression,
            "--fail-on-regression needs --compare OLD.json"
        );
        Ok(options)
    }

    /// Returns the row patterns of the named tables; `None` if no table is named.
    fn keys(&self, sources: &Sources) -> Result<Option<Vec<String>>> {
        let mut keys = Vec::new();
        for table in &self.tables {
            ensure!(
                sources.seed.tables.iter().any(|one| one.id == *table),
                "--table: there is no published table {table}"
            );
            keys.extend(sources.keys_of(table));
        }
        Ok((!self.tables.is_empty()).then_some(keys))
    }
}

pub(crate) fn command(mut args: Args) -> Result<()> {
    if args.flag("--instructions") {
        return instructions::command(args);
    }
    if args.flag("--history") {
        args.finish()?;
        return history::show(&Workspace::find()?);
    }
    let options = Options::parse(args)?;
    let workspace = Workspace::find()?;
    let peers_file = PeersFile::load(&workspace.data())?;
    if let Some(languages) = &options.languages {
        for language in languages {
            let known =
                language == "rust" || peers_file.toolchains.iter().any(|one| one.language == *language);
            ensure!(known, "--peers: {language} is neither rust nor a toolchain of peers.toml");
        }
    }
    let sources = Sources::load(&workspace)?;
    let imported = import(&options.imports, &sources.seed)?;
    let keys = options.keys(&sources)?;
    // Before measuring for half an hour, so that an unreadable file is noticed at once.
    let before = options.compare.as_deref().map(report::read).transpose()?;

    // Before the build, which adds load and may run while files change.
    let begun = Run {
        date: machine::date(),
        commit: machine::commit(&workspace.root),
        settings: options.slice.describe(),
        load_before: machine::load(),
        ..Run::default()
    };
    let wanted = match &keys {
        Some(keys) if options.systems.is_empty() => suites::of_keys(&workspace, keys)?,
        _ => options.systems.clone(),
    };
    let systems = suites::select(&workspace, &wanted)?;
    let prepare = || {
        peers::prepare(
            &peers_file,
            &workspace,
            options.languages.as_deref(),
            Some(&systems),
            peers::Cargo::Build,
        )
    };
    // The peers are downloaded while the suites compile.
    let (suites, prepared) = thread::scope(|scope| {
        let prepared = scope.spawn(prepare);
        (suites::build(&workspace, &systems), prepared.join())
    });
    let mut suites = suites?;
    let prepared = prepared.map_err(|_| anyhow!("making the peers ready panicked"))?;
    if options.languages.as_ref().is_some_and(|languages| !languages.iter().any(|one| one == "rust")) {
        for suite in &mut suites {
            suite.rows.retain(|row| row.role != Role::Peer);
        }
    }
    let is_wanted = |key: &str| {
        options.row.as_deref().is_none_or(|row| key.contains(row))
            && keys.as_ref().is_none_or(|keys| keys.iter().any(|pattern| crate::data::matches(pattern, key)))
    };
    let sides = rounds::plan(&suites, &prepared.programs, is_wanted);
    ensure!(
        !sides.is_empty(),
        "no row of the suites is asked for; `cargo xtask load` measures servers, all at once"
    );

    let start = Instant::now();
    let has_threads = |key: &str| sources.groups.of(key).is_some_and(|group| group.has_threads);
    let mut rows = rounds::run(sides, &workspace, options.rounds, options.slice, has_threads);
    let run = describe_run(&options, prepared, begun, start.elapsed().as_secs_f64());
    join::add_imported(&mut rows, &imported, &sources);

    let mut report = Report { schema: SCHEMA, run, rows, ..Report::default() };
    report::add_proxy_runs(&mut report, &workspace)?;
    report.comparison = before.map(|before| compare::compare(&before, &report));
    say(&report::text(&report, &sources));
    report::write(&report, &sources, &workspace.report())?;
    if options.save {
        history::save(&report, &sources, &workspace)?;
    }
    conclude(&report, &options)
}

/// Returns an error for each condition that fails the command, after the report is written.
fn conclude(report: &Report, options: &Options) -> Result<()> {
    let ours = report.rows.iter().filter(|row| row.role == Role::Ours);
    let failed: Vec<String> = ours
        .filter_map(|row| Some(format!("{}/{}: {}", row.key, row.implementation, row.remark.as_ref()?)))
        .collect();
    ensure!(failed.is_empty(), "of ours, this failed: {}", failed.join("; "));
    report::fail_on_regression(report, options.fail_on_regression)
}

fn describe_run(options: &Options, prepared: Prepared, begun: Run, elapsed_s: f64) -> Run {
    let machine = machine::describe();
    let load_after = machine::load();
    let mut unfit = Vec::new();
    let limit = MAX_LOAD_PER_CORE * machine.cores as f64;
    if let Some(load) = begun.load_before.filter(|&load| load > limit) {
        unfit.push(format!("the load average at the start was {load:.2}, above {limit:.2}"));
    }
    if let Some(load) = load_after.filter(|&load| load > limit + OWN_LOAD) {
        unfit.push(format!("the load average at the end was {load:.2}, above {:.2}", limit + OWN_LOAD));
    }
    if options.quick {
        unfit.push("a quick run".to_owned());
    }
    let mut versions = vec![("rust".to_owned(), first_line("rustc", &["-V"]).unwrap_or_default())];
    versions.extend(prepared.versions.into_iter().filter(|(language, _)| language != "rust"));
    Run {
        machine,
        versions,
        load_after,
        rounds: options.rounds,
        unfit,
        missing_peers: prepared.missing,
        imports: options.imports.iter().map(|path| file_name(path)).collect(),
        elapsed_s,
        ..begun
    }
}

/// Returns the file name alone: reports contain no directories of the machine.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads imported files. Lines without a row are reported and ignored.
fn import(files: &[String], seed: &Seed) -> Result<BTreeMap<String, Vec<BenchLine>>> {
    let mut imported: BTreeMap<String, Vec<BenchLine>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let lines = benchfmt::parse(&text);
        ensure!(!lines.is_empty(), "{file} holds no output of `go test -bench`");
        for line in lines {
            match seed.key_of(&line) {
                Some(key) => imported.entry(key.to_owned()).or_default().push(line),
                None => crate::note(&format!("{file}: {} belongs to no published row", line.full_name)),
            }
        }
    }
    Ok(imported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options> {
        Options::parse(Args::new(line.split_whitespace().map(str::to_owned)))
    }

    #[test]
    fn quick_means_fewer_rounds_unless_told() {
        assert_eq!(options("sse").unwrap().rounds, ROUNDS);
        assert_eq!(options("--quick").unwrap().rounds, QUICK_ROUNDS);
        assert_eq!(options("--quick --rounds 3").unwrap().rounds, 3);
        assert!(options("--rounds 0").is_err());
    }

    #[test]
    fn a_regression_is_one_against_something() {
        assert!(options("--fail-on-regression").is_err());
        let options = options("--compare a.json --fail-on-regression --table a.b --table c.d").unwrap();
        assert_eq!((options.tables.len(), options.compare), (2, Some(PathBuf::from("a.json"))));
    }

    #[test]
    fn languages_are_a_list() {
        let options = options("sse --peers rust,go --row decode").unwrap();
        assert_eq!(options.languages.unwrap(), ["rust", "go"]);
        assert_eq!((options.systems, options.row.as_deref()), (vec!["sse".to_owned()], Some("decode")));
    }
}
