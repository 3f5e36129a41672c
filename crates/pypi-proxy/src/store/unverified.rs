//! Checks of files without a hash: an error page or a truncated body is not the file.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind};

use super::{FileFromStart, read_at};
use crate::upstream::BYTE_ORDER_MARK;

/// Signature of all records of a ZIP archive.
const ZIP: &[u8] = b"PK";
/// Signature of the record at the end of a ZIP archive, and its length without the comment.
const ZIP_END: &[u8] = b"PK\x05\x06";
const ZIP_END_LEN: usize = 22;
/// Signatures of compressed files.
const GZIP: &[u8] = b"\x1f\x8b";
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = b"\xfd7zXZ\0";
/// Length of the header of an XZ file: the signature and two bytes of flags, which the end repeats.
const XZ_HEADER: usize = 8;
/// Maximum length of the end of a bzip2 file in bytes.
const BZIP2_END: u64 = 11;
/// Maximum length of the padding after an XZ file that is accepted, in bytes.
const XZ_PADDING: u64 = 4096;

/// Returns the signature of the archives with this extension.
fn signature(name: &str) -> Option<&'static [u8]> {
    match &*name.rsplit('.').next()?.to_ascii_lowercase() {
        "whl" | "zip" | "egg" => Some(ZIP),
        "gz" | "tgz" => Some(GZIP),
        "bz2" | "tbz" => Some(BZIP2),
        "xz" | "txz" => Some(XZ),
        _ => None,
    }
}

/// Checks the first bytes of a file, and returns the problem if there is one.
pub(super) fn problem_at_start(name: &str, start: &[u8]) -> Option<&'static str> {
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start).trim_ascii_start();
    if text.starts_with(b"<") || text.starts_with(b"{") {
        return Some("it is HTML, XML or JSON");
    }
    let key = text.split(|byte| *byte == b':').next().unwrap_or_default();
    if name.ends_with(".metadata") && !key.iter().all(u8::is_ascii_graphic) {
        return Some("it has no metadata");
    }
    let is_other = |signature: &[u8]| start.iter().zip(signature).any(|(byte, expected)| byte != expected);
    signature(name).is_some_and(is_other).then_some("it is not an archive of the kind that its name says")
}

/// Checks whether a file of this length is complete, and returns the problem if it is not. Blocks the thread.
pub(super) fn problem_at_end(name: &str, file: &File, len: u64) -> io::Result<Option<&'static str>> {
    let tail = |max: u64| {
        let tail_len = len.min(max);
        let mut tail = vec![0; usize::try_from(tail_len).unwrap_or_default()];
        read_at(file, &mut tail, len - tail_len).map(|()| tail)
    };
    let mut start = [0; XZ_HEADER];
    let start_len = usize::try_from(len).unwrap_or(usize::MAX).min(start.len());
    read_at(file, &mut start[..start_len], 0)?;
    let is_complete = if signature(name) == Some(ZIP) {
        let tail = tail((ZIP_END_LEN + usize::from(u16::MAX)) as u64)?;
        let is_end = |at: usize| {
            let comment = tail.get(at + ZIP_END_LEN - 2..at + ZIP_END_LEN);
            let comment = comment.map(|len| usize::from(u16::from_le_bytes([len[0], len[1]])));
            comment.is_some_and(|comment| at + ZIP_END_LEN + comment == tail.len())
        };
        memchr::memmem::find_iter(&tail, ZIP_END).any(is_end)
    } else if start.starts_with(GZIP) {
        let mut decoder = flate2::read::MultiGzDecoder::new(BufReader::new(FileFromStart::new(file)));
        // Installers report other damage.
        let end = io::copy(&mut decoder, &mut io::sink());
        end.map_or_else(|error| error.kind() != ErrorKind::UnexpectedEof, |_| true)
    } else if start.starts_with(BZIP2) {
        is_bzip2_end(&tail(BZIP2_END)?)
    } else if start.starts_with(XZ) {
        is_xz_end(&start[XZ.len()..], &tail(XZ_PADDING)?)
    } else {
        true
    };
    Ok((!is_complete).then_some("it is truncated"))
}

/// Returns whether this is the end of a bzip2 file: a signature of 48 bits and a checksum of 32 bits, at any bit, and
/// padding to a whole byte.
fn is_bzip2_end(tail: &[u8]) -> bool {
    const SIGNATURE: u128 = 0x1772_4538_5090;
    const MASK: u128 = (1 << 48) - 1;
    let bits = tail.iter().fold(0_u128, |bits, byte| (bits << 8) | u128::from(*byte));
    (0..8).any(|padding| (bits >> (32 + padding)) & MASK == SIGNATURE)
}

/// Returns whether this is the end of an XZ file with these flags: the flags and a signature, possibly followed by zeros.
fn is_xz_end(flags: &[u8], tail: &[u8]) -> bool {
    let len = tail.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    tail[..len].strip_suffix(b"YZ").is_some_and(|front| front.ends_with(flags))
}
