//! Converts the error output that PowerShell writes without a terminal: text is copied, and each record of
//! `#< CLIXML` becomes a line of JSON with the name of its stream.
//!
//!     pwsh -NoProfile -EncodedCommand ... 2>&1 | cargo run -p examples --example psrp_stderr
//!
//! On a terminal without piped input, the program converts a sample. With a file written by `Export-Clixml` as
//! argument, it prints the objects of the file.

use std::io::{IsTerminal as _, Read, Write};

use psrp::clixml::{ConsoleEvent, ConsoleFilter, Document, ReadOptions};
use psrp::terminal_safe;
use tightwire_json::json;

const SAMPLE: &[u8] = b"make: two targets\n#< CLIXML\r\n<Objs Version=\"1.1.0.1\" \
    xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\
    <Obj S=\"information\" RefId=\"0\"><TN RefId=\"0\"><T>System.Management.Automation.InformationRecord</T>\
    <T>System.Object</T></TN><Props><S N=\"MessageData\">starting</S><S N=\"Source\">build.ps1</S></Props></Obj>\
    <S S=\"Error\">no such file_x000D__x000A_</S></Objs>\nmake: failed\n";

fn main() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match std::env::args_os().nth(1) {
        Some(file) => objects(&Document::open(file, ReadOptions::new())?, &mut out),
        None if std::io::stdin().is_terminal() => filter(SAMPLE, &mut out),
        None => filter(std::io::stdin().lock(), &mut out),
    }
}

/// Prints each top-level object of a document.
fn objects(document: &Document, out: &mut impl Write) -> anyhow::Result<()> {
    for item in document.items() {
        let (_, value) = item?;
        tightwire_json::to_writer_pretty(&mut *out, &value)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Copies text immediately and prints records as JSON.
pub(crate) fn filter(mut input: impl Read, out: &mut impl Write) -> anyhow::Result<()> {
    let mut filter = ConsoleFilter::new();
    let mut buffer = [0; 8192];
    loop {
        let length = input.read(&mut buffer)?;
        let mut failure = None;
        let mut show = |event: ConsoleEvent<'_>| {
            if failure.is_none() {
                failure = print(event, out).err();
            }
        };
        match &buffer[..length] {
            [] => filter.finish(&mut show),
            bytes => filter.push(bytes, &mut show),
        }
        match failure {
            Some(error) => return Err(error),
            None if length == 0 => return Ok(()),
            None => {}
        }
    }
}

fn print(event: ConsoleEvent<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    match event {
        // Server text must not control the terminal.
        ConsoleEvent::Text(text) => write!(out, "{}", terminal_safe(&String::from_utf8_lossy(text)))?,
        ConsoleEvent::Record(stream, value) => {
            writeln!(out, "{}", json!({"stream": format!("{stream:?}"), "value": value}))?;
        }
        _ => {}
    }
    Ok(())
}
