//! The conversion of a file.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tightwire_parco::{Decoder, Encoder};

use crate::record::Record;
use crate::source::{Format, Source};

/// Result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of records.
    pub records: u64,
    /// Bytes of the input.
    pub read: u64,
    /// Bytes of the output.
    pub written: u64,
}

/// Converts a file of records to messages of tightwire-parco, which [`Decoder`] reads.
///
/// Memory is proportional to the largest record. The output is written to a temporary file in the same folder, decoded
/// again and compared with the input, and then renamed. It has the permissions of the input.
///
/// # Errors
///
/// Fails if the output exists, if a record is malformed, truncated or larger than [`MAX_RECORD`](crate::MAX_RECORD), if
/// a converted record differs from its source, and if a file cannot be read or written. There is no output file then.
pub fn convert(from: Format, input: &Path, output: &Path) -> Result<Summary> {
    ensure!(!output.try_exists()?, "{} exists", output.display());
    let mut source = Source::open(from, input)?;
    let folder = output.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let temporary = tempfile::Builder::new()
        .permissions(fs::metadata(input)?.permissions())
        .tempfile_in(folder)
        .with_context(|| format!("cannot create a file in {}", folder.display()))?;

    write(&mut source, temporary.as_file())?;
    verify(Source::open(from, input)?, File::open(temporary.path())?)?;
    let written = temporary.as_file().metadata()?.len();
    temporary.persist_noclobber(output).with_context(|| format!("cannot create {}", output.display()))?;
    Ok(Summary { records: source.next - 1, read: source.offset, written })
}

fn write(source: &mut Source, file: &File) -> Result<()> {
    let mut encoder = Encoder::new(BufWriter::new(file));
    while let Some(record) = source.read()? {
        let written = encoder.encode(&record);
        written.with_context(|| format!("record {} cannot be encoded", source.next - 1))?;
    }
    encoder.get_mut().flush()?;
    Ok(file.sync_all()?)
}

fn verify(mut source: Source, output: File) -> Result<()> {
    let mut decoder = Decoder::new(BufReader::new(output));
    while let Some(expected) = source.read()? {
        let number = source.next - 1;
        let found = decoder.decode::<Record>().with_context(|| format!("record {number} of the output"))?;
        if !found.is_some_and(|found| is_same(&expected, &found)) {
            bail!("record {number} differs after the conversion");
        }
    }
    ensure!(decoder.decode::<Record>()?.is_none(), "the output has more records than the input");
    Ok(())
}

/// Compares two records. A record that contains NaN differs from itself, so its bytes are compared as well.
fn is_same(one: &Record, other: &Record) -> bool {
    let bytes = tightwire_parco::to_vec;
    one == other || bytes(one).is_ok_and(|one| bytes(other).is_ok_and(|other| one == other))
}
