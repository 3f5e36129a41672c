//! Joins what was measured with what was published, recorded and imported.

use std::collections::{BTreeMap, HashSet};

use crate::data::derived::DerivedFile;
use crate::data::recorded::RecordedFile;
use crate::data::seed::Seed;
use crate::parse::Timing;
use crate::parse::benchfmt::BenchLine;
use crate::report::{
    Figure, Published, Ratio, Ratios, Role, Row, Summary, Table, TableLine, Throughput, Time,
};
use crate::rounds::Side;
use crate::stats;

/// Everything a report is joined from, besides the measurements.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) seed: Seed,
    pub(crate) recorded: RecordedFile,
    pub(crate) derived: DerivedFile,
    /// Output of the originals, by row key.
    pub(crate) imported: BTreeMap<String, Vec<BenchLine>>,
}

/// What one party took for one row.
#[derive(Clone, Copy, Debug)]
enum Taken<'a> {
    /// One timing per round of this run.
    Rounds(&'a [Timing]),
    /// One figure for all rounds: a single call, or an imported or recorded time.
    Once(f64),
}

impl Taken<'_> {
    fn of(side: &Side) -> Option<Taken<'_>> {
        match side.once_ns {
            Some(once_ns) => Some(Taken::Once(once_ns)),
            None => (!side.timings.is_empty()).then_some(Taken::Rounds(&side.timings)),
        }
    }

    fn minimum(&self) -> f64 {
        match self {
            Self::Rounds(timings) => timings.iter().map(Timing::typical_ns).fold(f64::INFINITY, f64::min),
            Self::Once(time) => *time,
        }
    }
}

/// Makes the rows of the report from the sides of every row.
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
            row.recorded = sources.recorded.original(key);
            if side.listed.role == Role::Ours {
                let ratios = ratios(
                    side,
                    sides,
                    imported.as_ref(),
                    row.recorded.as_ref().map(|recorded| recorded.time_ns),
                    &row,
                );
                row.verdict = verdict(ratios.best_peer.as_ref());
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
    // Ours first, then the original, then the peers from fast to slow, and the limits of the machine last.
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

/// The original's own output for one row.
#[derive(Debug)]
struct Imported {
    name: String,
    times: Vec<f64>,
    bytes_op: Option<f64>,
    allocs_op: Option<f64>,
    cpu: Option<String>,
}

impl Imported {
    fn of(lines: &[BenchLine], sources: &Sources, key: &str) -> Option<Self> {
        let times: Vec<f64> = lines.iter().filter_map(|line| line.value("ns/op")).collect();
        let line = lines.first().filter(|_| !times.is_empty())?;
        let platform = sources.seed.published(key).map(|(_, published)| published.platform);
        let name = platform.as_deref().and_then(|platform| platform.split(',').next()).unwrap_or("original");
        Some(Self {
            name: name.to_owned(),
            times,
            bytes_op: line.value("B/op"),
            allocs_op: line.value("allocs/op"),
            cpu: line.cpu.clone(),
        })
    }

    fn typical_ns(&self) -> Option<f64> {
        stats::median(&self.times)
    }

    /// Turns a row of the same key into the row of the original.
    fn describe(&self, row: &mut Row) {
        row.implementation.clone_from(&self.name);
        row.role = Role::Original;
        "go".clone_into(&mut row.language);
        row.version = None;
        row.class = None;
        row.time_ns = time(&self.times, true);
        row.bytes_op = self.bytes_op;
        row.allocs_op = self.allocs_op;
        row.counts_deterministic = None;
        row.throughput = throughput(row);
        row.verdict = self.cpu.as_ref().map(|cpu| format!("imported, {cpu}")).unwrap_or_default();
    }
}

fn bare_row(side: &Side) -> Row {
    let listed = &side.listed;
    let (system, name) = listed.key.split_once('/').unwrap_or(("", &listed.key));
    let time_ns = match side.once_ns {
        Some(once_ns) => time(&[once_ns], false),
        None => time(&side.timings.iter().map(Timing::typical_ns).collect::<Vec<_>>(), true),
    };
    let verdict = match (&side.failure, side.once_ns) {
        (Some(failure), _) => failure.clone(),
        (None, Some(_)) => "measured once: one call exceeds the time guard".to_owned(),
        (None, None) => String::new(),
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
        recorded: None,
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

fn ratios(
    ours: &Side,
    sides: &[Side],
    imported: Option<&Imported>,
    recorded: Option<f64>,
    row: &Row,
) -> Ratios {
    let against_original = imported
        .and_then(|imported| {
            let taken = Taken::Once(imported.typical_ns()?);
            ratio(ours, taken, &imported.name, "go", true)
        })
        .or_else(|| {
            let standin = sides.iter().find(|side| side.listed.role == Role::OriginalStandin)?;
            against(ours, standin)
        });
    let recorded_original = recorded.and_then(|time| {
        let name = row.recorded.as_ref().map_or("recorded", |recorded| recorded.implementation.as_str());
        ratio(ours, Taken::Once(time), name, "go", false)
    });
    Ratios {
        original: against_original,
        best_peer: best_peer(ours, sides).and_then(|peer| against(ours, peer)),
        recorded_original,
    }
}

/// The fastest peer of our class, or of any class where ours has no peer.
fn best_peer<'a>(ours: &Side, sides: &'a [Side]) -> Option<&'a Side> {
    let fastest = |alike: bool| {
        sides
            .iter()
            .filter(|side| side.listed.role == Role::Peer)
            .filter(|side| !alike || same_class(ours, side))
            .filter_map(|side| Some((Taken::of(side)?.minimum(), side)))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, side)| side)
    };
    fastest(true).or_else(|| fastest(false))
}

fn same_class(ours: &Side, other: &Side) -> bool {
    ours.listed.class.is_some() && ours.listed.class == other.listed.class
}

fn against(ours: &Side, other: &Side) -> Option<Ratio> {
    ratio(
        ours,
        Taken::of(other)?,
        &other.listed.implementation,
        &other.listed.language,
        same_class(ours, other),
    )
}

/// Compares round by round: a change of the machine's load hits both sides of a round.
fn ratio(ours: &Side, other: Taken<'_>, name: &str, language: &str, like_for_like: bool) -> Option<Ratio> {
    let mine = Taken::of(ours)?;
    let pairs: Vec<f64> = match (mine, other) {
        (Taken::Rounds(mine), Taken::Rounds(other)) => {
            mine.iter().zip(other).map(|(mine, other)| comparable(mine, other)).collect()
        }
        (Taken::Rounds(mine), Taken::Once(other)) => {
            mine.iter().map(|mine| other / mine.typical_ns()).collect()
        }
        (Taken::Once(mine), other) => vec![other.minimum() / mine],
    };
    Some(Ratio {
        against: name.to_owned(),
        language: language.to_owned(),
        like_for_like,
        median: stats::median(&pairs)?,
        min: stats::minimum(&pairs)?,
        max: stats::maximum(&pairs)?,
        of_minima: other.minimum() / mine.minimum(),
        rounds: pairs.len(),
    })
}

/// Medians where both sides have one; Go reports means only, and a mean is compared with a mean.
fn comparable(ours: &Timing, other: &Timing) -> f64 {
    match (ours.median_ns, other.median_ns) {
        (Some(ours), Some(other)) => other / ours,
        _ => other.mean_ns / ours.mean_ns,
    }
}

/// "Faster" and "slower" need the whole range of ratios on one side of one.
fn verdict(best_peer: Option<&Ratio>) -> String {
    let Some(ratio) = best_peer else { return "no peer".to_owned() };
    let against = format!("{}{}", ratio.against, if ratio.like_for_like { "" } else { " (another class)" });
    match ratio {
        Ratio { rounds: 0 | 1, .. } => format!("undecided after one round against {against}"),
        Ratio { min, .. } if *min > 1.0 => format!("faster than {against}"),
        Ratio { max, .. } if *max < 1.0 => format!("slower than {against}"),
        _ => format!("even with {against}"),
    }
}

/// Published tables with at least one measured line, and how many published benchmarks have none.
pub(crate) fn tables(rows: &[Row], sources: &Sources) -> (Vec<Table>, usize) {
    let measured: HashSet<String> = rows.iter().filter(|row| row.time_ns.is_some()).map(Row::key).collect();
    let seed = &sources.seed;
    let mut tables = Vec::new();
    for table in &seed.tables {
        let mut lines = Vec::new();
        let mut not_measured = 0;
        for line in seed.rows.iter().filter(|row| row.table == table.id) {
            let (keys, figure) = match (sources.derived.find(&table.id, &line.id), &line.bench) {
                (Some(derived), _) => (derived.keys.clone(), derived.figure),
                (None, Some(key)) => (vec![key.clone()], Figure::Time),
                (None, None) => (Vec::new(), Figure::Time),
            };
            if !keys.is_empty() && keys.iter().all(|key| measured.contains(key)) {
                lines.push(TableLine { label: line.label.clone(), keys, published: line.figures(), figure });
            } else {
                not_measured += 1;
            }
        }
        if !lines.is_empty() {
            tables.push(Table {
                id: table.id.clone(),
                heading: table.heading.clone(),
                platform: seed.platform(&table.system),
                lines,
                not_measured,
            });
        }
    }
    let absent =
        seed.benches.iter().filter(|bench| bench.published && !measured.contains(&bench.key)).count();
    (tables, absent)
}

/// One summary per system and variant of ours.
pub(crate) fn summaries(rows: &[Row]) -> Vec<Summary> {
    let mut groups: Vec<(&Row, Vec<&Ratio>)> = Vec::new();
    for row in rows {
        let Some(ratio) = row.ratio_vs.as_ref().and_then(|ratios| ratios.best_peer.as_ref()) else {
            continue;
        };
        let same = |other: &Row| other.system == row.system && other.implementation == row.implementation;
        match groups.iter_mut().find(|(other, _)| same(other)) {
            Some((_, ratios)) => ratios.push(ratio),
            None => groups.push((row, vec![ratio])),
        }
    }
    groups
        .into_iter()
        .filter_map(|(row, ratios)| {
            let decided = |test: fn(&Ratio) -> bool| {
                ratios.iter().filter(|ratio| ratio.rounds > 1 && test(ratio)).count()
            };
            let medians: Vec<f64> = ratios.iter().map(|ratio| ratio.median).collect();
            Some(Summary {
                system: row.system.clone(),
                implementation: row.implementation.clone(),
                class: row.class.clone(),
                rows: ratios.len(),
                faster: decided(|ratio| ratio.min > 1.0),
                slower: decided(|ratio| ratio.max < 1.0),
                geometric_mean: stats::geometric_mean(&medians)?,
            })
        })
        .collect()
}
