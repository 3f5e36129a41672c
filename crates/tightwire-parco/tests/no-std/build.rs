//! Links the C library, whose startup code calls `main`: rustc does not link it without std.

fn main() {
    println!("cargo::rustc-link-arg-bins=-lc");
}
