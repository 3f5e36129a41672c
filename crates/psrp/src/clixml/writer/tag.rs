//! Precomputed tags of elements.

/// Part of a tag. It is copied with its full capacity and then truncated, which takes no branch.
#[derive(Clone, Copy)]
pub(super) struct TagPart {
    pub(super) bytes: [u8; Self::CAPACITY],
    pub(super) len: usize,
}

impl TagPart {
    /// Number of bytes copied for each part; longer than all parts.
    pub(super) const CAPACITY: usize = 24;

    pub(super) const fn new(text: &str) -> Self {
        let mut bytes = [0; Self::CAPACITY];
        let (used, _) = bytes.split_at_mut(text.len());
        used.copy_from_slice(text.as_bytes());
        Self { bytes, len: text.len() }
    }
}

/// The tags of an element.
pub(super) struct Tag {
    /// The start tag without `>`, for attributes.
    pub(super) open: TagPart,
    /// The start tag without attributes.
    pub(super) item: TagPart,
    /// The start tag up to the name.
    pub(super) member: TagPart,
    pub(super) key: TagPart,
    pub(super) value: TagPart,
    pub(super) end: TagPart,
}

macro_rules! tag {
    ($name:literal) => {{
        use super::tag::{Tag, TagPart};

        static TAG: Tag = const {
            Tag {
                open: TagPart::new(concat!("<", $name)),
                item: TagPart::new(concat!("<", $name, ">")),
                member: TagPart::new(concat!("<", $name, " N=\"")),
                key: TagPart::new(concat!("<", $name, " N=\"Key\">")),
                value: TagPart::new(concat!("<", $name, " N=\"Value\">")),
                end: TagPart::new(concat!("</", $name, ">")),
            }
        };
        &TAG
    }};
}

pub(super) use tag;
