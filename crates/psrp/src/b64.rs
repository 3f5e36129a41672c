//! Base64 as .NET reads and writes it.
//!
//! base64-simd is three times as fast as base64 on packets of 4 KiB in both directions, and both accept the same input.

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

/// Maximum groups of four characters that [`decode_short`] handles: for these the start-up of the vector code costs
/// more than a plain loop.
const SHORT_GROUPS: usize = 16;

/// Decodes short text without white space. Returns `None`, without output, for all other input.
fn decode_short(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    /// Value of each character; above 63 for characters outside the alphabet.
    const DIGITS: [u8; 256] = {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut digits = [u8::MAX; 256];
        let mut value = 0;
        while value < alphabet.len() {
            digits[alphabet[value] as usize] = value as u8;
            value += 1;
        }
        digits
    };

    let (groups, []) = text.as_chunks::<4>() else { return None };
    let (last, groups) = groups.split_last()?;
    let (last, last_len) = match *last {
        [a, b, b'=', b'='] => ([a, b, b'A', b'A'], 1),
        [a, b, c, b'='] => ([a, b, c, b'A'], 2),
        full => (full, 3),
    };
    let mut bytes = [[0; 3]; SHORT_GROUPS];
    let mut all_digits = 0;
    let mut decode = |group: [u8; 4]| {
        let [a, b, c, d] = group.map(|digit| u32::from(DIGITS[usize::from(digit)]));
        all_digits |= a | b | c | d;
        let [_, bytes @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
        bytes
    };
    *bytes.get_mut(groups.len())? = decode(last);
    for (bytes, group) in bytes.iter_mut().zip(groups) {
        *bytes = decode(*group);
    }
    if all_digits >= 64 {
        return None;
    }
    out.extend_from_slice(&bytes.as_flattened()[..groups.len() * 3 + last_len]);
    Some(())
}

/// Decodes and appends. White space is skipped, padding is required, and unused bits of the last character are ignored.
/// Returns `None` for invalid Base64, in which case the buffer may have grown by garbage.
#[must_use]
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let before = out.len();
    if decode_short(text, out).is_some() {
        return Some(());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<Vec<u8>> {
        let mut out = b"before".to_vec();
        decode(text.as_bytes(), &mut out).map(|()| out.split_off(6))
    }

    #[test]
    fn accepts_and_rejects_like_dotnet() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("AAEC", b"\0\x01\x02"),
            ("AAE=", b"\0\x01"),
            ("AA==", b"\0"),
            (" A\tA\r\nE C ", b"\0\x01\x02"),
            ("A A = =", b"\0"),
            // Unused bits of the last character.
            ("AB==", b"\0"),
            ("+/+/", b"\xfb\xff\xbf"),
        ] {
            assert_eq!(decoded(text).as_deref(), Some(bytes), "{text:?}");
        }
        for text in [
            "A",
            "AA",
            "AAE",
            "A===",
            "====",
            "AA=A",
            "AA==AAAA",
            "-_-_",
            "AAE\u{a0}",
            "AAE\x0b",
            "AAE\x0c",
            "AA\0=",
        ] {
            assert_eq!(decoded(text), None, "{text:?}");
        }
    }

    #[test]
    fn short_decoder_agrees_for_every_length_and_character() {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        for len in 1..100 {
            for start in 0..64 {
                let bytes = &bytes[start..start + len];
                let mut text = Vec::new();
                encode(bytes, &mut text);
                let mut out = Vec::new();
                assert_eq!(decode_short(&text, &mut out).is_some(), len.div_ceil(3) <= SHORT_GROUPS);
                out.clear();
                assert_eq!(decode(&text, &mut out), Some(()));
                assert_eq!(out, bytes);
            }
        }
        for byte in 0..=u8::MAX {
            let is_digit = byte.is_ascii_alphanumeric() || b"+/".contains(&byte);
            for at in 0..3 {
                let mut text = *b"AAAAAAA=";
                text[at] = byte;
                assert_eq!(decode_short(&text, &mut Vec::new()).is_some(), is_digit, "{byte} at {at}");
                text[at] = b'A';
                text[at + 4] = byte;
                let is_padding = at == 2 && byte == b'=';
                assert_eq!(decode_short(&text, &mut Vec::new()).is_some(), is_digit || is_padding);
            }
        }
    }

    #[test]
    fn encoding_is_padded() {
        let mut out = Vec::new();
        encode(b"test data", &mut out);
        encode(b"t", &mut out);
        assert_eq!(out, b"dGVzdCBkYXRhdA==");
        assert_eq!(out.len(), encoded_len(9) + encoded_len(1));
    }
}
