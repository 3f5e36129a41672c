//! The metadata of wheels, for indexes that do not have them as files of their own.

mod source;
mod sparse;
mod wheel;

pub(crate) use source::MetadataSource;
