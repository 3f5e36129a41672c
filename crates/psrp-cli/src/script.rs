//! Reads the script and its input.

use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::Context;
use psrp::Value;
use psrp::io::PipelineHandle;
use tokio::sync::{mpsc, oneshot};

use crate::args::{InputFormat, RunArgs};
use crate::exit::Failure;

/// Returns the text of the script.
pub(crate) fn read(args: &RunArgs) -> Result<String, Failure> {
    match (&args.file, args.script.as_deref()) {
        (Some(file), _) => file_text(file).map_err(Failure::usage),
        (None, Some("-")) if args.input.is_some() => {
            Err(Failure::usage(anyhow::anyhow!("standard input can't be both the script and its input")))
        }
        (None, Some("-")) => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut bytes).context("the script can't be read");
            read.and_then(|_| text(bytes)).map_err(Failure::usage)
        }
        (None, script) => Ok(script.unwrap_or_default().to_owned()),
    }
}

fn file_text(file: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
    text(bytes).with_context(|| file.display().to_string())
}

/// Decodes UTF-8 and removes a byte order mark.
fn text(bytes: Vec<u8>) -> anyhow::Result<String> {
    let text = String::from_utf8(bytes).ok().context("the script is not valid UTF-8")?;
    Ok(text.strip_prefix('\u{FEFF}').map(ToOwned::to_owned).unwrap_or(text))
}

/// Parses standard input, which blocks.
fn values(form: InputFormat) -> Box<dyn Iterator<Item = anyhow::Result<Value>>> {
    let input = io::stdin().lock();
    match form {
        InputFormat::Lines => Box::new(input.split(b'\n').map(|line| {
            let line = line.context("the input can't be read")?;
            let text = line.strip_suffix(b"\r").unwrap_or(&line);
            Ok(String::from_utf8_lossy(text).into_owned().into())
        })),
        InputFormat::Json => {
            let values = serde_json::Deserializer::from_reader(input).into_iter();
            Box::new(values.map(|value| value.context("the input is not valid JSON")))
        }
    }
}

/// Sends standard input to a pipeline until either ends. An error of the input is reported to the receiver and stops
/// the pipeline.
pub(crate) fn send_stdin(form: InputFormat, pipeline: PipelineHandle) -> oneshot::Receiver<anyhow::Error> {
    let (failed, failure) = oneshot::channel();
    tokio::spawn(async move {
        // A separate thread reads at most 64 values ahead.
        let (send, mut read) = mpsc::channel(64);
        std::thread::spawn(move || {
            for value in values(form) {
                let has_failed = value.is_err();
                if send.blocking_send(value).is_err() || has_failed {
                    return;
                }
            }
        });
        while let Some(value) = read.recv().await {
            match value {
                // If the pipeline has ended, its final state reports why.
                Ok(value) => {
                    if let Err(error) = pipeline.send(value).await {
                        if !error.is_state() && !error.is_closed() {
                            let _ = failed.send(anyhow::Error::new(error).context("the input can't be sent"));
                            let _ = pipeline.stop().await;
                        }
                        return;
                    }
                }
                Err(error) => {
                    let _ = failed.send(error);
                    let _ = pipeline.stop().await;
                    return;
                }
            }
        }
        let _ = pipeline.end_input().await;
    });
    failure
}
