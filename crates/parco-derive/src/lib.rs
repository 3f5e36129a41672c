//! The derive macros of parco. Use them through that crate, which re-exports them.

mod attr;
mod decode;
mod encode;
mod form;
mod model;
mod shape;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

use crate::model::Model;

/// Derives what writes a struct or enum.
#[proc_macro_derive(Encode, attributes(parco))]
pub fn encode(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), encode::derive)
}

/// Derives what reads a struct or enum.
#[proc_macro_derive(Decode, attributes(parco))]
pub fn decode(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), decode::derive)
}

fn derive(input: DeriveInput, output: fn(&Model) -> proc_macro2::TokenStream) -> TokenStream {
    Model::parse(input).map_or_else(Error::into_compile_error, |model| output(&model)).into()
}
