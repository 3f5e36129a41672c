//! `cargo xtask bench`: builds the peers in other languages, runs the suites, and writes the report.

mod import;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use bench_report::Sources;
use clap::Parser;

use crate::workspace::Workspace;
use crate::{cargo, compare, instructions, peers, report, say, tidy};

/// The suite whose peers ask for a build for the processor of the machine.
const NATIVE: &str = "json";

/// Compare ours with peers in Rust and other languages
///
/// Builds the peers, runs the suites and a native build of the suite json, and writes target/report/{report.json, report.md,
/// index.html, pairs.csv.gz}.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Suites to measure [default: all]
    #[arg(value_name = "SYSTEM")]
    systems: Vec<String>,
    /// Only rows whose key (system/row) contains ROW
    #[arg(long, conflicts_with = "tables")]
    row: Option<String>,
    /// Only rows of this published table, such as perplexity.raw_sse; may be repeated
    #[arg(long = "table", value_name = "ID")]
    tables: Vec<String>,
    /// Output of `go test -bench` of a Go project; may be repeated
    #[arg(long = "import", value_name = "FILE")]
    imports: Vec<String>,
    /// List the changes since an earlier report.json
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Fail if a row became slower or allocates more
    #[arg(long, requires = "compare")]
    fail_on_regression: bool,
    /// Save the ratios of the run by commit in benches/history; with --instructions, the counts
    #[arg(long)]
    save: bool,
    /// Print the saved ratios by commit
    #[arg(long, exclusive = true)]
    history: bool,
    /// Count the instructions of hot paths under valgrind instead
    ///
    /// Fails if a count differs by more than 3 % from benches/data/instructions.toml.
    #[arg(long, conflicts_with_all = ["row", "tables", "imports", "compare"])]
    instructions: bool,
}

/// A benchmark binary.
#[derive(Clone, Debug)]
struct Suite {
    package: String,
    name: String,
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    if options.instructions {
        return instructions::command(&options.systems, options.save, workspace);
    }
    if options.history {
        say(&bench_report::history(&Sources::load(&workspace.root)?));
        return Ok(());
    }
    // Before measuring for half an hour, so that an unreadable file is noticed at once.
    let sources = Sources::load(&workspace.root)?;
    let imported = import::read(&options.imports, &sources)?;
    let before = options.compare.as_deref().map(bench_report::read).transpose()?;
    let filters = filters(options, &sources)?;
    let suites = select(workspace, &options.systems, &filters)?;

    let systems: Vec<String> = suites.iter().map(|suite| suite.name.clone()).collect();
    let prepared = peers::prepare(workspace, Some(&systems), peers::Cargo::Build)?;
    let list = peers::write_list(&prepared, workspace)?;
    let native: Vec<Suite> = suites.iter().filter(|suite| suite.name == NATIVE).cloned().collect();
    let mut has_failed = false;
    for (suites, is_native) in [(&suites, false), (&native, true)] {
        if !suites.is_empty() {
            let mut command = run(suites, workspace, &filters, is_native);
            command.env("BENCH_PEERS", &list);
            has_failed |= !command.status().context("cannot start cargo")?.success();
        }
    }

    let mut report = bench_report::collect(&workspace.report(), &sources)?;
    let run = &mut report.run;
    run.versions.extend(prepared.versions.into_iter().filter(|(language, _)| language != "rust"));
    run.missing_peers.extend(prepared.missing);
    // Reports contain no folders of the machine.
    let name = |path: &String| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    run.imports = options.imports.iter().map(name).collect();
    import::add(&mut report.rows, &imported);
    report::add_proxy_runs(&mut report, workspace)?;
    let regressions = before.map_or(0, |before| compare::compare(&before, &mut report));
    say(&bench_report::text(&report, &sources));
    report::write(&report, &sources, workspace)?;
    if options.save {
        say(&format!("{}\n", bench_report::save(&report, &sources, &workspace.root)?.display()));
    }
    ensure!(!has_failed, "a suite failed; its message is above");
    ensure!(!options.fail_on_regression || regressions == 0, "{regressions} regressions");
    Ok(())
}

/// Returns the filters of the rows: the text of `--row`, or the keys of the named tables. Without any, all rows are wanted.
fn filters(options: &Options, sources: &Sources) -> Result<Vec<String>> {
    let mut filters: Vec<String> = options.row.iter().cloned().collect();
    for table in &options.tables {
        let keys = sources
            .keys_of(table)
            .with_context(|| format!("--table: there is no published table {table}"))?;
        filters.extend(keys.iter().map(|key| key.trim_end_matches('*').to_owned()));
    }
    ensure!(
        options.tables.is_empty() || !filters.is_empty(),
        "no run measures a line of {}",
        options.tables.join(", ")
    );
    Ok(filters)
}

/// Returns the named suites, or those that may have rows with these keys. Fails for an unknown name.
fn select(workspace: &Workspace, systems: &[String], filters: &[String]) -> Result<Vec<Suite>> {
    let packages = tidy::packages(workspace)?;
    let suites = packages.iter().flat_map(|package| {
        let suite = |name: &str| Suite { package: package.name.clone(), name: name.to_owned() };
        package.benches().map(suite)
    });
    let mut suites: Vec<Suite> = suites.collect();
    for system in systems {
        let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
        ensure!(
            names.contains(&system.as_str()),
            "there is no suite {system}; there are {}",
            names.join(", ")
        );
    }
    // The rows of a system may be in several suites, such as `pypi_proxy_requests`.
    let has_row = |suite: &Suite| {
        let mut systems = filters.iter().map(|filter| filter.split_once('/').map(|(system, _)| system));
        filters.is_empty() || systems.any(|system| system.is_none_or(|system| suite.name.starts_with(system)))
    };
    suites.retain(|suite| if systems.is_empty() { has_row(suite) } else { systems.contains(&suite.name) });
    ensure!(!suites.is_empty(), "no suite has such rows; `cargo xtask load` measures servers, all at once");
    Ok(suites)
}

/// Returns the command that builds and runs suites.
fn run(suites: &[Suite], workspace: &Workspace, filters: &[String], is_native: bool) -> Command {
    let mut command = cargo::command(workspace, &["bench", "--no-fail-fast"]);
    for suite in suites {
        command.args(["--package", &suite.package, "--bench", &suite.name]);
    }
    command.args(["--", "--no-criterion"]).args(filters).env("BENCH_REPORT", workspace.report());
    if is_native {
        command
            .env("BENCH_BUILD", "native")
            .env("RUSTFLAGS", "-C target-cpu=native")
            .env("CARGO_TARGET_DIR", workspace.target.join("native"));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("bench {line}").split_whitespace())
    }

    #[test]
    fn a_regression_is_one_against_something() {
        assert!(options("--fail-on-regression").is_err());
        let options = options("--compare a.json --fail-on-regression --table a.b --table c.d").unwrap();
        assert_eq!((options.tables.len(), options.compare), (2, Some(PathBuf::from("a.json"))));
    }

    #[test]
    fn rows_and_tables_name_their_suites() {
        let workspace = Workspace::find().unwrap();
        let sources = Sources::load(&workspace.root).unwrap();
        let suites = |line: &str| {
            let options = options(line).unwrap();
            let filters = filters(&options, &sources)?;
            let suites = select(&workspace, &options.systems, &filters)?;
            anyhow::Ok(suites.into_iter().map(|suite| suite.name).collect::<Vec<_>>())
        };
        assert_eq!(suites("sse --row decode").unwrap(), ["sse"]);
        assert_eq!(suites("--row client/client_do").unwrap(), ["client"]);
        assert_eq!(suites("--table perplexity.raw_sse").unwrap(), ["sse"]);
        assert!(suites("").unwrap().len() > 5);
        for wrong in ["sse2", "--table perplexity.none", "--row nothing/x"] {
            assert!(suites(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn suites_are_run_in_both_builds() {
        let workspace = Workspace::find().unwrap();
        let suite = Suite { package: "json-bench".to_owned(), name: "json".to_owned() };
        let command =
            |is_native| run(std::slice::from_ref(&suite), &workspace, &["json/a".to_owned()], is_native);
        let arguments: Vec<_> =
            command(false).get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(
            arguments.join(" "),
            "bench --no-fail-fast --package json-bench --bench json -- --no-criterion json/a"
        );
        let has = |is_native, name: &str| command(is_native).get_envs().any(|(variable, _)| variable == name);
        assert!(has(true, "RUSTFLAGS") && !has(false, "RUSTFLAGS") && has(true, "BENCH_REPORT"));
    }
}
