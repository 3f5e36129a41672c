//! Attributes of structs and enums, and ids.

use tightwire_parco::{Decode, Encode};

#[derive(Encode)]
#[parco(id = u8)]
struct Id(u8);

#[derive(Encode)]
#[parco(go)]
enum NoForm {
    One,
}

#[derive(Encode)]
#[parco(id = u8, header = u8)]
enum Unknown {
    #[parco(id = 1)]
    One,
}

#[derive(Encode)]
enum SomeIds {
    #[parco(id = 1)]
    One,
    Two,
}

#[derive(Encode)]
#[parco(id = small)]
enum NoText {
    One,
}

#[derive(Decode)]
#[parco(id = u8)]
enum TwoOfOne {
    #[parco(id = 1)]
    One,
    #[parco(id = 0x01)]
    Two,
}

#[derive(Decode)]
#[parco(id = u8)]
enum OddId {
    #[parco(id = 'a')]
    One,
}

#[derive(Decode)]
#[parco(id = u8)]
enum Nothing {}

#[derive(Decode)]
union Union {
    field: u8,
}

#[derive(Encode)]
enum OtherWithoutLength {
    One,
    #[parco(other)]
    Other,
}

#[derive(Decode)]
#[parco(evolve)]
enum OtherFirst {
    #[parco(other)]
    Other,
    One,
}

fn main() {}
