//! Reads the script and its input.

use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::Context;
use psrp::Value;
use psrp::io::CommandHandle;
use psrp::message::Command;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::args::{InputFormat, RunArgs};
use crate::encoding;
use crate::exit::Failure;

/// Reads the script and adds its arguments.
pub(crate) fn read(args: &RunArgs) -> Result<Command, Failure> {
    let first = args.script.iter().filter(|_| args.file.is_some());
    let script = add_arguments(Command::script(text(args)?), first.chain(&args.arguments));
    let Some(list) = &args.argument_list else { return Ok(script) };
    let list = serde_json::from_str::<Vec<Value>>(list).context("--argument-list is not a JSON array");
    Ok(list.map_err(Failure::usage)?.into_iter().fold(script, Command::argument))
}

/// Adds arguments and, if they begin with a hyphen and a letter, named parameters.
fn add_arguments<'a>(mut script: Command, words: impl Iterator<Item = &'a String>) -> Command {
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        script = match parameter(word).map(|name| name.split_once(':').ok_or(name)) {
            None => script.argument(word.as_str()),
            Some(Ok((name, "$true"))) => script.switch(name),
            Some(Ok((name, "$false"))) => script.parameter(name, false),
            Some(Ok((name, value))) => script.parameter(name, value),
            Some(Err(name)) => match words.next_if(|next| parameter(next).is_none()) {
                Some(value) => script.parameter(name, value.as_str()),
                None => script.switch(name),
            },
        };
    }
    script
}

/// Returns the text behind the hyphen of a named parameter. A negative number is none.
fn parameter(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|name| name.starts_with(|char: char| char.is_alphabetic() || char == '_'))
}

fn text(args: &RunArgs) -> Result<String, Failure> {
    match (&args.file, args.script.as_deref()) {
        (Some(file), _) => file_text(file).map_err(Failure::usage),
        (None, Some("-")) if args.input.is_some() => {
            Err(Failure::usage(anyhow::anyhow!("standard input can't be both the script and its input")))
        }
        (None, Some("-")) => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut bytes).context("the script can't be read");
            read.and_then(|_| decode(bytes)).map_err(Failure::usage)
        }
        (None, script) => Ok(script.unwrap_or_default().to_owned()),
    }
}

fn file_text(file: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
    decode(bytes).with_context(|| file.display().to_string())
}

/// Decodes a script.
fn decode(bytes: Vec<u8>) -> anyhow::Result<String> {
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
pub(crate) fn send_stdin(form: InputFormat, pipeline: CommandHandle) -> oneshot::Receiver<anyhow::Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_arguments_or_parameters() {
        let words = ["a", "-1", "-Name", "sshd", "-Force", "-Wait:$false", "-Path:C:\\x", "-", "-All"];
        let words: Vec<_> = words.map(ToOwned::to_owned).into();
        let expected = Command::script("1")
            .argument("a")
            .argument("-1")
            .parameter("Name", "sshd")
            .switch("Force")
            .parameter("Wait", false)
            .parameter("Path", "C:\\x")
            .argument("-")
            .switch("All");
        assert_eq!(add_arguments(Command::script("1"), words.iter()), expected);
    }
}
