//! `cargo xtask bench`: builds the suites and peers, measures in alternating rounds, and writes the report.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Parser;

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

const ROUNDS: usize = crate::model::MIN_PROCESSES;
const QUICK_ROUNDS: usize = 2;

/// Measure the suites beside their peers
///
/// Writes target/report/{report.json, report.md, index.html}.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Suites to measure [default: all]
    #[arg(value_name = "SYSTEM")]
    systems: Vec<String>,
    /// Only rows whose key (system/row) contains ROW
    #[arg(long)]
    row: Option<String>,
    /// Only rows of this published table, such as perplexity.raw_sse; may be repeated
    #[arg(long = "table", value_name = "ID")]
    tables: Vec<String>,
    /// Number of alternating rounds, each with a process per implementation [default: 10; with --quick 2]
    #[arg(long, value_name = "N")]
    rounds: Option<NonZeroUsize>,
    /// Short slices, for a first result
    #[arg(long)]
    quick: bool,
    /// Languages of peers, of rust,go,cpp,python,node,powershell [default: all that are installed]
    #[arg(long = "peers", value_name = "LANGUAGES", value_delimiter = ',')]
    languages: Option<Vec<String>>,
    /// Output of `go test -bench` of a Go project; may be repeated
    #[arg(long = "import", value_name = "FILE")]
    imports: Vec<String>,
    /// Compare with an earlier report.json, taking noise into account
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Fail if a row became slower or allocates more
    #[arg(long, requires = "compare")]
    fail_on_regression: bool,
    /// Save the ratios of the run by commit in benches/history; with --instructions, the counts
    #[arg(long)]
    save: bool,
    /// Draw the saved ratios over the commits in target/report/history.html
    #[arg(long, exclusive = true)]
    history: bool,
    /// Count the instructions of hot paths under valgrind instead
    ///
    /// Fails if a count differs by more than 3 % from benches/data/instructions.toml.
    #[arg(long, conflicts_with_all = ["row", "tables", "rounds", "quick", "languages", "imports", "compare"])]
    instructions: bool,
}

impl Options {
    fn rounds(&self) -> usize {
        self.rounds.map_or(if self.quick { QUICK_ROUNDS } else { ROUNDS }, NonZeroUsize::get)
    }

    fn slice(&self) -> Slice {
        if self.quick { Slice::QUICK } else { Slice::NORMAL }
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

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    if options.instructions {
        return instructions::command(&options.systems, options.save, workspace);
    }
    if options.history {
        return history::show(workspace);
    }
    let peers_file = PeersFile::load(&workspace.data())?;
    if let Some(languages) = &options.languages {
        for language in languages {
            let known =
                language == "rust" || peers_file.toolchains.iter().any(|one| one.language == *language);
            ensure!(known, "--peers: {language} is neither rust nor a toolchain of peers.toml");
        }
    }
    let sources = Sources::load(workspace)?;
    let imported = import(&options.imports, &sources.seed)?;
    let keys = options.keys(&sources)?;
    // Before measuring for half an hour, so that an unreadable file is noticed at once.
    let before = options.compare.as_deref().map(report::read).transpose()?;

    // Before the build, which uses the processors and may run while files change.
    let begun = Run {
        date: machine::date(),
        commit: machine::commit(&workspace.root),
        settings: options.slice().describe(),
        busy_before: machine::busy(),
        ..Run::default()
    };
    let wanted = match &keys {
        Some(keys) if options.systems.is_empty() => suites::of_keys(workspace, keys)?,
        _ => options.systems.clone(),
    };
    let systems = suites::select(workspace, &wanted)?;
    let languages = options.languages.as_deref();
    let prepare = || peers::prepare(&peers_file, workspace, languages, Some(&systems), peers::Cargo::Build);
    // The peers are downloaded while the suites compile.
    let (suites, prepared) = thread::scope(|scope| {
        let prepared = scope.spawn(prepare);
        (suites::build(workspace, &systems), prepared.join())
    });
    let mut suites = suites?;
    let prepared = prepared.map_err(|_| anyhow!("making the peers ready panicked"))?;
    peers::write_list(&prepared, &workspace.report().join("peers.json"))?;
    if options.languages.as_ref().is_some_and(|languages| !languages.iter().any(|one| one == "rust")) {
        for suite in &mut suites {
            suite.rows.retain(|row| row.role != Role::Peer);
        }
    }
    let is_wanted = |key: &str| {
        options.row.as_deref().is_none_or(|row| key.contains(row))
            && keys.as_ref().is_none_or(|keys| keys.iter().any(|pattern| crate::data::matches(pattern, key)))
    };
    let sides = rounds::plan(&suites, is_wanted);
    ensure!(
        !sides.is_empty(),
        "no row of the suites is asked for; `cargo xtask load` measures servers, all at once"
    );

    let start = Instant::now();
    let has_threads = |key: &str| sources.groups.of(key).is_some_and(|group| group.has_threads);
    let mut rows = rounds::run(sides, workspace, options.rounds(), options.slice(), has_threads);
    let run = describe_run(options, prepared, begun, start.elapsed().as_secs_f64());
    join::add_imported(&mut rows, &imported, &sources);

    let mut report = Report { schema: SCHEMA, run, rows, ..Report::default() };
    report::add_proxy_runs(&mut report, workspace)?;
    report.comparison = before.map(|before| compare::compare(&before, &report));
    say(&report::text(&report, &sources));
    report::write(&report, &sources, &workspace.report())?;
    if options.save {
        history::save(&report, &sources, workspace)?;
    }
    conclude(&report, options)
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
    let mut versions = vec![("rust".to_owned(), first_line("rustc", &["-V"]).unwrap_or_default())];
    versions.extend(prepared.versions.into_iter().filter(|(language, _)| language != "rust"));
    Run {
        machine: machine::describe(),
        versions,
        busy_after: machine::busy(),
        rounds: options.rounds(),
        is_quick: options.quick,
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

    fn options(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("bench {line}").split_whitespace())
    }

    #[test]
    fn quick_means_fewer_rounds_unless_told() {
        assert_eq!(options("sse").unwrap().rounds(), ROUNDS);
        assert_eq!(options("--quick").unwrap().rounds(), QUICK_ROUNDS);
        assert_eq!(options("--quick --rounds 3").unwrap().rounds(), 3);
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
