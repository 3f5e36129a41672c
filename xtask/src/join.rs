//! Joins what was measured with what was published, recorded and imported.

use std::collections::{BTreeMap, HashSet};

use crate::data::derived::DerivedFile;
use crate::data::recorded::RecordedFile;
use crate::data::seed::Seed;
use crate::parse::Timing;
use crate::parse::benchfmt::BenchLine;
use crate::report::{
    Figure, Published, Ratio, Ratios, Recorded, Role, Row, Summary, Table, TableLine, Throughput, Time,
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
    /// One figure for all rounds: an imported or recorded time.
    Once(f64),
}

impl Taken<'_> {
    fn of(side: &Side) -> Option<Taken<'_>> {
        (!side.timings.is_empty()).then_some(Taken::Rounds(&side.timings))
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
            row.recorded = sources.recorded.of(key);
            if side.listed.role == Role::Ours {
                let ratios = ratios(side, sides, imported.as_ref(), &row.recorded);
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

fn ratios(ours: &Side, sides: &[Side], imported: Option<&Imported>, recorded: &[Recorded]) -> Ratios {
    let against_original = imported
        .and_then(|imported| {
            let taken = Taken::Once(imported.typical_ns()?);
            ratio(ours, taken, &imported.name, "go", false)
        })
        .or_else(|| {
            let of = |role| sides.iter().find(|side| side.listed.role == role);
            against(ours, of(Role::Original).or_else(|| of(Role::OriginalStandin))?)
        });
    let recorded_original = recorded.iter().find(|recorded| recorded.original).and_then(|recorded| {
        ratio(ours, Taken::Once(recorded.time_ns), &recorded.implementation, "go", false)
    });
    Ratios {
        original: against_original,
        best_peer: best_peer(ours, sides).and_then(|peer| against(ours, peer)),
        recorded_original,
        limit: fastest(sides, |side| side.listed.role == Role::Limit).and_then(|limit| against(ours, limit)),
    }
}

/// The fastest peer of our class, or of any class where ours has no peer.
fn best_peer<'a>(ours: &Side, sides: &'a [Side]) -> Option<&'a Side> {
    let is_peer = |side: &Side| side.listed.role == Role::Peer;
    fastest(sides, |side| is_peer(side) && same_class(ours, side)).or_else(|| fastest(sides, is_peer))
}

fn fastest(sides: &[Side], wanted: impl Fn(&Side) -> bool) -> Option<&Side> {
    sides
        .iter()
        .filter(|side| wanted(side))
        .filter_map(|side| Some((Taken::of(side)?.minimum(), side)))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, side)| side)
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
    let mine = &ours.timings;
    let pairs: Vec<f64> = match other {
        Taken::Rounds(other) => mine.iter().zip(other).map(|(mine, other)| comparable(mine, other)).collect(),
        Taken::Once(other) => mine.iter().map(|mine| other / mine.typical_ns()).collect(),
    };
    Some(Ratio {
        against: name.to_owned(),
        language: language.to_owned(),
        like_for_like,
        median: stats::median(&pairs)?,
        min: stats::minimum(&pairs)?,
        max: stats::maximum(&pairs)?,
        of_minima: other.minimum() / Taken::of(ours)?.minimum(),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::parse::benchfmt;
    use crate::parse::record::Listed;

    const KEY: &str = "sse/decode_simple_event";

    fn side(implementation: &str, role: Role, class: Option<&str>, medians: &[f64]) -> Side {
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

    fn go_side(implementation: &str, role: Role, means: &[f64]) -> Side {
        let mut side = side(implementation, role, Some("owned"), means);
        "go".clone_into(&mut side.listed.language);
        for (timing, mean) in side.timings.iter_mut().zip(means) {
            *timing = Timing { median_ns: None, mean_ns: *mean };
        }
        side
    }

    fn sources(import: &str) -> Sources {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/data");
        let seed = Seed::load(&data).unwrap();
        let mut imported = BTreeMap::new();
        let lines = benchfmt::parse(import);
        if !lines.is_empty() {
            imported.insert(seed.key_of(&lines[0]).unwrap().to_owned(), lines);
        }
        Sources {
            seed,
            recorded: RecordedFile::load(&data).unwrap(),
            derived: DerivedFile::load(&data).unwrap(),
            imported,
        }
    }

    fn best_peer_of(sides: &[Side]) -> Ratio {
        ratios(&sides[0], sides, None, &[]).best_peer.unwrap()
    }

    #[test]
    fn the_best_peer_is_one_of_the_same_class() {
        let sides = [
            side("owned", Role::Ours, Some("owned"), &[10.0, 12.0]),
            side("slow", Role::Peer, Some("owned"), &[90.0, 90.0]),
            side("alike", Role::Peer, Some("owned"), &[30.0, 24.0]),
            side("borrows", Role::Peer, Some("borrowed"), &[11.0, 11.0]),
            side("bandwidth", Role::Limit, Some("owned"), &[1.0, 1.0]),
        ];
        let ratio = best_peer_of(&sides);
        assert_eq!((ratio.against.as_str(), ratio.like_for_like, ratio.rounds), ("alike", true, 2));
        assert_eq!((ratio.median, ratio.min, ratio.max, ratio.of_minima), (2.5, 2.0, 3.0, 2.4));
        let limit = ratios(&sides[0], &sides, None, &[]).limit.unwrap();
        assert_eq!((limit.against.as_str(), limit.of_minima), ("bandwidth", 0.1));
    }

    #[test]
    fn without_a_peer_of_the_class_the_best_of_any_stands_in() {
        let sides = [
            side("borrowed", Role::Ours, Some("borrowed"), &[10.0, 10.0]),
            side("owns", Role::Peer, Some("owned"), &[40.0, 40.0]),
            side("shares", Role::Peer, None, &[30.0, 30.0]),
        ];
        let ratio = best_peer_of(&sides);
        assert_eq!((ratio.against.as_str(), ratio.like_for_like), ("shares", false));
        assert_eq!(verdict(Some(&ratio)), "faster than shares (another class)");
    }

    #[test]
    fn a_failed_peer_is_no_competitor() {
        let sides = [side("a", Role::Ours, None, &[10.0]), side("failed", Role::Peer, None, &[])];
        assert!(ratios(&sides[0], &sides, None, &[]).best_peer.is_none());
        assert_eq!(verdict(None), "no peer");
    }

    #[test]
    fn a_verdict_needs_all_rounds_on_one_side() {
        let against = |peer: &[f64]| {
            verdict(Some(&best_peer_of(&[
                side("a", Role::Ours, Some("owned"), &[10.0, 10.0]),
                side("p", Role::Peer, Some("owned"), peer),
            ])))
        };
        assert_eq!(against(&[11.0, 30.0]), "faster than p");
        assert_eq!(against(&[9.0, 9.5]), "slower than p");
        assert_eq!(against(&[9.0, 30.0]), "even with p");
        assert_eq!(against(&[30.0]), "undecided after one round against p");
    }

    #[test]
    fn a_mean_is_compared_with_a_mean() {
        let sides = [
            side("a", Role::Ours, Some("owned"), &[10.0]),
            go_side("original-standin", Role::OriginalStandin, &[80.0]),
        ];
        let ratios = ratios(&sides[0], &sides, None, &[]);
        assert_eq!(ratios.original.unwrap().median, 4.0, "our mean is 20");
        assert!(ratios.best_peer.is_none(), "the stand-in is the original, not a peer");
    }

    #[test]
    fn a_live_original_comes_before_its_stand_in() {
        let sides = [
            side("a", Role::Ours, Some("owned"), &[10.0]),
            go_side("original-standin", Role::OriginalStandin, &[80.0]),
            go_side("the-original", Role::Original, &[160.0]),
        ];
        let ratios = ratios(&sides[0], &sides, None, &[]);
        assert_eq!(ratios.original.unwrap().against, "the-original");
        assert!(ratios.best_peer.is_none());
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

    #[test]
    fn tables_list_what_was_measured_and_count_the_rest() {
        let sources = sources("");
        let sides = vec![vec![side("a", Role::Ours, None, &[20.0])]];
        let rows = rows(&sides, &sources);
        let (tables, absent) = tables(&rows, &sources);
        let ids: Vec<&str> = tables.iter().map(|table| table.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "perplexity.raw_sse",
                "perplexity.event_decoding",
                "perplexity.http_vs_python",
                "perplexity.headline"
            ]
        );
        assert_eq!((tables[0].lines.len(), tables[0].not_measured), (1, 9));
        assert_eq!(absent, 83, "84 published benchmarks, one of them measured");
        let headline: Vec<&str> = tables[3].lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(headline, ["simple events per second"], "a range needs all of its rows");
    }

    #[test]
    fn a_summary_counts_decided_rows() {
        let sides = vec![vec![
            side("a", Role::Ours, Some("owned"), &[10.0, 10.0]),
            side("p", Role::Peer, Some("owned"), &[20.0, 20.0]),
        ]];
        let summaries = summaries(&rows(&sides, &sources("")));
        assert_eq!(summaries.len(), 1);
        assert_eq!((summaries[0].rows, summaries[0].faster, summaries[0].slower), (1, 1, 0));
        assert!((summaries[0].geometric_mean - 2.0).abs() < 1e-12);
    }
}
