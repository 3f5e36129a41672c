//! Structs and enums with derived codecs.

mod attributes;
mod borrowed;
mod enums;
mod errors;
mod generics;
mod go_library;
mod into;
mod properties;
mod support;
mod views;
