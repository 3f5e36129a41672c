//! The published tables with the figures of every party, and the statements in them.

use super::Sources;
use super::measure::{Facts, Found, Party};
use super::verdict::{self, Outcome};
use crate::data::claims::{Claim, How, Term};
use crate::data::seed;
use crate::report::{Cell, ClaimLine, Quantity, Table, TableLine, Unit};
use crate::stats::{maximum, minimum};

/// Returns all published tables in the order of the reports.
pub(crate) fn tables(facts: &Facts<'_>, sources: &Sources) -> Vec<Table> {
    let seed = &sources.seed;
    let table = |table: &seed::Table| {
        let rows = seed.rows.iter().filter(|row| row.table == table.id);
        let lines: Vec<TableLine> = rows.map(|row| line(row, facts, sources)).collect();
        let recorded = lines.iter().filter(|line| line.recorded.is_some()).flat_map(|line| &line.keys);
        let mut origins: Vec<String> = recorded.filter_map(|key| sources.recorded.origin(key)).collect();
        origins.sort();
        origins.dedup();
        Table {
            id: table.id.clone(),
            system: table.system.clone(),
            heading: table.heading.clone(),
            platform: seed.platform(&table.system),
            origins,
            lines,
        }
    };
    seed.tables.iter().map(table).collect()
}

/// Returns the lines that are statements.
pub(crate) fn claims(tables: &[Table], sources: &Sources) -> Vec<ClaimLine> {
    let line = |claim: &Claim| {
        let table = tables.iter().find(|table| table.id == claim.table)?;
        let line = table.lines.iter().find(|line| line.id == claim.row)?;
        Some(ClaimLine {
            system: table.system.clone(),
            table: table.id.clone(),
            claim: claim.claim.clone()?,
            published: line.published.clone(),
            demand: demand(claim),
            measured: line.ours.as_ref().map(|cell| cell.text.clone()),
            verdict: line.verdict.clone(),
        })
    };
    sources.claims.claims.iter().filter_map(line).collect()
}

fn line(row: &seed::Row, facts: &Facts<'_>, sources: &Sources) -> TableLine {
    let claim = sources.claims.find(&row.table, &row.id);
    let plain = || row.bench.clone().map(|key| Term { quantity: Quantity::Time, key, implementation: None });
    let terms: Vec<Term> = match claim {
        Some(claim) => claim.terms.clone(),
        None => plain().into_iter().collect(),
    };
    let how = claim.map_or(How::Value, |claim| claim.how);
    let unit = terms.first().map_or(Unit::Count, |term| how.unit(term.quantity));
    let value = |party| Value::of(&terms, how, facts, party);
    // All parties show counts if the report prints counts beside the time.
    let is_counted = claim.is_none() && (row.bytes_op.is_some() || row.allocs_op.is_some());
    let write = |value: &Value| {
        let mut cell = value.cell(unit);
        if let (true, Some((bytes, allocs))) = (is_counted, value.counts) {
            cell.text += &format!(", {}, {} allocs", Unit::Bytes.format(bytes), Unit::Count.format(allocs));
        }
        cell
    };
    let cell = |party| value(party).map(|value| write(&value));
    let ours = value(Party::Ours);
    let single = match terms.as_slice() {
        [term] if how == How::Value => Some(term),
        _ => None,
    };
    let ratio = single.and_then(|term| facts.ratio(term));
    let verdict = match (claim, &ours, &ratio) {
        (_, None, _) => match sources.unmeasured.line(&row.table, &row.id) {
            Some(reason) => format!("not measured: {reason}"),
            None => absent(&terms, facts, sources),
        },
        (Some(claim), Some(ours), _) if bounded(claim) => ours.verdict(claim).to_owned(),
        (_, _, Some(ratio)) => verdict::words(Some(ratio)),
        (_, Some(_), None) if how == How::Value && terms.len() > 1 => tally(&terms, facts),
        _ => String::new(),
    };
    let mut keys: Vec<String> = Vec::new();
    for term in &terms {
        if !keys.contains(&term.key) {
            keys.push(term.key.clone());
        }
    }
    TableLine {
        id: row.id.clone(),
        label: row.label.clone(),
        keys,
        published: row.figures(),
        published_value: single.and_then(|term| row.value(term.quantity)),
        unit,
        recorded: cell(Party::Recorded),
        go: cell(Party::Go),
        peer: cell(Party::Peer),
        limit: single.filter(|term| term.quantity.is_of_load()).and_then(|_| cell(Party::Limit)),
        ours: ours.as_ref().map(write),
        ratio,
        verdict,
    }
}

/// Returns the reason why a line has no figure of ours.
fn absent(terms: &[Term], facts: &Facts<'_>, sources: &Sources) -> String {
    let remark = || {
        let is_of_peers = |term: &&Term| facts.row(&term.key, Party::Peer).is_some();
        sources.rows.remark(&terms.iter().find(is_of_peers)?.key)
    };
    remark().unwrap_or("not in this run").to_owned()
}

fn bounded(claim: &Claim) -> bool {
    claim.at_most.is_some() || claim.at_least.is_some()
}

fn demand(claim: &Claim) -> Option<String> {
    let unit = claim.how.unit(claim.terms.first()?.quantity);
    let bound = |word: &str, bound: Option<f64>| bound.map(|bound| format!("{word} {}", unit.format(bound)));
    bound("at most", claim.at_most).or_else(|| bound("at least", claim.at_least))
}

/// Counts the rows in which ours is faster.
fn tally(terms: &[Term], facts: &Facts<'_>) -> String {
    let outcomes: Vec<Outcome> = terms
        .iter()
        .filter_map(|term| facts.row(&term.key, Party::Ours))
        .filter_map(|row| row.opponent().map(Outcome::of))
        .collect();
    let faster = outcomes.iter().filter(|outcome| **outcome == Outcome::Faster).count();
    match outcomes.len() {
        0 => "no peer".to_owned(),
        all if all == faster => format!("faster in all of {all}"),
        all => format!("faster in {faster} of {all}"),
    }
}

/// The figure of one party: a value or a range.
#[derive(Debug)]
struct Value {
    name: String,
    low: f64,
    high: f64,
    counts: Option<(f64, f64)>,
}

impl Value {
    fn of(terms: &[Term], how: How, facts: &Facts<'_>, party: Party) -> Option<Self> {
        let found: Vec<Found> = terms.iter().map(|term| facts.find(term, party)).collect::<Option<_>>()?;
        let values: Vec<f64> = match how {
            How::Value => found.iter().map(|found| found.value).collect(),
            _ => found.chunks_exact(2).map(|pair| how.apply(pair[0].value, pair[1].value)).collect(),
        };
        // In a pair, the last one is the one that is compared.
        let last = found.last()?;
        Some(Self {
            name: last.name.clone(),
            low: minimum(&values)?,
            high: maximum(&values)?,
            counts: last.counts,
        })
    }

    fn cell(&self, unit: Unit) -> Cell {
        let (low, high) = (unit.format(self.low), unit.format(self.high));
        let is_single = low == high;
        Cell {
            name: self.name.clone(),
            text: if is_single { low } else { format!("{low} to {high}") },
            value: is_single.then_some(self.low),
        }
    }

    fn verdict(&self, claim: &Claim) -> &'static str {
        let holds = claim.at_most.is_none_or(|most| self.high <= most)
            && claim.at_least.is_none_or(|least| self.low >= least);
        if holds { "holds" } else { "does not hold" }
    }
}

impl How {
    /// Returns the unit of the result, given the quantity of the terms.
    fn unit(self, quantity: Quantity) -> Unit {
        match self {
            Self::Value | Self::Difference => quantity.unit(),
            Self::Ratio => Unit::Times,
            Self::Saving | Self::Excess => Unit::Percent,
        }
    }

    fn apply(self, first: f64, second: f64) -> f64 {
        match self {
            Self::Value => first,
            Self::Ratio => first / second,
            Self::Saving => (1.0 - second / first) * 100.0,
            Self::Excess => (first / second - 1.0) * 100.0,
            Self::Difference => first - second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{go_side, side, sources};
    use super::super::{complete, rows};
    use super::*;
    use crate::report::{Report, Role};

    fn report() -> Report {
        let sides = vec![vec![
            side("a", Role::Ours, Some("owned"), &[20.0, 20.0]),
            side("b", Role::Ours, Some("borrowed"), &[10.0, 10.0]),
            side("p", Role::Peer, Some("owned"), &[40.0, 50.0]),
            go_side("original-standin", Role::OriginalStandin, &[900.0, 900.0]),
        ]];
        let sources = sources("");
        let mut report = Report { rows: rows(&sides, &sources), ..Report::empty() };
        complete(&mut report, &sources);
        report
    }

    fn line<'r>(report: &'r Report, table: &str, id: &str) -> &'r TableLine {
        let table = report.tables.iter().find(|one| one.id == table).unwrap();
        table.lines.iter().find(|line| line.id == id).unwrap()
    }

    #[test]
    fn a_line_holds_ours_of_the_class_that_has_a_peer() {
        let report = report();
        let line = line(&report, "perplexity.raw_sse", "decode_simple_event");
        let named = |cell: &Option<Cell>| cell.as_ref().map(|cell| format!("{} {}", cell.name, cell.text));
        assert_eq!(named(&line.ours).as_deref(), Some("a 20.0 ns"));
        assert_eq!(named(&line.peer).as_deref(), Some("p 40.0 ns"));
        assert_eq!(named(&line.go).as_deref(), Some("original-standin 900 ns"));
        assert_eq!(named(&line.recorded).as_deref(), Some("perplexity-go 1.56 µs, 4320 B, 6 allocs"));
        assert_eq!((line.published_value, line.verdict.as_str()), (Some(611.0), "faster than p"));
    }

    #[test]
    fn all_tables_are_there_and_gaps_have_reasons() {
        let report = report();
        assert_eq!(report.tables.len(), 47);
        assert_eq!(report.tables.iter().map(|table| table.lines.len()).sum::<usize>(), 257);
        assert_eq!(line(&report, "perplexity.raw_sse", "decode_allocations").verdict, "not in this run");
        let estimate = line(&report, "perplexity.json_vs_industry", "easyjson");
        assert!(estimate.verdict.starts_with("not measured: an estimate"), "{}", estimate.verdict);
    }

    #[test]
    fn claims_hold_or_not() {
        let report = report();
        let claim = |start: &str| report.claims.iter().find(|claim| claim.claim.starts_with(start)).unwrap();
        let rate = claim("more than 1.6 million");
        assert_eq!(rate.demand.as_deref(), Some("at least 1.60 M/s"));
        assert_eq!((rate.measured.as_deref(), rate.verdict.as_str()), (Some("50.0 M/s"), "holds"));
        assert_eq!(claim("decoding one event").verdict, "not in this run", "a range needs all of its rows");
    }

    #[test]
    fn pairs_are_compared_as_the_claim_says() {
        let apply = |how: How, first, second| format!("{:.1}", how.apply(first, second));
        assert_eq!(apply(How::Ratio, 30.0, 10.0), "3.0");
        assert_eq!(apply(How::Saving, 10.0, 4.0), "60.0");
        assert_eq!(apply(How::Excess, 12.5, 10.0), "25.0");
        assert_eq!(apply(How::Difference, 12.0, 10.0), "2.0");
        let value = Value { name: String::new(), low: 2.0, high: 5.0, counts: None };
        let claim = |text: &str| -> Claim {
            toml::from_str(&format!("table = \"a\"\nrow = \"b\"\nterms = [\"time s/r\"]\n{text}")).unwrap()
        };
        assert_eq!(value.verdict(&claim("at_most = 5.0")), "holds");
        assert_eq!(value.verdict(&claim("at_most = 4.9")), "does not hold", "all of a range has to hold");
        assert_eq!(value.verdict(&claim("at_least = 2.1")), "does not hold");
    }
}
