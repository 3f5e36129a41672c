//! Base64 as .NET reads and writes it.
//!
//! base64-simd is three times as fast as base64 on packets of 4 KiB in both directions, and decodes texts of 4 to 64
//! characters at least twice as fast. Both accept the same input.

/// Appends the bytes in the standard alphabet with padding.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    // The encoder reserves the exact size, so that without this every call would reallocate.
    out.reserve(encoded_len(bytes.len()));
    base64_simd::STANDARD.encode_append(bytes, out);
}

/// Encodes to the standard alphabet with padding.
pub(crate) fn encode_to_string(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// Length of the encoded text of this many bytes.
pub(crate) const fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Decodes and appends. White space is skipped, padding is required, and unused bits of the last character are ignored.
/// Returns `None` for invalid Base64, in which case the buffer may have grown by garbage.
#[must_use]
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let before = out.len();
    if base64_simd::STANDARD.decode_append(text, out).is_ok() {
        return Some(());
    }
    out.truncate(before);
    let dense: Vec<u8> = text.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect();
    // The forgiving decoder accepts missing padding and form feeds; .NET does not.
    if !dense.len().is_multiple_of(4) || dense.contains(&b'\x0c') {
        return None;
    }
    out.extend(base64_simd::forgiving_decode_to_vec(&dense).ok()?);
    Some(())
}

/// Like [`decode`], into a new buffer.
pub(crate) fn decode_to_box(text: &[u8]) -> Option<Box<[u8]>> {
    // With the exact capacity, the conversion to a box does not copy.
    let padding = text.iter().rev().take(2).filter(|byte| **byte == b'=').count();
    let mut bytes = Vec::with_capacity((text.len() / 4 * 3).saturating_sub(padding));
    decode(text, &mut bytes)?;
    Some(bytes.into())
}
