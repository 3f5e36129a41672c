//! Extracts the metadata of wheels, for indexes that do not offer it separately.

mod source;
mod sparse;
mod wheel;

pub(crate) use source::MetadataSource;
