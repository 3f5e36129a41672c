//! Structs and enums with derived codecs.

mod attributes;
mod borrowed;
mod enums;
mod errors;
mod go_library;
mod generics;
mod into;
mod properties;
mod support;
mod views;
