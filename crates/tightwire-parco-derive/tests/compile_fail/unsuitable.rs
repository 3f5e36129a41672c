//! Fields whose types have no wire type, or one that the attributes do not apply to.

use tightwire_parco::{Decode, Encode, MaxSize};

#[derive(Encode)]
struct Header {
    #[parco(small)]
    field: u16,
}

#[derive(Encode)]
struct Element {
    #[parco(elem(be))]
    field: u16,
}

#[derive(Encode)]
struct Entry {
    #[parco(key(be))]
    field: Vec<u16>,
}

#[derive(Encode)]
struct Go {
    #[parco(int)]
    field: u64,
}

#[derive(Encode)]
struct Bytes {
    #[parco(blob)]
    field: Vec<u16>,
}

#[derive(Encode)]
#[parco(id = tightwire_parco::wire::Bool)]
enum NoId {
    #[parco(id = 1)]
    One,
}

struct Foreign;

#[derive(Encode)]
struct NoForm {
    field: Foreign,
}

#[derive(Decode)]
struct NoDecoder {
    field: Foreign,
}

#[derive(Encode)]
struct Tuple {
    #[parco(elem(be))]
    field: (u16, u16),
}

#[derive(Encode)]
struct Duration {
    #[parco(small)]
    field: std::time::Duration,
}

#[derive(Encode)]
struct Address {
    #[parco(inner(be))]
    field: std::net::IpAddr,
}

#[derive(Encode)]
#[parco(format = bincode1)]
struct OtherBytes {
    field: std::time::SystemTime,
}

#[derive(Encode, MaxSize)]
struct NoMaximum {
    field: String,
}

fn main() {}
