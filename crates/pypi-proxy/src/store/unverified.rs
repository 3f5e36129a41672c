//! Checks of files without a hash: an error page or a truncated body is not the file.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt as _;

use super::read_at;

/// Signature of all records of a ZIP archive.
const ZIP: &[u8] = b"PK";
/// Signature of the record at the end of a ZIP archive, and its length without the comment.
const ZIP_END: &[u8] = b"PK\x05\x06";
const ZIP_END_LEN: usize = 22;
const GZIP: &[u8] = b"\x1f\x8b";

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    extensions.iter().any(|end| name.ends_with(end))
}

fn is_zip(name: &str) -> bool {
    has_extension(name, &[".whl", ".zip", ".egg"])
}

/// Checks the first bytes of a file, and returns the problem if there is one.
pub(super) fn problem_at_start(name: &str, start: &[u8]) -> Option<&'static str> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    if text.starts_with(b"<") {
        return Some("it is HTML or XML");
    }
    let len = start.len().min(ZIP.len());
    (is_zip(name) && start[..len] != ZIP[..len]).then_some("it is not a ZIP archive")
}

/// Checks whether a file of this length is complete, and returns the problem if it is not. Blocks the thread.
pub(super) fn problem_at_end(name: &str, file: &File, len: u64) -> io::Result<Option<&'static str>> {
    let truncated = Some("it is truncated");
    if is_zip(name) {
        let tail_len = len.min((ZIP_END_LEN + usize::from(u16::MAX)) as u64);
        let mut tail = vec![0; usize::try_from(tail_len).unwrap_or_default()];
        read_at(file, &mut tail, len - tail_len)?;
        let is_end = |at: usize| {
            let comment = tail.get(at + ZIP_END_LEN - 2..at + ZIP_END_LEN);
            let comment = comment.map(|len| usize::from(u16::from_le_bytes([len[0], len[1]])));
            comment.is_some_and(|comment| at + ZIP_END_LEN + comment == tail.len())
        };
        return Ok(truncated.filter(|_| !memchr::memmem::find_iter(&tail, ZIP_END).any(is_end)));
    }
    let mut start = [0; GZIP.len()];
    let is_gzip = has_extension(name, &[".tar.gz", ".tgz"]) && len >= GZIP.len() as u64;
    if is_gzip {
        read_at(file, &mut start, 0)?;
    }
    if start != *GZIP {
        return Ok(None);
    }
    let mut decoder = flate2::read::MultiGzDecoder::new(BufReader::new(FileFromStart(file, 0)));
    match io::copy(&mut decoder, &mut io::sink()) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(truncated),
        // Installers report other damage.
        _ => Ok(None),
    }
}

/// Reads a file without changing the position of its handle, which others share.
struct FileFromStart<'f>(&'f File, u64);

impl Read for FileFromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read_at(buffer, self.1)?;
        self.1 += count as u64;
        Ok(count)
    }
}
