//! Decoder cases of `crates/tightwire-sse/tests/data/sse-cases.json`, in every chunking. The tests of the crate run them
//! with its adapters, too.

#[path = "../../../crates/tightwire-sse/tests/support/cases.rs"]
mod cases;

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use tightwire_sse::Item;

use crate::Report;
use cases::{Case, Expected, millis};

/// Runs all cases of a file.
///
/// # Panics
///
/// If the file does not have the schema `sse-cases/1`.
pub(crate) fn run(path: &Path) -> anyhow::Result<Report> {
    std::fs::metadata(path).with_context(|| format!("read {}", path.display()))?;
    let mut report = Report::default();
    for case in cases::load_file(path) {
        report.case(&case.id, || {
            case.chunkings().iter().try_for_each(|chunks| {
                let lengths: Vec<usize> = chunks.iter().map(|chunk| chunk.len()).take(4).collect();
                examine(&case, chunks).with_context(|| format!("in chunks of {lengths:?} and so on"))
            })
        });
    }
    Ok(report)
}

/// Decodes a case in chunks, some of which may be empty, and compares everything that it defines.
fn examine(case: &Case, chunks: &[&[u8]]) -> anyhow::Result<()> {
    let mut decoder = case.decoder();
    let (mut events, mut comments, mut retry_updates) = (Vec::new(), Vec::new(), Vec::new());
    for mut chunk in chunks.iter().copied() {
        while let Some(item) = decoder.next_item(&mut chunk)? {
            match item {
                Item::Event(event) => events.push(Expected::from(event)),
                Item::Comment(comment) => comments.push(comment.to_owned()),
                Item::Retry(time) => retry_updates.push(millis(time)),
                _ => bail!("unknown item {item:?}"),
            }
        }
    }
    ensure!(events == case.events, "found {events:.300?}");
    ensure!(retry_updates == case.retry_updates, "found retry values {retry_updates:?}");
    let last_retry = decoder.reconnection_time().map(millis);
    ensure!(last_retry == case.retry_updates.last().copied(), "the last retry value is {last_retry:?}");
    ensure!(case.comments.as_ref().is_none_or(|expected| *expected == comments), "found {comments:?}");
    // The end of the input: strict on a copy, then lenient.
    let mut strict = decoder.clone();
    strict.finish();
    let last_event_id = strict.last_event_id();
    ensure!(last_event_id == case.last_event_id, "the last event id is {last_event_id:?}");
    events.extend(decoder.finish_lenient()?.map(Expected::from));
    ensure!(case.lenient.as_ref().is_none_or(|expected| *expected == events), "at the end {events:.300?}");
    Ok(())
}
