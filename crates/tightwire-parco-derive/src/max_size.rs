//! Expansion of `#[derive(MaxSize)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse_quote;

use crate::model::{Model, Variant};
use crate::shape::Expansion;
use crate::wire_type::at;

pub(crate) fn derive(model: &Model) -> TokenStream {
    // The wire type of a converted type has the maximum of the other type.
    if model.into.is_some() {
        return TokenStream::new();
    }
    let output = Expansion::encode(model);
    let (krate, ident) = (&model.krate, &model.ident);
    let mut generics = output.generics.clone();
    let fields = model.variants.iter().flat_map(Variant::encoded_fields);
    for field in fields.filter(|field| model.is_generic(&field.ty)) {
        let wire = output.wire(field);
        generics.make_where_clause().predicates.push(parse_quote!(#wire: #krate::wire::Bounded));
    }
    let (generics, arguments, clause) = generics.split_for_impl();
    let sizes = model.variants.iter().map(|variant| {
        let id = output.size_of_id(variant).into_iter();
        let fields = variant.encoded_fields().map(|field| {
            let wire = output.wire(field);
            quote_spanned!(at(field.span())=> <#wire as #krate::wire::Bounded>::MAX_SIZE)
        });
        quote!(0usize #(+ #id)* #(+ #fields)*)
    });
    quote! {
        #[automatically_derived]
        impl #generics #krate::wire::BoundedFields for #ident #arguments #clause {
            const MAX_SIZE: usize = #krate::wire::largest(&[#(#sizes),*]);
        }
    }
}

impl Expansion<'_> {
    /// Returns the encoded size of the id of a variant, unless it has none.
    fn size_of_id(&self, variant: &Variant) -> Option<TokenStream> {
        let krate = self.krate();
        let (wire, id) = (self.id_wire()?, variant.id.as_ref()?);
        let model_id = self.model.id.as_ref()?;
        Some(match model_id.width(&id.text) {
            Some(width) => quote!(#width),
            None => quote!(<#wire as #krate::wire::Bounded>::MAX_SIZE),
        })
    }
}
