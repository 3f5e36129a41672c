//! A small report for the tests of its drawings.

use super::*;

/// One of the two implementations of [`report`].
pub(super) fn row(implementation: &str, role: Role, nanoseconds: f64) -> Row {
    Row {
        system: "sse".to_owned(),
        table: Some("perplexity.raw_sse".to_owned()),
        row: "decode_simple_event".to_owned(),
        implementation: implementation.to_owned(),
        role,
        language: "rust".to_owned(),
        version: None,
        class: Some("owned".to_owned()),
        time_ns: Some(Time {
            min: nanoseconds,
            median: nanoseconds,
            max: nanoseconds,
            rounds: vec![nanoseconds],
            sampled: true,
        }),
        bytes_op: Some(17.0),
        allocs_op: Some(1.0),
        counts_deterministic: Some(true),
        payload_bytes: Some(25),
        elements: Some(1),
        throughput: None,
        published: None,
        recorded: Vec::new(),
        ratio_vs: None,
        verdict: String::new(),
    }
}

/// A report of one row with ours and one peer, named so that careless escaping shows.
pub(super) fn report() -> Report {
    let mut ours = row("push | owned", Role::Ours, 40.0);
    ours.verdict = "faster than a<b".to_owned();
    ours.ratio_vs = Some(Ratios {
        best_peer: Some(Ratio {
            against: "a<b".to_owned(),
            language: "rust".to_owned(),
            like_for_like: true,
            median: 2.0,
            min: 1.9,
            max: 2.1,
            of_minima: 2.0,
            rounds: 2,
        }),
        ..Ratios::default()
    });
    Report {
        schema: SCHEMA,
        run: Run {
            date: "2026-01-02T03:04:05Z".to_owned(),
            machine: Machine { cpu: "Some CPU".to_owned(), cores: 2, kernel: "Linux".to_owned() },
            versions: vec![("rust".to_owned(), "rustc 1.95.0".to_owned())],
            commit: None,
            load_before: Some(0.2),
            load_after: None,
            rounds: 2,
            settings: "short".to_owned(),
            unfit: Vec::new(),
            missing_peers: vec![Missing {
                peer: "go-sse".to_owned(),
                language: "go".to_owned(),
                reason: "`go version` cannot be run here".to_owned(),
            }],
            imports: Vec::new(),
            elapsed_s: 61.0,
        },
        rows: vec![ours, row("a<b", Role::Peer, 80.0)],
        tables: vec![Table {
            id: "perplexity.raw_sse".to_owned(),
            heading: "Raw".to_owned(),
            platform: "perplexity-go".to_owned(),
            lines: vec![TableLine {
                label: "Simple Event".to_owned(),
                keys: vec!["sse/decode_simple_event".to_owned()],
                published: "611 ns".to_owned(),
                figure: Figure::Time,
            }],
            not_measured: 9,
        }],
        summaries: vec![Summary {
            system: "sse".to_owned(),
            implementation: "push | owned".to_owned(),
            class: Some("owned".to_owned()),
            rows: 1,
            faster: 1,
            slower: 0,
            geometric_mean: 2.0,
        }],
        published_not_measured: 83,
        load: None,
        fleet: None,
    }
}
