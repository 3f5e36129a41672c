//! Random addresses: every placement of a row has its inputs and buffers somewhere else.
//!
//! Where memory lies changes the ratio of unlike code by up to 60 %, and stays the same within a process as long as the
//! allocator returns the same blocks. Blocks of random size between the allocations of a suite move all later ones by
//! whole cache lines.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

const CACHE_LINE: usize = 64;
/// glibc maps a block of this size separately and, after it is freed, takes blocks up to this size from the heap.
/// Separate mappings always begin at the same offset in a page.
const LARGEST_HEAP_BLOCK: usize = 31 << 20;

/// Blocks that are in use until the end of a pass.
#[derive(Debug, Default)]
pub(crate) struct Placement(Vec<Vec<u8>>);

impl Placement {
    /// Starts a pass at other addresses.
    pub(crate) fn renew(&mut self) {
        self.0.clear();
        drop(black_box(Vec::<u8>::with_capacity(LARGEST_HEAP_BLOCK)));
        self.shift(4096);
        // Earlier allocations, such as those of the command line, leave free blocks: a random part of them is filled.
        for _ in 0..random(256) {
            self.shift(64);
        }
    }

    /// Moves the next allocations by at most `lines` cache lines.
    pub(crate) fn shift(&mut self, lines: usize) {
        self.0.push(black_box(Vec::with_capacity(CACHE_LINE * (1 + random(lines)))));
    }
}

/// Returns a number below `limit`.
fn random(limit: usize) -> usize {
    RandomState::new().hash_one(()) as usize % limit
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn passes_have_other_addresses() {
        let mut placement = Placement::default();
        let mut offsets = HashSet::new();
        for _ in 0..32 {
            placement.renew();
            let buffer = black_box(vec![0_u8; 20_000]);
            offsets.insert(buffer.as_ptr().addr() % 4096);
        }
        assert!(offsets.len() > 4, "{offsets:?}");
    }
}
