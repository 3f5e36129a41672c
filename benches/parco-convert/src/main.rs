//! `parco-convert`: converts a file of records to tightwire-parco.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use parco_convert::{Format, Summary, convert};

/// Convert a file of records to tightwire-parco
///
/// The output is compared with the input before it gets its name. After an error there is no output file.
#[derive(Parser)]
struct Options {
    /// Format of the input
    #[arg(long, value_name = "FORMAT")]
    from: Format,
    /// File to convert
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to create; it must not exist
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

fn main() -> Result<()> {
    let Options { from, input, output } = Options::parse();
    let Summary { records, read, written } = convert(from, &input, &output)?;
    writeln!(io::stdout(), "{records} records: {read} bytes read, {written} bytes written and verified")?;
    Ok(())
}
