//! Tags of elements, ready to be copied.

/// A part of a tag. Copying as many bytes as fit and going on behind those that count takes no branch.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) bytes: [u8; Self::LONGEST],
    pub(super) len: usize,
}

impl Piece {
    /// How many bytes are copied, of which any piece takes the first.
    pub(super) const LONGEST: usize = 24;

    pub(super) const fn new(text: &str) -> Self {
        let mut bytes = [0; Self::LONGEST];
        let (used, _) = bytes.split_at_mut(text.len());
        used.copy_from_slice(text.as_bytes());
        Self { bytes, len: text.len() }
    }
}

/// The tags of an element.
pub(super) struct Tag {
    /// Without an end, for attributes.
    pub(super) open: Piece,
    /// Without attributes.
    pub(super) item: Piece,
    /// Up to the name.
    pub(super) member: Piece,
    pub(super) key: Piece,
    pub(super) value: Piece,
    pub(super) end: Piece,
}

macro_rules! tag {
    ($name:literal) => {{
        use super::tag::{Piece, Tag};

        static TAG: Tag = const {
            Tag {
                open: Piece::new(concat!("<", $name)),
                item: Piece::new(concat!("<", $name, ">")),
                member: Piece::new(concat!("<", $name, " N=\"")),
                key: Piece::new(concat!("<", $name, " N=\"Key\">")),
                value: Piece::new(concat!("<", $name, " N=\"Value\">")),
                end: Piece::new(concat!("</", $name, ">")),
            }
        };
        &TAG
    }};
}

pub(super) use tag;
