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

/// Reads standard input on a separate thread, at most 64 values ahead.
struct StdinReader {
    values: mpsc::Receiver<anyhow::Result<Value>>,
}

impl StdinReader {
    fn start(form: InputFormat) -> Self {
        let (send, values) = mpsc::channel(64);
        std::thread::spawn(move || {
            let input = io::stdin().lock();
            match form {
                InputFormat::Lines => lines(input, &send),
                InputFormat::Json => json(input, &send),
            }
        });
        Self { values }
    }
}

fn lines(mut input: impl BufRead, send: &mpsc::Sender<anyhow::Result<Value>>) {
    loop {
        let mut line = Vec::new();
        let value = match input.read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {
                let text = line.strip_suffix(b"\n").unwrap_or(&line);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                Ok(Value::from(String::from_utf8_lossy(text).into_owned()))
            }
            Err(error) => Err(anyhow::Error::new(error).context("the input can't be read")),
        };
        let has_failed = value.is_err();
        if send.blocking_send(value).is_err() || has_failed {
            return;
        }
    }
}

fn json(input: impl BufRead, send: &mpsc::Sender<anyhow::Result<Value>>) {
    for value in serde_json::Deserializer::from_reader(input).into_iter::<Value>() {
        let value = value.map_err(|error| anyhow::Error::new(error).context("the input is not valid JSON"));
        let has_failed = value.is_err();
        if send.blocking_send(value).is_err() || has_failed {
            return;
        }
    }
}

/// Sends standard input to a pipeline until either ends. An error of the input is reported to the receiver and stops
/// the pipeline.
pub(crate) fn send_stdin(form: InputFormat, pipeline: PipelineHandle) -> oneshot::Receiver<anyhow::Error> {
    let (failed, failure) = oneshot::channel();
    tokio::spawn(async move {
        let mut reader = StdinReader::start(form);
        while let Some(value) = reader.values.recv().await {
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
