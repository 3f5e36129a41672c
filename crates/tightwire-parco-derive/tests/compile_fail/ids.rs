//! An id that does not fit its wire type.

use tightwire_parco::Encode;

#[derive(Encode)]
#[parco(id = u8)]
enum Range {
    #[parco(id = 256)]
    One,
}

fn main() {}
