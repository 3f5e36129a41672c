//! `psrp clixml`: converts PowerShell's output on pipes.

use std::io::{self, Read, Write};

use psrp::clixml::{ConsoleEvent, ConsoleFilter, Stream};
use psrp::{Value, terminal_safe};

use crate::args::ClixmlArgs;
use crate::exit::{Exit, Failure};
use crate::json;

/// Copies standard input to standard output and converts CLIXML documents.
pub(crate) fn clixml(args: &ClixmlArgs) -> Result<Exit, Failure> {
    let mut input = io::stdin().lock();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut filter = ConsoleFilter::new();
    let mut buffer = [0; 8192];
    // A character may be split between two reads.
    let mut text = Utf8Decoder::default();
    loop {
        let length = match input.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Failure::usage(anyhow::Error::new(error).context("the input can't be read")));
            }
        };
        let mut result = Ok(());
        let mut show = |event: ConsoleEvent<'_>| {
            if result.is_ok() {
                result = print(event, args.json, &mut text, &mut out);
            }
        };
        match &buffer[..length] {
            [] => filter.finish(&mut show),
            bytes => filter.push(bytes, &mut show),
        }
        if length == 0 {
            result = result.and_then(|()| write_text(&text.finish(), args.json, &mut out));
        }
        result.and_then(|()| out.flush()).map_err(Failure::output)?;
        if length == 0 {
            return Ok(Exit::Ok);
        }
    }
}

fn print(
    event: ConsoleEvent<'_>,
    json: bool,
    text: &mut Utf8Decoder,
    out: &mut impl Write,
) -> io::Result<()> {
    match event {
        ConsoleEvent::Text(bytes) => write_text(&text.push(bytes), json, out),
        ConsoleEvent::Record(stream, value) => {
            write_text(&text.finish(), json, out)?;
            if json {
                writeln!(out, "{}", json::tagged(stream, &value, false).map_err(io::Error::from)?)
            } else {
                record(stream, &value, out)
            }
        }
        _ => Ok(()),
    }
}

fn write_text(text: &str, json: bool, out: &mut impl Write) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    if json {
        return writeln!(out, "{}", json::line("text", &serde_json::to_string(text)?)?);
    }
    write!(out, "{}", terminal_safe(text))
}

/// Writes a record as PowerShell shows it. Progress records are omitted.
fn record(stream: Stream, value: &Value, out: &mut impl Write) -> io::Result<()> {
    let object = value.as_object();
    let text =
        match value.as_ps_string().or_else(|| object.as_ref().and_then(|object| object.to_string_text())) {
            Some(text) => text.to_string(),
            None => match value.get("MessageData").and_then(Value::as_ps_string) {
                Some(text) => text.to_string(),
                None => serde_json::to_string(value)?,
            },
        };
    let name = match stream {
        Stream::Progress => return Ok(()),
        Stream::Output | Stream::Error | Stream::Information => "",
        Stream::Warning => "WARNING: ",
        Stream::Verbose => "VERBOSE: ",
        Stream::Debug => "DEBUG: ",
    };
    let safe = terminal_safe(&text);
    // Error texts already end with a line end.
    let end = if safe.ends_with('\n') { "" } else { "\n" };
    write!(out, "{name}{safe}{end}")
}

/// Decodes UTF-8 from chunks. Invalid bytes become U+FFFD.
#[derive(Default)]
struct Utf8Decoder {
    /// Bytes of an incomplete character.
    partial: Vec<u8>,
}

impl Utf8Decoder {
    fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut at = 0;
        for chunk in all.utf8_chunks() {
            text.push_str(chunk.valid());
            at += chunk.valid().len() + chunk.invalid().len();
            if at == all.len()
                && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none())
            {
                self.partial = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_characters_are_decoded() {
        for cut in 0.."a\u{e4}\u{1F600}b".len() {
            let bytes = "a\u{e4}\u{1F600}b".as_bytes();
            let mut utf8 = Utf8Decoder::default();
            let text = utf8.push(&bytes[..cut]) + &utf8.push(&bytes[cut..]) + &utf8.finish();
            assert_eq!(text, "a\u{e4}\u{1F600}b");
        }
        let mut utf8 = Utf8Decoder::default();
        assert_eq!(utf8.push(b"\xFFa\xC3"), "\u{FFFD}a");
        assert_eq!(utf8.finish(), "\u{FFFD}");
    }
}
