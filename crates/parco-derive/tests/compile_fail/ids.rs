//! An id that its form cannot carry.

use parco::Encode;

#[derive(Encode)]
#[parco(id = u8)]
enum Range {
    #[parco(id = 256)]
    One,
}

fn main() {}
