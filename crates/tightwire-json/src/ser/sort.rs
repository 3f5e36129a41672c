//! Sorting of map keys for the Go style.
//!
//! Entries are written in iteration order. A map whose keys are not sorted is recorded, and all recorded maps are
//! sorted in one pass when the document is complete, so that every byte is copied once, whatever the nesting.

use std::borrow::Cow;
use std::ops::Range;

use crate::de::{leading_string, string_len};
use crate::error::Result;

/// Map whose keys were not written in order.
#[derive(Debug)]
pub(super) struct Unsorted {
    /// Range of all entries in the output.
    range: Range<usize>,
    /// Ranges of the entries, sorted by key.
    entries: Vec<Range<usize>>,
    /// Number of maps recorded before this one was opened. Later ones are nested in it.
    first_inner: usize,
}

/// Returns whether the key at `next` in `out` sorts after the key at `last`. Keys with escapes count as out of order.
#[inline]
pub(super) fn is_ordered(out: &[u8], last: usize, next: usize) -> bool {
    matches!((plain(&out[last..]), plain(&out[next..])), (Some(last), Some(next)) if last <= next)
}

/// Returns the key of an entry, `None` if it has escapes.
fn plain(entry: &[u8]) -> Option<&[u8]> {
    let body = entry.get(1..)?;
    let end = memchr::memchr2(b'"', b'\\', body)?;
    (body[end] == b'"').then(|| &body[..end])
}

impl Unsorted {
    /// Returns the record of the map in `out[start..]`, with its entries sorted. `recorded` contains all maps
    /// recorded so far; those from `first_inner` on are nested in this map.
    pub(super) fn new(out: &[u8], start: usize, recorded: &[Self], first_inner: usize) -> Result<Self> {
        let mut entries = Vec::new();
        for entry in split(out, start, inner_ranges(recorded, first_inner)) {
            let key = match plain(&out[entry.start..]) {
                Some(key) => Cow::Borrowed(key),
                None => Cow::Owned(leading_string(&out[entry.clone()])?.into_bytes()),
            };
            entries.push((key, entry));
        }
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        let entries = entries.into_iter().map(|(_, entry)| entry).collect();
        Ok(Self { range: start..out.len(), entries, first_inner })
    }
}

/// Returns the ranges of the outermost recorded maps from index `first` on, the last one first.
fn inner_ranges(recorded: &[Unsorted], first: usize) -> Vec<Range<usize>> {
    let (mut ranges, mut len) = (Vec::new(), recorded.len());
    while len > first {
        let map = &recorded[len - 1];
        ranges.push(map.range.clone());
        len = map.first_inner;
    }
    ranges
}

/// Splits the entries of an object at their commas. Skips the recorded maps at `inner`, so that each byte is scanned
/// for its innermost map only.
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

/// Sorts the entries of all recorded maps.
pub(super) fn sort(out: &mut Vec<u8>, mut maps: Vec<Unsorted>) {
    maps.sort_unstable_by_key(|map| map.range.start);
    let Some(start) = maps.first().map(|map| map.range.start) else { return };
    let mut sorted = Vec::with_capacity(out.len() - start);
    copy(out, start..out.len(), &maps, &mut sorted);
    out.truncate(start);
    out.append(&mut sorted);
}

/// Copies a range of the output with the entries of its maps sorted.
fn copy(out: &[u8], part: Range<usize>, maps: &[Unsorted], sorted: &mut Vec<u8>) {
    let mut at = part.start;
    let mut next = maps.partition_point(|map| map.range.start < at);
    while let Some(map) = maps.get(next).filter(|map| map.range.start < part.end) {
        sorted.extend_from_slice(&out[at..map.range.start]);
        for (index, entry) in map.entries.iter().enumerate() {
            if index != 0 {
                sorted.push(b',');
            }
            // Copies the first byte here: the first entry starts where its map does, and would find the map again.
            let key = entry.start + 1;
            sorted.extend_from_slice(&out[entry.start..key]);
            copy(out, key..entry.end, maps, sorted);
        }
        at = map.range.end;
        next = maps.partition_point(|map| map.range.start < at);
    }
    sorted.extend_from_slice(&out[at..part.end]);
}
