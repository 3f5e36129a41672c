//! Sorting of keys for the Go style and the canonical form.
//!
//! Entries are written in iteration order. An object whose keys are not sorted is recorded, and all recorded objects are
//! sorted in one pass when the document is complete, so that every byte is copied once, whatever the nesting.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use serde::ser;

use crate::codec::Codec;
use crate::error::Result;
use crate::grammar::string_len;

/// Order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By the bytes in UTF-8, which is the order of code points.
    Bytes,
    /// By the code units in UTF-16, without duplicates (RFC 8785, section 3.2.3).
    Utf16,
}

impl Order {
    /// Compares two keys in UTF-8.
    fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        // In UTF-16, code points above U+FFFF begin with a surrogate, which is smaller than U+E000 to U+FFFF. In UTF-8,
        // these begin with 0xEE or 0xEF, which are smaller than the first byte of code points above U+FFFF.
        let unit = |byte: &u8| if matches!(byte, 0xee | 0xef) { byte + 0x10 } else { *byte };
        match self {
            Self::Bytes => left.cmp(right),
            Self::Utf16 => left.iter().map(unit).cmp(right.iter().map(unit)),
        }
    }

    /// Returns whether the key at `next` in `out` sorts after the key at `last`. Keys with escapes count as out of
    /// order, as do equal keys if they are not allowed.
    #[inline]
    fn is_ordered(self, out: &[u8], last: usize, next: usize) -> bool {
        let (Some(last), Some(next)) = (plain(&out[last..]), plain(&out[next..])) else { return false };
        match self.compare(last, next) {
            Ordering::Less => true,
            Ordering::Equal => self == Self::Bytes,
            Ordering::Greater => false,
        }
    }
}

/// Keys of an open object. Without an [`Order`], nothing is recorded.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Offset of the first key in the output.
    start: usize,
    /// Offset of the last key in the output.
    last: usize,
    unordered: bool,
    /// Number of unsorted objects recorded before this one was opened.
    first_inner: usize,
}

impl Keys {
    /// Returns no keys, after the opening brace of an object was written.
    #[inline(always)]
    pub(super) fn new(out: &[u8], recorded: &[Unsorted]) -> Self {
        Self { start: out.len(), last: out.len(), unordered: false, first_inner: recorded.len() }
    }

    /// Compares the key that was written at `key`, the offset of its opening quote, with the one before it.
    #[inline(always)]
    pub(super) fn push(&mut self, order: Option<Order>, out: &[u8], key: usize) {
        let Some(order) = order else { return };
        if key != self.start && !self.unordered {
            self.unordered = !order.is_ordered(out, self.last, key);
        }
        self.last = key;
    }

    /// Records the object if its keys are not in order. Called before its closing brace is written.
    #[inline(always)]
    pub(super) fn close(&self, order: Option<Order>, out: &[u8], recorded: &mut Vec<Unsorted>) -> Result<()> {
        match order {
            Some(order) if self.unordered => self.record(order, out, recorded),
            _ => Ok(()),
        }
    }

    fn record(&self, order: Order, out: &[u8], recorded: &mut Vec<Unsorted>) -> Result<()> {
        recorded.push(Unsorted::new(order, out, self.start, recorded, self.first_inner)?);
        Ok(())
    }
}

/// Object whose keys were not written in order.
#[derive(Debug)]
pub(super) struct Unsorted {
    /// Range of all entries in the output.
    range: Range<usize>,
    /// Ranges of the entries, sorted by key.
    entries: Vec<Range<usize>>,
    /// Number of objects recorded before this one was opened. Later ones are nested in it.
    first_inner: usize,
}

/// Returns the key of an entry, `None` if it has escapes.
fn plain(entry: &[u8]) -> Option<&[u8]> {
    let body = entry.get(1..)?;
    let end = memchr::memchr2(b'"', b'\\', body)?;
    (body[end] == b'"').then(|| &body[..end])
}

impl Unsorted {
    /// Returns the record of the object in `out[start..]`, with its entries sorted. `recorded` contains all objects
    /// recorded so far; those from `first_inner` on are nested in this one.
    fn new(order: Order, out: &[u8], start: usize, recorded: &[Self], first_inner: usize) -> Result<Self> {
        let mut entries = Vec::new();
        for entry in split(out, start, inner_ranges(recorded, first_inner)) {
            let key = match plain(&out[entry.start..]) {
                Some(key) => Cow::Borrowed(key),
                None => Cow::Owned(Codec::leading_string(&out[entry.clone()])?.into_bytes()),
            };
            entries.push((key, entry));
        }
        entries.sort_by(|(left, _), (right, _)| order.compare(left, right));
        if order == Order::Utf16 && entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(ser::Error::custom("duplicate key"));
        }
        let entries = entries.into_iter().map(|(_, entry)| entry).collect();
        Ok(Self { range: start..out.len(), entries, first_inner })
    }
}

/// Returns the ranges of the outermost recorded objects from index `first` on, the last one first.
fn inner_ranges(recorded: &[Unsorted], first: usize) -> Vec<Range<usize>> {
    let (mut ranges, mut len) = (Vec::new(), recorded.len());
    while len > first {
        let map = &recorded[len - 1];
        ranges.push(map.range.clone());
        len = map.first_inner;
    }
    ranges
}

/// Splits the entries of an object at their commas. Skips the recorded objects at `inner`, so that each byte is scanned
/// for its innermost object only.
fn split(out: &[u8], start: usize, mut inner: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let (mut entries, mut entry, mut at, mut depth) = (Vec::new(), start, start, 0_usize);
    while let Some(byte) = out.get(at) {
        match byte {
            b'"' => {
                at += string_len(&out[at..]).unwrap_or(1);
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                if let Some(map) = inner.pop_if(|map| map.start == at + 1) {
                    at = map.end;
                    continue;
                }
            }
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => {
                entries.push(entry..at);
                entry = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    entries.push(entry..at);
    entries
}

/// Sorts the entries of all recorded objects, without recursion: raw values may be nested deeply.
pub(super) fn sort(out: &mut Vec<u8>, mut maps: Vec<Unsorted>) {
    maps.sort_unstable_by_key(|map| map.range.start);
    let Some(start) = maps.first().map(|map| map.range.start) else { return };
    let mut sorted = Vec::with_capacity(out.len() - start);
    // Parts to copy and the text before each, the next one last.
    let mut parts = vec![(&b""[..], start..out.len())];
    while let Some((before, part)) = parts.pop() {
        sorted.extend_from_slice(before);
        let next = maps.partition_point(|map| map.range.start < part.start);
        let Some(map) = maps.get(next).filter(|map| map.range.start < part.end) else {
            sorted.extend_from_slice(&out[part]);
            continue;
        };
        sorted.extend_from_slice(&out[part.start..map.range.start]);
        parts.push((b"", map.range.end..part.end));
        // Parts begin after the opening quote: the first entry starts where its map does, and would find the map again.
        parts.extend(map.entries.iter().enumerate().rev().map(|(index, entry)| {
            (if index == 0 { &b"\""[..] } else { b",\"" }, entry.start + 1..entry.end)
        }));
    }
    out.truncate(start);
    out.append(&mut sorted);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Order;

    fn key() -> impl Strategy<Value = String> {
        // Each alternative has neighbours whose order differs between UTF-8 and UTF-16.
        let char = prop_oneof![
            any::<char>(),
            prop::sample::select(vec![
                '\0', 'a', '\u{7f}', '\u{80}', '\u{7ff}', '\u{800}', '\u{d7ff}', '\u{e000}'
            ]),
            prop::sample::select(vec![
                '\u{efff}',
                '\u{f000}',
                '\u{ffff}',
                '\u{10000}',
                '\u{1f600}',
                '\u{10ffff}'
            ]),
        ];
        prop::collection::vec(char, 0..4).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn keys_are_compared_by_utf_16_code_units(left in key(), right in key()) {
            let expected = left.encode_utf16().cmp(right.encode_utf16());
            prop_assert_eq!(Order::Utf16.compare(left.as_bytes(), right.as_bytes()), expected);
        }
    }
}
