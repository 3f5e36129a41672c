//! Structs and enums with derived codecs.

mod attributes;
mod borrowed;
mod enums;
mod errors;
mod forms;
mod generics;
mod into;
mod properties;
mod support;
mod views;
