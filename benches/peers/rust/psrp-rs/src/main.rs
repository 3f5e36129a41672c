//! Rows of the suite `psrp` for the crate `psrp-rs`, with the options of a suite.
//!
//! The documents have no root element and no references, and all properties are extended ones, because the crate
//! supports nothing else. Each operation returns the check value of our implementations if its result is right.

mod rows;

use benches::Suite;

benches::counting_allocator!();

fn main() {
    // Files of criterion go to the folder of the program.
    let mut suite = Suite::from_args("psrp", std::env::current_exe().unwrap_or_default());
    rows::add(&mut suite);
}
