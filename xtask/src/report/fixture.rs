//! A small report for tests of the renderers.

use super::*;

/// Creates one of the two implementations of [`report`].
pub(crate) fn row(implementation: &str, role: Role, nanoseconds: f64) -> Row {
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

/// Creates a report of one row with our implementation and one peer. Their names contain characters that need escaping.
pub(crate) fn report() -> Report {
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
    let ratio = ours.best_peer().cloned();
    let cell = |name: &str, text: &str, value: f64| {
        Some(Cell { name: name.into(), text: text.into(), value: Some(value) })
    };
    let standing = |key: &str, is_measured, ratio: Option<Ratio>, remark: Option<&str>| Standing {
        key: key.into(),
        is_published: true,
        is_measured,
        ratio,
        remark: remark.map(str::to_owned),
    };
    let lost = ratio.clone().map(|ratio| Ratio {
        against: "reqwest".into(),
        median: 0.95,
        min: 0.92,
        max: 0.97,
        ..ratio
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
        systems: vec![System {
            id: "perplexity".into(),
            name: "perplexity-go".into(),
            role: "API client".into(),
            suites: vec!["sse".into()],
        }],
        tables: vec![Table {
            id: "perplexity.raw_sse".into(),
            system: "perplexity".into(),
            heading: "Raw".into(),
            platform: "perplexity-go".into(),
            origins: vec!["another day".into()],
            lines: vec![TableLine {
                id: "simple_event".into(),
                label: "Simple Event".into(),
                keys: vec!["sse/decode_simple_event".into()],
                published: "611 ns".into(),
                published_value: Some(611.0),
                unit: Unit::Nanoseconds,
                recorded: cell("perplexity-go", "1.56 µs", 1562.0),
                go: None,
                peer: cell("a<b", "80.0 ns", 80.0),
                limit: None,
                ours: cell("push | owned", "40.0 ns", 40.0),
                ratio: ratio.clone(),
                verdict: "faster than a<b".into(),
            }],
        }],
        claims: vec![ClaimLine {
            system: "perplexity".into(),
            table: "perplexity.raw_sse".into(),
            claim: "decoding takes less than 10 µs".into(),
            published: "target 10.0 µs".into(),
            demand: Some("at most 10.0 µs".into()),
            measured: Some("40.0 ns".into()),
            verdict: "holds".into(),
        }],
        overview: Overview {
            standings: vec![
                standing("sse/decode_simple_event", true, ratio, None),
                standing("client/client_do_simple", true, lost, Some("sends through it")),
                standing("sse/absent", false, None, None),
            ],
            smallest_margins: vec![Margin {
                key: "client/client_do_simple".into(),
                against: "reqwest".into(),
                ratio: 0.95,
            }],
        },
        summaries: vec![Summary {
            system: "sse".to_owned(),
            implementation: "push | owned".to_owned(),
            class: Some("owned".to_owned()),
            rows: 1,
            faster: 1,
            slower: 0,
            geometric_mean: 2.0,
        }],
        ..Report::empty()
    }
}
