//! Checks that every published row has a row in the harness or a reason, and vice versa.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::data::matches;
use crate::join::Sources;
use crate::workspace::Workspace;
use crate::{proxy, suites};

/// Lists the rows of the suites and compares them with the committed files.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let sources = Sources::load(workspace)?;
    let suites = suites::tested(workspace)?;
    let mut keys: BTreeSet<String> =
        suites.iter().flat_map(|suite| &suite.rows).map(|row| row.key.clone()).collect();
    keys.extend(proxy::keys(workspace)?);
    let gaps = gaps(&sources, &keys);
    let seed = &sources.seed;
    let entries = seed.systems.len() + seed.benches.len() + seed.tables.len() + seed.rows.len();
    crate::say(&format!(
        "{entries} published entries, {} rows of the harness, {} gaps\n",
        keys.len(),
        gaps.len()
    ));
    ensure!(gaps.is_empty(), "{}", gaps.join("\n"));
    Ok(())
}

/// Returns a message for each entry without a counterpart. `keys` are the rows of the harness.
fn gaps(sources: &Sources, keys: &BTreeSet<String>) -> Vec<String> {
    let seed = &sources.seed;
    let mut gaps = Vec::new();
    let has = |key: &str| {
        let parts = sources.rows.parts(key);
        keys.contains(key)
            || (!parts.is_empty() && parts.iter().all(|part| keys.iter().any(|key| matches(part, key))))
    };
    for system in &seed.systems {
        if !seed.tables.iter().any(|table| table.system == system.id) {
            gaps.push(format!("report {}: no table", system.id));
        }
    }
    for table in &seed.tables {
        if !seed.rows.iter().any(|row| row.table == table.id) {
            gaps.push(format!("table {}: no line", table.id));
        }
    }
    for bench in &seed.benches {
        let is_published =
            bench.published || seed.rows.iter().any(|row| row.bench.as_ref() == Some(&bench.key));
        match (has(&bench.key), sources.unmeasured.bench(&bench.key)) {
            (true, Some(_)) => gaps.push(format!("{}: measured, and listed in unmeasured.toml", bench.key)),
            (false, None) => gaps.push(format!("{}: no row in the harness", bench.key)),
            (false, Some(_)) if is_published => {
                gaps.push(format!("{}: published, and not measured", bench.key))
            }
            _ => {}
        }
    }
    for row in &seed.rows {
        let name = row.name();
        let is_unmeasured = sources.unmeasured.line(&name).is_some();
        let (_, rows) = sources.rows_of(row);
        match sources.lines.find(&name) {
            Some(_) if is_unmeasured => {
                gaps.push(format!("{name}: has rows, and is listed in unmeasured.toml"));
            }
            None if rows.is_empty() && !is_unmeasured => {
                gaps.push(format!("{name}: neither a benchmark, nor in lines.toml, nor in unmeasured.toml"));
            }
            Some(_) => {
                let without = rows.iter().filter(|key| !has(key));
                gaps.extend(without.map(|key| format!("{name}: {key} is no row of the harness")));
            }
            None => {}
        }
    }
    for key in keys {
        if sources.groups.of(key).is_none() {
            gaps.push(format!("{key}: in no group of groups.toml"));
        }
        let is_published = seed.benches.iter().any(|bench| bench.key == *key) || sources.rows.is_part(key);
        match (is_published, sources.rows.added(key)) {
            (true, Some(_)) if seed.benches.iter().any(|bench| bench.key == *key) => {
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
    for entry in &sources.unmeasured.unmeasured {
        let benches = entry.benches.iter().filter(|key| !seed.benches.iter().any(|one| one.key == **key));
        let lines = entry.lines.iter().filter(|line| !seed.rows.iter().any(|row| row.name() == **line));
        gaps.extend(benches.chain(lines).map(|name| format!("unmeasured.toml: {name} is unknown")));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::sources;

    /// Returns exactly the rows that the committed files require.
    fn wanted(sources: &Sources) -> BTreeSet<String> {
        let benches = sources.seed.benches.iter().map(|bench| &bench.key);
        let measured = benches.filter(|key| sources.unmeasured.bench(key).is_none());
        let whole = measured.clone().filter(|key| sources.rows.parts(key).is_empty()).cloned();
        let parts = measured.flat_map(|key| sources.rows.parts(key));
        let added = sources.rows.added.iter().flat_map(|entry| &entry.rows);
        whole.chain(parts.chain(added).map(|pattern| pattern.replace('*', "x"))).collect()
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
        sources.unmeasured.unmeasured[0].benches.push("sse/decode_allocations".to_owned());
        assert_eq!(gaps(&sources, &keys), ["sse/decode_allocations: published, and not measured"]);
    }
}
