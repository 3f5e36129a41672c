//! The subset of the ustar format that archives use: regular files with fixed attributes.
//!
//! An archive has exactly one representation. A reader knows the name and size of each entry in advance, so it compares
//! headers with the ones it expects instead of parsing them.

/// Size of a header; contents are padded to a multiple of it.
pub(super) const BLOCK: usize = 512;
/// Zero bytes after the last entry.
pub(super) const END: usize = 2 * BLOCK;
/// Larger sizes do not fit 11 octal digits.
const MAX_OCTAL: u64 = 0o777_7777_7777;

/// Maximum length of a name.
const MAX_NAME: usize = 99;

const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// Returns the header of a file with mode 644, without owner and time. The name has at most 99 bytes.
pub(super) fn header(name: &str, size: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in block[at..].iter_mut().zip(bytes) {
            *to = *from;
        }
    };
    put(0, &name.as_bytes()[..name.len().min(MAX_NAME)]);
    put(100, b"0000644\x000000000\x000000000\0");
    if size <= MAX_OCTAL {
        put(SIZE.start, format!("{size:011o}\0").as_bytes());
    } else {
        // Base 256, as in GNU tar and POSIX.1-2001 readers.
        put(SIZE.start, &[0x80]);
        put(SIZE.end - 8, &size.to_be_bytes());
    }
    put(136, b"00000000000\0");
    put(CHECKSUM.start, b"        0");
    put(257, b"ustar\x0000");
    put(329, b"0000000\x000000000\0");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let text = format!("{sum:06o}\0 ");
    block[CHECKSUM].copy_from_slice(&text.as_bytes()[..8]);
    block
}

/// Parses the name and size from a header that [`header`] returned; `None` for any other block.
pub(super) fn parse(block: &[u8; BLOCK]) -> Option<(&str, u64)> {
    let len = memchr::memchr(0, &block[..=MAX_NAME])?;
    let name = std::str::from_utf8(&block[..len]).ok()?;
    let digits = &block[SIZE];
    let size = match digits.strip_prefix(&[0x80]) {
        Some(rest) => u64::from_be_bytes(rest.last_chunk().copied()?),
        None => u64::from_str_radix(std::str::from_utf8(&digits[..11]).ok()?, 8).ok()?,
    };
    (header(name, size) == *block).then_some((name, size))
}

/// Returns the number of zero bytes after a content of this size.
pub(super) fn padding(size: u64) -> usize {
    let rest = usize::try_from(size % BLOCK as u64).unwrap_or_default();
    if rest == 0 { 0 } else { BLOCK - rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_exactly() {
        for (name, size) in
            [("a", 0), ("files/0", 511), ("x", MAX_OCTAL), ("x", MAX_OCTAL + 1), ("x", u64::MAX)]
        {
            let block = header(name, size);
            assert_eq!(parse(&block), Some((name, size)));
            for at in 0..BLOCK {
                let mut changed = block;
                changed[at] ^= 1;
                assert!(parse(&changed).is_none_or(|found| found != (name, size)), "{at}");
            }
        }
        assert_eq!(parse(&[0; BLOCK]), None);
        assert_eq!(parse(&[b'x'; BLOCK]), None);
        assert_eq!([0, 1, 511, 512, 513].map(padding), [0, 511, 1, 0, 511]);
    }
}
