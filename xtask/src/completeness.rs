//! Checks that every published row has a row in the harness or a reason, and vice versa.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use bench_report::Sources;
use bench_report::model::Row;
use bench_report::sources::matches;

use crate::cargo::Messages;
use crate::workspace::Workspace;
use crate::{cargo, proxy};

/// Lists the rows of the suites and compares them with the committed files.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let sources = Sources::load(&workspace.root)?;
    let rows = rows(workspace)?;
    let keys = rows.iter().flat_map(|row| row.aliases.iter().chain([&row.key])).cloned();
    let keys: BTreeSet<String> = keys.chain(proxy::keys(workspace)?).collect();
    let gaps = gaps(&sources, &keys);
    let seed = &sources.seed;
    let entries = seed.systems.len() + seed.benches().count() + seed.tables().count() + seed.lines().count();
    let (keys, count) = (keys.len(), gaps.len());
    crate::say(&format!("{entries} published entries, {keys} rows of the harness, {count} gaps\n"));
    ensure!(gaps.is_empty(), "{}", gaps.join("\n"));
    Ok(())
}

/// Returns the rows of all suites as built for the tests of the gate, so that listing them compiles nothing.
fn rows(workspace: &Workspace) -> Result<Vec<Row>> {
    let mut command = cargo::test_suites(workspace)?;
    command.args(["--no-run", "--message-format=json"]);
    let messages = Messages::of(command)?;
    if !messages.is_success {
        messages.diagnostics().for_each(crate::say);
        bail!("the suites do not build");
    }
    let mut rows = Vec::new();
    for (system, executable) in messages.benches() {
        let output = Command::new(executable).args(["--bench", "--list", "--format", "json"]).output()?;
        ensure!(output.status.success(), "{system}: {}", String::from_utf8_lossy(&output.stderr).trim());
        for line in String::from_utf8(output.stdout)?.lines().filter(|line| line.starts_with('{')) {
            rows.push(serde_json::from_str(line).with_context(|| format!("{system}: not a row: {line}"))?);
        }
    }
    ensure!(!rows.is_empty(), "there is no suite");
    Ok(rows)
}

/// Returns a message for each entry without a counterpart. `keys` are the rows of the harness.
fn gaps(sources: &Sources, keys: &BTreeSet<String>) -> Vec<String> {
    let seed = &sources.seed;
    let mut gaps = Vec::new();
    let has = |key: &str| {
        let parts = sources.rows.parts(key);
        keys.contains(key) || parts.iter().all(|part| keys.iter().any(|key| matches(part, key)))
    };
    let systems = seed.systems.iter().filter(|system| system.tables.is_empty()).map(|system| &system.id);
    let tables = seed.tables().filter(|table| table.lines.is_empty()).map(|table| &table.id);
    gaps.extend(systems.chain(tables).map(|id| format!("{id}: nothing published")));
    for bench in seed.benches() {
        let is_published =
            bench.published || seed.lines().any(|(_, line)| line.bench.as_ref() == Some(&bench.key));
        match (has(&bench.key), sources.unmeasured(&bench.key)) {
            (true, Some(_)) => gaps.push(format!("{}: measured, and listed in unmeasured.toml", bench.key)),
            (false, None) => gaps.push(format!("{}: no row in the harness", bench.key)),
            (false, Some(_)) if is_published => {
                gaps.push(format!("{}: published, and not measured", bench.key))
            }
            _ => {}
        }
    }
    for table in seed.tables() {
        for line in &table.lines {
            let name = table.name_of(line);
            let (_, rows) = sources.rows_of(table, line);
            let is_mapped = sources.lines.values().any(|lines| lines.contains_key(&name));
            match sources.unmeasured(&name) {
                Some(_) if is_mapped => {
                    gaps.push(format!("{name}: has rows, and is listed in unmeasured.toml"))
                }
                None if rows.is_empty() => {
                    gaps.push(format!(
                        "{name}: neither a benchmark, nor in lines.toml, nor in unmeasured.toml"
                    ));
                }
                _ if is_mapped => {
                    let without = rows.iter().filter(|key| !has(key));
                    gaps.extend(without.map(|key| format!("{name}: {key} is no row of the harness")));
                }
                _ => {}
            }
        }
    }
    for key in keys {
        if sources.group_of(key).is_none() {
            gaps.push(format!("{key}: in no group of groups.toml"));
        }
        let is_bench = seed.benches().any(|bench| bench.key == *key);
        match (is_bench || sources.rows.is_part(key), sources.rows.added(key)) {
            (true, Some(_)) if is_bench => {
                gaps.push(format!("{key}: in a report, and said to be ours in rows.toml"));
            }
            (false, None) => gaps.push(format!("{key}: in no report, and rows.toml has no reason for it")),
            _ => {}
        }
    }
    for entry in &sources.rows.added {
        let idle = entry.rows.iter().filter(|row| !keys.iter().any(|key| matches(row, key)));
        gaps.extend(idle.map(|row| format!("rows.toml: {row} is no row of the harness")));
    }
    for entry in &sources.unmeasured {
        let benches = entry.benches.iter().filter(|key| !seed.benches().any(|one| one.key == **key));
        let lines = entry.lines.iter().filter(|line| !seed.lines().any(|(name, _)| name == **line));
        gaps.extend(benches.chain(lines).map(|name| format!("unmeasured.toml: {name} is unknown")));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources::load(&Workspace::find().unwrap().root).unwrap()
    }

    /// Returns exactly the rows that the committed files require.
    fn wanted(sources: &Sources) -> BTreeSet<String> {
        let measured = sources.seed.benches().filter(|bench| sources.unmeasured(&bench.key).is_none());
        let parts = measured.flat_map(|bench| sources.rows.parts(&bench.key));
        let added = sources.rows.added.iter().flat_map(|entry| entry.rows.clone());
        parts.chain(added).map(|pattern| pattern.replace('*', "x")).collect()
    }

    #[test]
    fn the_committed_files_place_every_published_entry() {
        let sources = sources();
        assert_eq!(gaps(&sources, &wanted(&sources)), [""; 0]);
    }

    #[test]
    fn a_gap_is_named_on_either_side() {
        let sources = sources();
        let mut keys = wanted(&sources);
        keys.remove("sse/decode_allocations");
        keys.insert("sse/new".to_owned());
        assert_eq!(
            gaps(&sources, &keys),
            [
                "sse/decode_allocations: no row in the harness",
                "sse/new: in no group of groups.toml",
                "sse/new: in no report, and rows.toml has no reason for it"
            ]
        );
    }

    #[test]
    fn what_is_published_is_not_excused() {
        let mut sources = sources();
        let mut keys = wanted(&sources);
        keys.remove("sse/decode_allocations");
        sources.unmeasured[0].benches.push("sse/decode_allocations".to_owned());
        assert_eq!(gaps(&sources, &keys), ["sse/decode_allocations: published, and not measured"]);
    }
}
