//! Reads the script and its input.

use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::Context;
use psrp::Value;
use psrp::io::PipelineHandle;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::args::{InputFormat, RunArgs};
use crate::encoding;
use crate::exit::Failure;

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

/// Decodes a script.
fn text(bytes: Vec<u8>) -> anyhow::Result<String> {
    encoding::decode(&bytes).context("the script is not valid UTF-8 or UTF-16")
}

/// Parses standard input, which blocks.
fn values(form: InputFormat) -> anyhow::Result<Box<dyn Iterator<Item = anyhow::Result<Value>>>> {
    let input = encoding::utf8_reader(io::stdin().lock()).context("the input can't be read")?;
    Ok(match form {
        InputFormat::Lines => Box::new(input.split(b'\n').map(|line| {
            let line = line.context("the input can't be read")?;
            let text = line.strip_suffix(b"\r").unwrap_or(&line);
            Ok(String::from_utf8_lossy(text).into_owned().into())
        })),
        InputFormat::Json => {
            let values = serde_json::Deserializer::from_reader(input).into_iter();
            Box::new(values.map(|value| value.context("the input is not valid JSON")))
        }
    })
}

/// Sends standard input to a pipeline until either ends. An error of the input is reported to the receiver and stops
/// the pipeline.
pub(crate) fn send_stdin(form: InputFormat, pipeline: PipelineHandle) -> oneshot::Receiver<anyhow::Error> {
    let (failed, failure) = oneshot::channel();
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let send = || {
            for value in values(form)? {
                match runtime.block_on(pipeline.send(value?)) {
                    // The pipeline has ended; its final state reports why.
                    Err(error) if error.is_state() || error.is_closed() => return Ok(()),
                    sent => sent.context("the input can't be sent")?,
                }
            }
            let _ = runtime.block_on(pipeline.end_input());
            anyhow::Ok(())
        };
        if let Err(error) = send() {
            let _ = failed.send(error);
            runtime.spawn(async move { pipeline.stop().await });
        }
    });
    failure
}
