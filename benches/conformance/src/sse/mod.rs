//! Decoder cases of `crates/tightwire-sse/tests/data/sse-cases.json`.

#[path = "../../../../crates/tightwire-sse/tests/support/cases.rs"]
mod cases;
#[cfg(feature = "sse-peers")]
mod peers;
mod subject;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use tightwire_sse::Item;

use cases::{Case, Expected, millis};
use subject::{Outcome, Subject};

/// Runs all cases of a file with the decoder of tightwire-sse, and with the feature `sse-peers` with other decoders,
/// each in every chunking. Prints failed cases, and the number of passed cases per subject. The tests of the crate
/// run the committed cases with its adaptors, too.
///
/// Returns the numbers of cases that passed and failed. Peers do not count.
///
/// # Panics
///
/// If the file does not have the schema `sse-cases/1`.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    std::fs::metadata(path).with_context(|| format!("read {}", path.display()))?;
    let cases = cases::load_file(path);
    let subject = Subject { name: "Decoder::next_item", decode };
    let report = subject::run(&subject, &cases);
    for (id, problem) in &report.failures {
        writeln!(out, "FAIL {id}: {problem}")?;
    }
    writeln!(out, "{}: {} of {}", subject.name, report.everything, cases.len())?;
    #[cfg(feature = "sse-peers")]
    run_peers(&cases, out)?;
    Ok((report.everything, report.failures.len()))
}

fn decode(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String> {
    let mut decoder = case.decoder();
    let (mut events, mut comments, mut retry_updates) = (Vec::new(), Vec::new(), Vec::new());
    for mut chunk in chunks.iter().copied() {
        while let Some(item) = decoder.next_item(&mut chunk).map_err(|error| error.to_string())? {
            match item {
                Item::Event(event) => events.push(Expected::from(event)),
                Item::Comment(comment) => comments.push(comment.to_owned()),
                Item::Retry(time) => retry_updates.push(millis(time)),
                _ => return Err(format!("unknown item {item:?}")),
            }
        }
    }
    // The end of the input: strict on a copy, then lenient.
    let mut strict = decoder.clone();
    strict.finish();
    let mut lenient = events.clone();
    let last = decoder.finish_lenient().map_err(|error| error.to_string())?;
    lenient.extend(last.map(Expected::from));
    Ok(Outcome {
        events,
        last_event_id: Some(strict.last_event_id().to_owned()),
        retry_updates: Some(retry_updates),
        last_retry: Some(strict.reconnection_time().map(millis)),
        comments: Some(comments),
        lenient: Some(lenient),
    })
}

/// Runs the peers, without the generated cases, for which some need quadratic time.
#[cfg(feature = "sse-peers")]
fn run_peers(cases: &[Case], out: &mut impl Write) -> std::io::Result<()> {
    let explicit: Vec<_> = cases.iter().filter(|case| !case.id.starts_with("gen-")).cloned().collect();
    // Some peers panic on some inputs, which counts as a failure. Hides the messages.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for subject in peers::SUBJECTS {
        let report = subject::run(subject, &explicit);
        let ids: Vec<_> = report.failures.into_iter().map(|(id, _)| id).collect();
        writeln!(
            out,
            "peer {}: type and data correct in {} of {}, everything it exposes in {}; failed {}",
            subject.name,
            report.events,
            explicit.len(),
            report.everything,
            if ids.is_empty() { "none".to_owned() } else { ids.join(" ") }
        )?;
    }
    std::panic::set_hook(hook);
    Ok(())
}
