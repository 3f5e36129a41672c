//! `cargo xtask bench`: builds everything, measures in alternating rounds, and writes the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::args::Args;
use crate::data::derived::DerivedFile;
use crate::data::peers::PeersFile;
use crate::data::recorded::RecordedFile;
use crate::data::seed::Seed;
use crate::join::{self, Sources};
use crate::parse::benchfmt::{self, BenchLine};
use crate::peers::{self, Prepared};
use crate::process::first_line;
use crate::report::{self, Report, Run, SCHEMA, markdown};
use crate::rounds::{self, Slice};
use crate::suites;
use crate::workspace::Workspace;
use crate::{machine, say};

pub(crate) const HELP: &str = "\
cargo xtask bench [SYSTEM...] [OPTIONS]

Measures every suite, or those named, and writes target/report/{report.json, report.md, index.html}.

  --row ROW           only rows whose key (system/row) contains ROW
  --rounds N          alternating rounds, default 5
  --quick             two rounds of short slices unless --rounds says otherwise: a first look
  --peers LANGUAGES   only peers in these, of rust,go,python,node; default: all that can be built here
  --import FILE       output of `go test -bench` of an original; may be repeated
";

const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 2;
/// A busy machine makes wall times meaningless.
const MAX_LOAD_PER_CORE: f64 = 0.5;
/// What the measuring itself adds: one process at a time, some with a thread for collecting garbage.
const OWN_LOAD: f64 = 1.5;

#[derive(Debug)]
struct Options {
    systems: Vec<String>,
    row: Option<String>,
    rounds: usize,
    slice: Slice,
    quick: bool,
    languages: Option<Vec<String>>,
    imports: Vec<String>,
}

impl Options {
    fn parse(mut args: Args) -> Result<Self> {
        let quick = args.flag("--quick");
        let rounds = args.number("--rounds")?;
        let options = Self {
            row: args.value("--row")?,
            rounds: rounds.unwrap_or(if quick { QUICK_ROUNDS } else { ROUNDS }),
            slice: if quick { Slice::QUICK } else { Slice::NORMAL },
            quick,
            languages: args
                .value("--peers")?
                .map(|list| list.split(',').map(|language| language.trim().to_owned()).collect()),
            imports: args.values("--import")?,
            systems: args.positionals()?,
        };
        args.finish()?;
        ensure!(options.rounds > 0, "--rounds must be at least 1");
        Ok(options)
    }
}

pub(crate) fn command(args: Args) -> Result<()> {
    let options = Options::parse(args)?;
    let workspace = Workspace::find()?;
    let data = workspace.data();
    let peers_file = PeersFile::load(&data)?;
    if let Some(languages) = &options.languages {
        for language in languages {
            let known =
                language == "rust" || peers_file.toolchains.iter().any(|one| one.language == *language);
            ensure!(known, "--peers: {language} is neither rust nor a toolchain of peers.toml");
        }
    }
    let seed = Seed::load(&data)?;
    let imported = import(&options.imports, &seed)?;
    let sources =
        Sources { seed, recorded: RecordedFile::load(&data)?, derived: DerivedFile::load(&data)?, imported };

    // Before anything is built: the build's own load says nothing about what else runs here.
    let load_before = machine::load();
    // Also before: the tree may move on while the measuring runs.
    let commit = machine::commit(&workspace.root);
    let mut suites = suites::build(&workspace, &options.systems)?;
    if options.languages.as_ref().is_some_and(|languages| !languages.iter().any(|one| one == "rust")) {
        for suite in &mut suites {
            suite.listed.retain(|listed| listed.role != report::Role::Peer);
        }
    }
    let systems: Vec<String> = suites.iter().map(|suite| suite.system.clone()).collect();
    let prepared = peers::prepare(&peers_file, &workspace, options.languages.as_deref(), Some(&systems));
    let mut sides = rounds::plan(&suites, &prepared.programs, options.row.as_deref());
    ensure!(!sides.is_empty(), "no row matches {}", options.row.as_deref().unwrap_or("the suites named"));

    let (date, start) = (machine::date(), Instant::now());
    rounds::run(&mut sides, &suites, &prepared.programs, &workspace, options.rounds, options.slice)?;
    let run = describe_run(&options, prepared, commit, date, load_before, start);

    let rows = join::rows(&sides, &sources);
    let (tables, published_not_measured) = join::tables(&rows, &sources);
    let summaries = join::summaries(&rows);
    let (load, fleet) = (crate::load::latest(&workspace)?, crate::fleet::latest(&workspace)?);
    let report = Report { schema: SCHEMA, run, rows, tables, summaries, published_not_measured, load, fleet };
    let paths = report::write(&report, &workspace.report())?;
    say(&markdown::render(&report));
    for path in paths {
        say(&format!("\n{}", path.display()));
    }
    say("\n");
    Ok(())
}

fn describe_run(
    options: &Options,
    prepared: Prepared,
    commit: Option<String>,
    date: String,
    load_before: Option<f64>,
    start: Instant,
) -> Run {
    let machine = machine::describe();
    let load_after = machine::load();
    let mut unfit = Vec::new();
    let limit = MAX_LOAD_PER_CORE * machine.cores as f64;
    if let Some(load) = load_before.filter(|&load| load > limit) {
        unfit.push(format!("the load average at the start was {load:.2}, above {limit:.2}"));
    }
    if let Some(load) = load_after.filter(|&load| load > limit + OWN_LOAD) {
        unfit.push(format!("the load average at the end was {load:.2}, above {:.2}", limit + OWN_LOAD));
    }
    if options.quick {
        unfit.push("a quick run".to_owned());
    }
    let mut versions = vec![("rust".to_owned(), first_line("rustc", &["-V"]).unwrap_or_default())];
    versions.extend(prepared.versions);
    let slice = options.slice;
    Run {
        date,
        machine,
        versions,
        commit,
        load_before,
        load_after,
        rounds: options.rounds,
        settings: format!(
            "{} ms warm-up and {} ms in {} samples per implementation and round",
            slice.warm_up.as_millis(),
            slice.measure.as_millis(),
            slice.samples
        ),
        unfit,
        missing_peers: prepared.missing,
        imports: options.imports.iter().map(|path| file_name(path)).collect(),
        elapsed_s: start.elapsed().as_secs_f64(),
    }
}

/// Directories of one machine are of no use in a report.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads imported files; lines without a row are named and left out.
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
    fn languages_are_a_list() {
        let options = options("sse --peers rust,go --row decode").unwrap();
        assert_eq!(options.languages.unwrap(), ["rust", "go"]);
        assert_eq!((options.systems, options.row.as_deref()), (vec!["sse".to_owned()], Some("decode")));
    }
}
