//! Types that have no views.

use tightwire_parco::Decode;

#[derive(Decode)]
#[parco(view)]
struct Generic<T> {
    field: T,
}

#[derive(Decode)]
#[parco(view)]
struct Lifetimes<'a, 'b> {
    one: &'a str,
    other: &'b str,
}

#[derive(Decode)]
struct OnField {
    #[parco(view)]
    field: u8,
}

fn main() {}
