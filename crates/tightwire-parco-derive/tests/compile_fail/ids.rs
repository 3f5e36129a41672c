//! An id that its form cannot carry.

use tightwire_parco::Encode;

#[derive(Encode)]
#[parco(id = u8)]
enum Range {
    #[parco(id = 256)]
    One,
}

fn main() {}
