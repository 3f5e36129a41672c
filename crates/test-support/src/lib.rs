//! Test utilities that several crates share.
//!
//! - [`in_pieces`] feeds an input in chunks of several sizes to a streaming function and compares the results, [`Pieces`]
//!   reads chunks, and [`limits`] returns the limits at which implementations fail.
//! - [`counting`] measures allocations. Linking this crate installs its allocator.
//! - [`optional`] finds programs that a test uses if they are installed.
//! - [`simulation`] runs a test with many seeds.
//! - [`undeclared_crates`] finds crates that a README file uses without adding them.

pub mod counting;
pub mod optional;
pub mod simulation;

use std::fmt::Debug;
use std::io::{self, Read};

/// Chunk sizes for streaming functions: single bytes, an odd size, the payload of a TCP segment, and a common read
/// buffer.
pub const PIECE_SIZES: [usize; 4] = [1, 7, 1460, 65_536];

/// Runs `decode` on the whole input and in chunks of each of [`PIECE_SIZES`], and returns the result.
///
/// # Panics
///
/// Panics if a result differs from that of the whole input.
#[track_caller]
pub fn in_pieces<T: PartialEq + Debug>(input: &[u8], mut decode: impl FnMut(&[&[u8]]) -> T) -> T {
    let whole = decode(&[input]);
    for size in PIECE_SIZES {
        let pieces: Vec<&[u8]> = input.chunks(size).collect();
        let outcome = decode(&pieces);
        assert!(
            outcome == whole,
            "in pieces of {size} bytes: {:.2000}\nwhole: {:.2000}",
            format!("{outcome:?}"),
            format!("{whole:?}")
        );
    }
    whole
}

/// Returns the dependencies in `manifest` (the text of a `Cargo.toml`) that the Rust code of a README file uses, but that no
/// `cargo add` command of the file adds.
pub fn undeclared_crates<'a>(readme: &str, manifest: &'a str) -> Vec<&'a str> {
    let blocks = || readme.split("```").skip(1).step_by(2);
    let code: String = blocks().filter(|block| block.starts_with("rust")).collect();
    let is_added = |name: &str| {
        let mut commands = readme.lines().filter(|line| line.trim_start().starts_with("cargo add"));
        commands.any(|command| command.split_whitespace().any(|word| word == name))
    };
    let manifest = manifest.split_once("[dependencies]").map_or(manifest, |(_, dependencies)| dependencies);
    let dependencies = manifest.lines().filter_map(|line| line.split(['.', ' ']).next());
    let is_used = |name: &&str| !name.is_empty() && code.contains(&format!("{}::", name.replace('-', "_")));
    dependencies.filter(is_used).filter(|name| !is_added(name)).collect()
}

/// Reader that returns one chunk per call, and is interrupted before each.
#[derive(Debug)]
pub struct Pieces<'a> {
    pieces: &'a [&'a [u8]],
    rest: &'a [u8],
    is_interrupted: bool,
}

impl<'a> Pieces<'a> {
    /// Returns a reader of these chunks.
    pub fn new(pieces: &'a [&'a [u8]]) -> Self {
        Self { pieces, rest: &[], is_interrupted: false }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        while self.rest.is_empty() {
            let Some((first, pieces)) = self.pieces.split_first() else { return Ok(0) };
            (self.rest, self.pieces) = (first, pieces);
        }
        self.rest.read(buffer)
    }
}

/// Returns limits at which an off-by-one error shows for an input of `size` bytes: 1 and the sizes around `size`,
/// without 0.
pub fn limits(size: usize) -> impl Iterator<Item = usize> {
    let mut limits = vec![1, size.saturating_sub(1), size, size + 1];
    limits.retain(|limit| *limit > 0);
    limits.dedup();
    limits.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_input() {
        let input = vec![7; 3000];
        assert_eq!(in_pieces(&input, |pieces| pieces.concat().len()), 3000);
    }

    #[test]
    fn a_difference_is_reported() {
        let outcome = std::panic::catch_unwind(|| in_pieces(b"12345678", |pieces| pieces.len()));
        assert!(outcome.is_err());
    }

    #[test]
    fn limits_surround_the_size() {
        assert_eq!(limits(10).collect::<Vec<_>>(), [1, 9, 10, 11]);
        assert_eq!(limits(1).collect::<Vec<_>>(), [1, 2]);
    }
}
