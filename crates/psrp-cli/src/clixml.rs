//! `psrp clixml`: converts PowerShell's output on pipes.

use std::io::{self, IsTerminal, Read, Write};

use psrp::Value;
use psrp::clixml::{ConsoleEvent, ConsoleFilter, Stream};

use crate::args::ClixmlArgs;
use crate::console::allows_colors;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::printable::printable;

/// Writes texts and records of a program's output.
struct Printer<W> {
    out: W,
    is_json: bool,
    colors: bool,
}

/// Copies standard input to standard output and converts CLIXML documents.
pub(crate) fn clixml(args: &ClixmlArgs) -> Result<Exit, Failure> {
    let mut input = io::stdin().lock();
    let stdout = io::stdout();
    let colors = stdout.is_terminal() && allows_colors();
    let mut printer = Printer { out: io::BufWriter::new(stdout.lock()), is_json: args.json, colors };
    let mut filter = ConsoleFilter::new();
    let mut decoder = args.encoding.decoder();
    let (mut buffer, mut text) = ([0; 8192], String::new());
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
                result = printer.event(event);
            }
        };
        text.clear();
        decoder.push(&buffer[..length], length == 0, &mut text);
        filter.push(text.as_bytes(), &mut show);
        if length == 0 {
            filter.finish(&mut show);
        }
        result.and_then(|()| printer.out.flush()).map_err(Failure::output)?;
        if length == 0 {
            return Ok(Exit::Ok);
        }
    }
}

impl<W: Write> Printer<W> {
    fn event(&mut self, event: ConsoleEvent<'_>) -> io::Result<()> {
        match event {
            ConsoleEvent::Text(bytes) => {
                // The decoder's text is split only next to ASCII characters.
                let text = String::from_utf8_lossy(bytes);
                match self.is_json {
                    true => writeln!(self.out, "{}", json::line("text", &serde_json::to_string(&text)?)?),
                    false => write!(self.out, "{}", printable(&text, self.colors)),
                }
            }
            ConsoleEvent::Record(stream, value) if self.is_json => {
                writeln!(self.out, "{}", json::tagged(stream, &value, false).map_err(io::Error::from)?)
            }
            ConsoleEvent::Record(stream, value) => self.record(stream, &value),
            _ => Ok(()),
        }
    }

    /// Writes a record as PowerShell shows it. Progress records are omitted.
    fn record(&mut self, stream: Stream, value: &Value) -> io::Result<()> {
        let object = value.as_object();
        let text =
            match value.as_ps_string().or_else(|| object.as_ref().and_then(|object| object.to_string_text()))
            {
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
        // Error texts already end with a line end.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        writeln!(self.out, "{name}{}", printable(text.trim_end_matches('\r'), self.colors))
    }
}
