//! Parses arbitrary bytes as an OSV record, and arbitrary texts as the events of a range. An accepted record must match
//! versions without a panic.
#![no_main]

use pypi_proxy::ProjectName;
use pypi_proxy::rules::OsvRecord;

fn check(document: &[u8]) {
    let record = match OsvRecord::parse(document) {
        Ok(record) => record,
        Err(error) => return assert!(error.is_config()),
    };
    assert!(!record.id().is_empty());
    let Ok(name) = ProjectName::parse("demo") else { return };
    for version in ["", "0", "1.0", "1.0.post1", "2!0.1rc1+local.1"] {
        let _ = record.is_match(&name, version);
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    check(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    let names = ["introduced", "fixed", "last_affected", "limit"];
    let events: Vec<_> = text
        .lines()
        .map(|line| {
            let name = names[usize::from(line.bytes().next().unwrap_or_default()) % names.len()];
            let mut event = tightwire_json::json!({});
            event[name] = line.chars().skip(1).collect::<String>().into();
            event
        })
        .collect();
    let record = tightwire_json::json!({"id": "MAL-1", "affected": [{
        "package": {"ecosystem": "PyPI", "name": "demo"},
        "versions": text.lines().collect::<Vec<_>>(),
        "ranges": [{"type": "ECOSYSTEM", "events": events}],
    }]});
    check(record.to_string().as_bytes());
});
