//! Fields whose types have no form.

use parco::{Decode, Encode};

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
