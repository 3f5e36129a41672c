//! Structs and enums with derived codecs.

mod attributes;
mod borrowed;
mod enums;
mod errors;
mod generics;
mod into;
mod support;
mod views;
