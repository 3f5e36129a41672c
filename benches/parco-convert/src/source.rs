//! Reads records of the source formats.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Take};
use std::path::Path;

use anyhow::{Context, Result};
use bincode1::Options;
use borsh::BorshDeserialize;

use crate::record::Record;

/// Maximum bytes of a record: 64 MiB. It bounds the memory for lengths in corrupt files.
pub const MAX_RECORD: usize = 64 << 20;

/// A format of stored records. The records of a file follow each other without separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// `bincode::serialize` of bincode 1, and `bincode::config::legacy()` of bincode 2.
    #[value(name = "bincode1")]
    Bincode1,
    /// `bincode::config::standard()` of bincode 2.
    #[value(name = "bincode2")]
    Bincode2,
    /// `postcard::to_stdvec`.
    Postcard,
    /// `borsh::to_vec`.
    Borsh,
    /// `rmp_serde::to_vec` and `rmp_serde::to_vec_named`.
    RmpSerde,
}

impl Format {
    /// Reads one record. The text of borrowed strings is read into the scratch buffer.
    fn read(self, input: &mut impl Read, scratch: &mut [u8]) -> Result<Record> {
        Ok(match self {
            Self::Bincode1 => bincode1::options()
                .with_fixint_encoding()
                .allow_trailing_bytes()
                .with_limit(MAX_RECORD as u64)
                .deserialize_from(input)?,
            Self::Bincode2 => {
                bincode::decode_from_std_read(input, bincode::config::standard().with_limit::<MAX_RECORD>())?
            }
            Self::Postcard => postcard::from_io((input, scratch))?.0,
            Self::Borsh => Record::deserialize_reader(input)?,
            Self::RmpSerde => rmp_serde::from_read(input)?,
        })
    }
}

/// The records of a file, read one at a time.
pub(crate) struct Source {
    format: Format,
    input: Take<BufReader<File>>,
    scratch: Vec<u8>,
    /// Number of the next record, from 1.
    pub(crate) next: u64,
    /// Bytes read so far.
    pub(crate) offset: u64,
}

impl Source {
    pub(crate) fn open(format: Format, path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let scratch = if format == Format::Postcard { vec![0; MAX_RECORD] } else { Vec::new() };
        Ok(Self { format, input: BufReader::new(file).take(0), scratch, next: 1, offset: 0 })
    }

    /// Reads the next record. Returns `None` at the end of the file.
    pub(crate) fn read(&mut self) -> Result<Option<Record>> {
        self.input.set_limit(MAX_RECORD as u64);
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let record = self.format.read(&mut self.input, &mut self.scratch).map_err(|error| {
            let is_at_limit = self.input.limit() == 0;
            if is_at_limit { error.context("it is larger than MAX_RECORD") } else { error }
        });
        let record =
            record.with_context(|| format!("record {} at byte {} is invalid", self.next, self.offset))?;
        self.offset += MAX_RECORD as u64 - self.input.limit();
        self.next += 1;
        Ok(Some(record))
    }
}
