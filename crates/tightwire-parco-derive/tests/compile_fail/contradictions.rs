//! Attributes that contradict each other.

use tightwire_parco::{Decode, Encode};

#[derive(Encode)]
struct Twice {
    #[parco(small, small)]
    field: String,
}

#[derive(Encode)]
struct TwoHeaders {
    #[parco(small)]
    #[parco(header = u32)]
    field: String,
}

#[derive(Encode)]
struct TwoOrders {
    #[parco(be, le)]
    field: u16,
}

#[derive(Encode)]
struct Ignored {
    #[parco(ignore, small)]
    field: String,
}

#[derive(Encode)]
struct Inside {
    #[parco(elem(int, uint))]
    field: Vec<i64>,
}

#[derive(Encode)]
struct Given {
    #[parco(be, with = tightwire_parco::wire::U8)]
    field: u8,
}

#[derive(Encode)]
struct Foreign {
    #[parco(serde, small)]
    field: String,
}

#[derive(Encode)]
#[parco(le, be)]
struct Container(u8);

#[derive(Encode)]
#[parco(go, evolve)]
struct Go(u8);

#[derive(Encode)]
#[parco(format = bincode1, be)]
struct FormatAndOrder(u8);

#[derive(Encode)]
#[parco(go, format = bincode2)]
struct FormatAndGo(u8);

#[derive(Encode)]
#[parco(format = postcard, evolve)]
struct FormatAndLength(u8);

#[derive(Encode)]
#[parco(format = postcard, into = u8)]
struct FormatAndOther(u8);

#[derive(Decode)]
struct NotTrailing {
    #[parco(default_on_eof)]
    field: u8,
    last: u8,
}

fn main() {}
