//! Attributes of fields that do not exist.

use tightwire_parco::Encode;

#[derive(Encode)]
struct Unknown {
    #[parco(bigendian)]
    field: u16,
}

#[derive(Encode)]
struct UnknownInside {
    #[parco(elem(rename = "x"))]
    field: Vec<u16>,
}

#[derive(Encode)]
struct NoHeader {
    #[parco(header = u24)]
    field: String,
}

#[derive(Encode)]
struct NoOrder {
    #[parco(header = u8be)]
    field: String,
}

#[derive(Encode)]
struct NoValue {
    #[parco(header)]
    field: String,
}

fn main() {}
