//! Joins measured figures with published, recorded and imported ones.

mod imported;
mod measure;
mod ratio;
mod tables;
mod verdict;

use std::collections::BTreeMap;

use anyhow::Result;

use self::imported::Imported;
use self::measure::Facts;
pub(crate) use self::measure::Party;
pub(crate) use self::verdict::Outcome;
use crate::data::claims::ClaimsFile;
use crate::data::placement::{RowsFile, UnmeasuredFile};
use crate::data::recorded::RecordedFile;
use crate::data::seed::Seed;
use crate::parse::Timing;
use crate::parse::benchfmt::BenchLine;
use crate::report::{Absent, Published, Report, Role, Row, System, Throughput, Time};
use crate::rounds::Side;
use crate::stats;
use crate::workspace::Workspace;

/// The inputs of a report besides the measurements.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) seed: Seed,
    pub(crate) recorded: RecordedFile,
    pub(crate) claims: ClaimsFile,
    pub(crate) unmeasured: UnmeasuredFile,
    pub(crate) rows: RowsFile,
    /// Imported output, by row key.
    pub(crate) imported: BTreeMap<String, Vec<BenchLine>>,
}

impl Sources {
    /// Reads the committed files.
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        let data = workspace.data();
        Ok(Self {
            seed: Seed::load(&data)?,
            recorded: RecordedFile::load(&data)?,
            claims: ClaimsFile::load(&data)?,
            unmeasured: UnmeasuredFile::load(&data)?,
            rows: RowsFile::load(&data)?,
            imported: BTreeMap::new(),
        })
    }
}

impl Sources {
    /// Returns the suites with rows of a report.
    fn suites_of(&self, system: &str, rows: &[Row]) -> Vec<String> {
        let benches = self.seed.benches.iter().filter(|bench| bench.system == system);
        let of_benches = benches.filter_map(|bench| bench.key.split('/').next());
        // A system may have further suites besides the one with its published rows.
        let of_rows = rows.iter().map(|row| row.system.as_str()).filter(|suite| suite.starts_with(system));
        let mut suites: Vec<String> = of_benches.chain(of_rows).map(str::to_owned).collect();
        suites.sort();
        suites.dedup();
        suites
    }

    /// Returns patterns for the rows of a published table.
    pub(crate) fn keys_of(&self, table: &str) -> Vec<String> {
        let mut keys = Vec::new();
        for row in self.seed.rows.iter().filter(|row| row.table == table) {
            match self.claims.find(table, &row.id) {
                Some(claim) => keys.extend(claim.terms.iter().map(|term| term.key.clone())),
                None => keys.extend(row.bench.clone()),
            }
        }
        let parts: Vec<String> = keys.iter().flat_map(|key| self.rows.parts(key)).cloned().collect();
        keys.extend(parts);
        keys
    }
}

/// Computes the derived parts of a report from its rows, its load run and the committed files.
pub(crate) fn complete(report: &mut Report, sources: &Sources) {
    let facts = Facts { rows: &report.rows, load: report.load.as_ref(), recorded: &sources.recorded };
    let tables = tables::tables(&facts, sources);
    let overview = verdict::overview(&facts, &tables, sources);
    report.summaries = verdict::summaries(&report.rows);
    report.claims = tables::claims(&tables, sources);
    (report.tables, report.overview) = (tables, overview);
    let system = |system: &crate::data::seed::System| System {
        id: system.id.clone(),
        name: system.name.clone(),
        role: system.role.clone(),
        suites: sources.suites_of(&system.id, &report.rows),
    };
    report.systems = sources.seed.systems.iter().map(system).collect();
    let absent = |entry: &crate::data::placement::Unmeasured| Absent {
        what: entry.benches.iter().chain(&entry.lines).cloned().collect(),
        reason: entry.reason.clone(),
    };
    report.absent = sources.unmeasured.unmeasured.iter().map(absent).collect();
    let added = |entry: &crate::data::placement::Remark| Absent {
        what: entry.rows.clone(),
        reason: entry.text.clone(),
    };
    report.added = sources.rows.added.iter().map(added).collect();
}

/// Creates the rows of the report from the sides of every row.
pub(crate) fn rows(sides: &[Vec<Side>], sources: &Sources) -> Vec<Row> {
    sides.iter().flat_map(|sides| row(sides, sources)).collect()
}

fn row(sides: &[Side], sources: &Sources) -> Vec<Row> {
    let Some(first) = sides.first() else { return Vec::new() };
    let key = &first.listed.key;
    let published = sources.seed.published(key);
    let table = published.as_ref().map(|(table, _)| table.id.clone());
    let published: Option<Published> = published.map(|(_, published)| published);
    let imported = sources.imported.get(key).and_then(|lines| Imported::of(lines, sources, key));

    let mut rows: Vec<Row> = sides
        .iter()
        .map(|side| {
            let mut row = bare_row(side);
            row.table.clone_from(&table);
            row.published.clone_from(&published);
            row.recorded = sources.recorded.of(key);
            if side.listed.role == Role::Ours {
                if let Some(reason) = sources.rows.incomparable(key) {
                    row.verdict = format!("not compared: {reason}");
                    return row;
                }
                let ratios = ratio::ratios(side, sides, imported.as_ref(), &row.recorded);
                row.verdict = verdict::words(ratios.best_peer.as_ref());
                row.ratio_vs = Some(ratios);
            }
            row
        })
        .collect();
    if let Some(imported) = imported {
        let mut row = bare_row(first);
        row.table = table;
        row.published = published;
        imported.describe(&mut row);
        rows.push(row);
    }
    // Ours first, then the Go project, then the peers from fast to slow, then the limits of the machine.
    let rank = |row: &Row| match row.role {
        Role::Ours => 0,
        Role::Original => 1,
        Role::OriginalStandin => 2,
        Role::Peer => 3,
        Role::Limit => 4,
    };
    let fastest = |row: &Row| row.time_ns.as_ref().map_or(f64::INFINITY, |time| time.min);
    rows.sort_by(|a, b| {
        let by_time = || match a.role {
            // The suite's order of our own variants means something, such as from reader to borrowed.
            Role::Ours => std::cmp::Ordering::Equal,
            _ => fastest(a).total_cmp(&fastest(b)),
        };
        rank(a).cmp(&rank(b)).then_with(by_time)
    });
    rows
}

fn bare_row(side: &Side) -> Row {
    let listed = &side.listed;
    let (system, name) = listed.key.split_once('/').unwrap_or(("", &listed.key));
    let rounds: Vec<f64> = side.timings.iter().map(Timing::typical_ns).collect();
    let time_ns = time(&rounds, side.sampled);
    let verdict = match (&side.failure, side.sampled) {
        (Some(failure), _) => failure.clone(),
        (None, false) => "one call per round: it exceeds the time guard".to_owned(),
        (None, true) => String::new(),
    };
    let mut row = Row {
        system: system.to_owned(),
        table: None,
        row: name.to_owned(),
        implementation: listed.implementation.clone(),
        role: listed.role,
        language: listed.language.clone(),
        version: listed.version.clone(),
        class: listed.class.clone(),
        time_ns,
        bytes_op: side.bytes_op,
        allocs_op: side.allocs_op,
        counts_deterministic: side.deterministic,
        payload_bytes: listed.payload_bytes,
        elements: listed.elements,
        throughput: None,
        published: None,
        recorded: Vec::new(),
        ratio_vs: None,
        verdict,
    };
    row.throughput = throughput(&row);
    row
}

fn time(rounds: &[f64], sampled: bool) -> Option<Time> {
    Some(Time {
        min: stats::minimum(rounds)?,
        median: stats::median(rounds)?,
        max: stats::maximum(rounds)?,
        rounds: rounds.to_vec(),
        sampled,
    })
}

fn throughput(row: &Row) -> Option<Throughput> {
    let nanoseconds = row.time_ns.as_ref()?.min;
    let rate = |amount: u64| amount as f64 * 1e9 / nanoseconds;
    let throughput =
        Throughput { bytes_per_s: row.payload_bytes.map(rate), elements_per_s: row.elements.map(rate) };
    (throughput.bytes_per_s.is_some() || throughput.elements_per_s.is_some()).then_some(throughput)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::benchfmt;
    use crate::parse::record::Listed;

    const KEY: &str = "sse/decode_simple_event";

    pub(super) fn side(implementation: &str, role: Role, class: Option<&str>, medians: &[f64]) -> Side {
        let listed = Listed {
            key: KEY.to_owned(),
            implementation: implementation.to_owned(),
            role,
            language: "rust".to_owned(),
            version: None,
            class: class.map(str::to_owned),
            payload_bytes: Some(25),
            elements: Some(1),
        };
        let timing = |&median: &f64| Timing { median_ns: Some(median), mean_ns: median + 10.0 };
        Side::with_timings(listed, medians.iter().map(timing).collect())
    }

    pub(super) fn go_side(implementation: &str, role: Role, means: &[f64]) -> Side {
        let mut side = side(implementation, role, Some("owned"), means);
        "go".clone_into(&mut side.listed.language);
        for (timing, mean) in side.timings.iter_mut().zip(means) {
            *timing = Timing { median_ns: None, mean_ns: *mean };
        }
        side
    }

    /// The committed files, with imported output.
    pub(super) fn sources(import: &str) -> Sources {
        let mut sources = Sources::load(&Workspace::find().unwrap()).unwrap();
        let lines = benchfmt::parse(import);
        if !lines.is_empty() {
            let key = sources.seed.key_of(&lines[0]).unwrap().to_owned();
            sources.imported.insert(key, lines);
        }
        sources
    }

    #[test]
    fn a_row_carries_published_recorded_and_imported_figures() {
        let import = "cpu: Some CPU\nBenchmarkDecoder_Decode_SimpleEvent-32 1798516 600.0 ns/op 4336 B/op 7 allocs/op\n\
                      BenchmarkDecoder_Decode_SimpleEvent-32 1798516 620.0 ns/op 4336 B/op 7 allocs/op\n";
        let sides = vec![vec![
            side("peer", Role::Peer, None, &[30.0]),
            side("a", Role::Ours, None, &[20.0, 10.0]),
            go_side("original-standin", Role::OriginalStandin, &[900.0, 900.0]),
        ]];
        let rows = rows(&sides, &sources(import));
        let order: Vec<&str> = rows.iter().map(|row| row.implementation.as_str()).collect();
        assert_eq!(order, ["a", "perplexity-go", "original-standin", "peer"]);

        let ours = &rows[0];
        assert_eq!((ours.system.as_str(), ours.row.as_str()), ("sse", "decode_simple_event"));
        assert_eq!(ours.table.as_deref(), Some("perplexity.raw_sse"));
        assert_eq!(ours.published.as_ref().unwrap().time_ns, Some(611.0));
        assert_eq!(ours.recorded[0].time_ns, 1562.0);
        assert_eq!(ours.time_ns.as_ref().unwrap().min, 10.0);
        assert_eq!(ours.throughput.as_ref().unwrap().bytes_per_s, Some(2.5e9));
        let ratios = ours.ratio_vs.as_ref().unwrap();
        let original = ratios.original.as_ref().unwrap();
        assert_eq!((original.against.as_str(), original.min, original.max), ("perplexity-go", 30.5, 61.0));
        assert_eq!(ratios.recorded_original.as_ref().unwrap().of_minima, 156.2);

        let imported = &rows[1];
        assert_eq!((imported.role, imported.allocs_op), (Role::Original, Some(7.0)));
        assert_eq!(imported.verdict, "imported, Some CPU");
    }
}
