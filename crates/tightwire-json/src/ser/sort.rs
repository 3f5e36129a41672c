//! The order of map keys in the Go form.
//!
//! Entries are written as they come. A map whose keys are not in order is noted, and the whole document is put in order
//! in one pass when it is complete, so that nesting costs nothing: every byte is copied once.

use std::borrow::Cow;
use std::ops::Range;

use crate::de::{leading_string, string_len};
use crate::error::Result;

/// A map whose keys were not written in order.
#[derive(Debug)]
pub(super) struct Unsorted {
    /// Where its entries are in the output, from the first to the end of the last.
    place: Range<usize>,
    /// Its entries, in the order of their keys.
    entries: Vec<Range<usize>>,
    /// Number of maps noted before this one began. Those noted since then are inside it.
    first_inner: usize,
}

/// Whether the key that begins at `next` in `out` comes after the one at `last`, as far as can be told from the
/// written form. Keys with escapes count as out of order.
#[inline]
pub(super) fn is_ordered(out: &[u8], last: usize, next: usize) -> bool {
    matches!((plain(&out[last..]), plain(&out[next..])), (Some(last), Some(next)) if last <= next)
}

/// The text of a key that has no escapes.
fn plain(entry: &[u8]) -> Option<&[u8]> {
    let body = entry.get(1..)?;
    let end = memchr::memchr2(b'"', b'\\', body)?;
    (body[end] == b'"').then(|| &body[..end])
}

impl Unsorted {
    /// Finds the order of the entries of the map that begins at `start` and ends with `out`. `noted` are the maps before
    /// it, those from `first_inner` on inside of it.
    pub(super) fn new(out: &[u8], start: usize, noted: &[Self], first_inner: usize) -> Result<Self> {
        let mut entries = Vec::new();
        for entry in split(out, start, inner_places(noted, first_inner)) {
            let key = match plain(&out[entry.start..]) {
                Some(key) => Cow::Borrowed(key),
                None => Cow::Owned(leading_string(&out[entry.clone()])?.into_bytes()),
            };
            entries.push((key, entry));
        }
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        let entries = entries.into_iter().map(|(_, entry)| entry).collect();
        Ok(Self { place: start..out.len(), entries, first_inner })
    }
}

/// The places of the outermost noted maps from index `first` on, the last one first.
fn inner_places(noted: &[Unsorted], first: usize) -> Vec<Range<usize>> {
    let (mut places, mut len) = (Vec::new(), noted.len());
    while len > first {
        let map = &noted[len - 1];
        places.push(map.place.clone());
        len = map.first_inner;
    }
    places
}

/// Splits the entries of an object at their commas. Maps at `inner` are skipped, so that each byte is read for the innermost
/// map alone.
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

/// Puts the entries of all these maps in order.
pub(super) fn sort(out: &mut Vec<u8>, mut maps: Vec<Unsorted>) {
    maps.sort_unstable_by_key(|map| map.place.start);
    let Some(start) = maps.first().map(|map| map.place.start) else { return };
    let mut sorted = Vec::with_capacity(out.len() - start);
    copy(out, start..out.len(), &maps, &mut sorted);
    out.truncate(start);
    out.append(&mut sorted);
}

/// Copies a part of the output with the entries of its maps in order.
fn copy(out: &[u8], part: Range<usize>, maps: &[Unsorted], sorted: &mut Vec<u8>) {
    let mut at = part.start;
    let mut next = maps.partition_point(|map| map.place.start < at);
    while let Some(map) = maps.get(next).filter(|map| map.place.start < part.end) {
        sorted.extend_from_slice(&out[at..map.place.start]);
        for (index, entry) in map.entries.iter().enumerate() {
            if index != 0 {
                sorted.push(b',');
            }
            // The key first: an entry of the map begins where the map does.
            let key = entry.start + 1;
            sorted.extend_from_slice(&out[entry.start..key]);
            copy(out, key..entry.end, maps, sorted);
        }
        at = map.place.end;
        next = maps.partition_point(|map| map.place.start < at);
    }
    sorted.extend_from_slice(&out[at..part.end]);
}
