//! Brackets, commas and the ends of strings, 64 bytes at a time.

use super::{BLOCK, engine};

/// Search for brackets and commas outside of strings, and for the ends of strings. Whether a document is well-formed is
/// not checked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Structure {
    /// All bits are set if the next byte is inside of a string.
    inside: u64,
    /// 1 if a backslash precedes the next byte and escapes it.
    escaped: u64,
}

/// Maximum length of a part, in bytes.
pub(crate) const PART: usize = 4 * BLOCK;

/// Masks whose bit `i` describes byte `i` of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Brackets and braces outside of strings.
    pub(crate) brackets: u64,
    /// Commas outside of strings.
    pub(crate) commas: u64,
    /// Closing quotes.
    pub(crate) closing: u64,
}

/// Combines the masks of the blocks of a part.
#[inline(always)]
pub(super) fn by_blocks(part: &[u8; PART], masks: impl Fn(&[u8; BLOCK]) -> [u32; 4]) -> [u64; 4] {
    let mut combined = [0; 4];
    for (at, block) in part.as_chunks::<BLOCK>().0.iter().enumerate() {
        for (mask, found) in combined.iter_mut().zip(masks(block)) {
            *mask |= u64::from(found) << (at * BLOCK);
        }
    }
    combined
}

impl Structure {
    /// Searches the next bytes of a document: calls `find` with the offset of each part and its tokens, until it returns a
    /// result. If there is none, the search may continue behind `bytes`.
    #[inline(always)]
    pub(crate) fn search<T>(
        &mut self,
        bytes: &[u8],
        mut find: impl FnMut(usize, Tokens) -> Option<T>,
    ) -> Option<T> {
        let (parts, rest) = bytes.as_chunks();
        for (index, part) in parts.iter().enumerate() {
            let found = find(index * PART, self.tokens(part, PART));
            if found.is_some() {
                return found;
            }
        }
        if rest.is_empty() {
            return None;
        }
        let mut padded = [0; PART];
        padded[..rest.len()].copy_from_slice(rest);
        find(bytes.len() - rest.len(), self.tokens(&padded, rest.len()))
    }

    /// Returns the tokens in a part, of which the first `len` bytes belong to the document.
    #[inline(always)]
    fn tokens(&mut self, part: &[u8; PART], len: usize) -> Tokens {
        let [quotes, backslashes, brackets, commas] = engine::structure(part);
        let quotes = quotes & !self.escapes(backslashes, len);
        // Each bit becomes the parity of the quotes up to its byte.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.inside;
        self.inside = (inside.cast_signed() >> 63).cast_unsigned();
        Tokens { brackets: brackets & !inside, commas: commas & !inside, closing: quotes & !inside }
    }

    /// Returns a mask of the escaped bytes.
    #[inline(always)]
    fn escapes(&mut self, backslashes: u64, len: usize) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.escaped;
        let runs = backslashes & !(backslashes << 1);
        // The carry of the addition clears the runs that begin at an even bit.
        let even = backslashes & !backslashes.wrapping_add(runs & EVEN);
        // Every second backslash of a run escapes the next byte, from the first one on.
        let starts = backslashes & (even ^ !EVEN);
        let escaped = starts << 1 | self.escaped;
        self.escaped = starts >> (len - 1) & 1;
        escaped
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::portable;

    /// Offsets of the brackets, commas and closing quotes.
    fn naive(document: &[u8]) -> [Vec<usize>; 3] {
        let mut found = [const { Vec::new() }; 3];
        let (mut inside, mut escaped) = (false, false);
        for (at, byte) in document.iter().enumerate() {
            let was_escaped = std::mem::take(&mut escaped);
            match byte {
                b'\\' => escaped = !was_escaped,
                b'"' if was_escaped => {}
                b'"' => {
                    if inside {
                        found[2].push(at);
                    }
                    inside = !inside;
                }
                b'{' | b'}' | b'[' | b']' if !inside => found[0].push(at),
                b',' if !inside => found[1].push(at),
                _ => {}
            }
        }
        found
    }

    /// Same as [`naive`], for a document that arrives in pieces.
    fn tokens(document: &[u8], lengths: &[usize]) -> [Vec<usize>; 3] {
        let mut found = [const { Vec::new() }; 3];
        let (mut structure, mut at, mut lengths) = (Structure::default(), 0, lengths.iter());
        while at < document.len() {
            let len = lengths.next().map_or(document.len(), |len| *len).min(document.len() - at);
            let find = |offset, Tokens { brackets, commas, closing }| {
                for (found, mask) in found.iter_mut().zip([brackets, commas, closing]) {
                    found.extend((0..PART).filter(|bit| mask >> bit & 1 == 1).map(|bit| at + offset + bit));
                }
                None::<()>
            };
            structure.search(&document[at..at + len], find);
            at += len;
        }
        found
    }

    proptest! {
        #[test]
        fn tokens_do_not_depend_on_the_parts(
            document in r#"([\[\]{}"\\,:xé]|\\{1,5}){0,200}"#,
            lengths in prop::collection::vec(1_usize..=200, 0..10),
        ) {
            let expected = naive(document.as_bytes());
            prop_assert_eq!(&tokens(document.as_bytes(), &[]), &expected);
            prop_assert_eq!(&tokens(document.as_bytes(), &lengths), &expected);
        }

        #[test]
        fn engines_agree(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), prop::sample::select(&b"\"\\{}[],"[..])],
                PART,
            )
        ) {
            let part = bytes.first_chunk().unwrap();
            let expected = ["\"", "\\", "{}[]", ","].map(|set| {
                (0..PART).map(|at| u64::from(set.as_bytes().contains(&part[at])) << at).sum::<u64>()
            });
            prop_assert_eq!(engine::structure(part), expected);
            prop_assert_eq!(portable::structure(part), expected);
        }
    }
}
