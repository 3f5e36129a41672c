//! Fields whose types have no form.

use tightwire_parco::{Decode, Encode};

struct Foreign;

#[derive(Encode)]
struct NoForm {
    field: Foreign,
}

#[derive(Decode)]
struct Width {
    field: usize,
}

fn main() {}
