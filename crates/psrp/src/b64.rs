//! Base64 the way .NET writes and reads it.
//!
//! base64-simd is three times as fast as base64 on packets of 4 KiB in both directions, and both take the same input.

/// Appends the standard alphabet with padding.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    // The encoder reserves no more than it needs, which would be one copy of all for each call.
    out.reserve(encoded_len(bytes.len()));
    base64_simd::STANDARD.encode_append(bytes, out);
}

/// The standard alphabet with padding.
pub(crate) fn encode_to_string(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// How long the text of so many bytes is.
pub(crate) const fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Up to so many groups of four characters, the vector code takes longer to begin than to read them one by one.
const FEW: usize = 16;

/// Appends the bytes of a short text without white space; nothing if it is another.
fn decode_short(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    /// What a character stands for, beyond six bits for those of no digit.
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
    let (last, kept) = match *last {
        [a, b, b'=', b'='] => ([a, b, b'A', b'A'], 1),
        [a, b, c, b'='] => ([a, b, c, b'A'], 2),
        full => (full, 3),
    };
    let mut bytes = [[0; 3]; FEW];
    let mut all = 0;
    let mut decode = |group: [u8; 4]| {
        let [a, b, c, d] = group.map(|digit| u32::from(DIGITS[usize::from(digit)]));
        all |= a | b | c | d;
        let [_, bytes @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
        bytes
    };
    *bytes.get_mut(groups.len())? = decode(last);
    for (bytes, group) in bytes.iter_mut().zip(groups) {
        *bytes = decode(*group);
    }
    if all >= 64 {
        return None;
    }
    out.extend_from_slice(&bytes.as_flattened()[..groups.len() * 3 + kept]);
    Some(())
}

/// Appends the bytes of a text. White space counts for nothing, padding must be there, and unused bits of the last
/// character are ignored. `None` if it is no Base64; then the buffer may have grown by something meaningless.
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
    // The forgiving decoder goes without padding and takes form feeds too.
    if !dense.len().is_multiple_of(4) || dense.contains(&b'\x0c') {
        return None;
    }
    out.extend(base64_simd::forgiving_decode_to_vec(&dense).ok()?);
    Some(())
}

/// The bytes of a text, as [`decode`] reads it.
pub(crate) fn decode_to_box(text: &[u8]) -> Option<Box<[u8]>> {
    // With the exact length, the vector becomes a box without a copy.
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
    fn reads_what_net_reads() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("AAEC", b"\0\x01\x02"),
            ("AAE=", b"\0\x01"),
            ("AA==", b"\0"),
            (" A\tA\r\nE C ", b"\0\x01\x02"),
            ("A A = =", b"\0"),
            // Bits that belong to no byte.
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
    fn every_length_and_character_is_read() {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        for len in 1..100 {
            for start in 0..64 {
                let bytes = &bytes[start..start + len];
                let mut text = Vec::new();
                encode(bytes, &mut text);
                let mut out = Vec::new();
                assert_eq!(decode_short(&text, &mut out).is_some(), len.div_ceil(3) <= FEW);
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
    fn writes_padding() {
        let mut out = Vec::new();
        encode(b"test data", &mut out);
        encode(b"t", &mut out);
        assert_eq!(out, b"dGVzdCBkYXRhdA==");
        assert_eq!(out.len(), encoded_len(9) + encoded_len(1));
    }
}
