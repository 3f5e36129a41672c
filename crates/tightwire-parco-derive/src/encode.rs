//! Expansion of `#[derive(Encode)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::model::{Field, Model, Variant};
use crate::shape::Expansion;
use crate::wire_type::at;

pub(crate) fn derive(model: &Model) -> TokenStream {
    let output = Expansion::encode(model);
    let krate = &model.krate;
    if let Some(into) = &model.into {
        return output.converted(into, &quote!(#krate::EncodeAs<__F>), &quote!(#krate::Put<Self>));
    }
    let ident = &model.ident;
    let (generics, arguments, clause) = output.generics.split_for_impl();
    let shape = output.shape();
    let ids = output.ids();
    let puts = output.each_variant(|index, variant| output.put(index, variant));
    let sizes = output.each_variant(|index, variant| output.size(index, variant));
    let formats = output.formats().into_iter().map(|(generics, format)| {
        let (generics, _, _) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #generics #krate::EncodeAs<#format> for #ident #arguments #clause {
                type Wire = #krate::wire::Message<Self, #krate::wire::Encoding>;
            }
        }
    });
    quote! {
        #shape

        #(#formats)*

        #[automatically_derived]
        impl #generics #krate::wire::EncodeFields for #ident #arguments #clause {
            #[inline]
            fn put_fields(
                &self,
                writer: &mut #krate::Writer<'_>,
            ) -> ::core::result::Result<(), #krate::Fault> {
                #ids
                match self { #(#puts)* }
                ::core::result::Result::Ok(())
            }

            #[inline]
            #[allow(unused_variables)]
            fn size_of_fields(
                &self,
                levels: #krate::Levels,
            ) -> ::core::result::Result<usize, #krate::Fault> {
                #ids
                ::core::result::Result::Ok(match self { #(#sizes)* })
            }
        }
    }
}

impl Expansion<'_> {
    /// Returns the match arm that encodes a variant.
    fn put(&self, index: usize, variant: &Variant) -> TokenStream {
        let krate = self.krate();
        let pattern = pattern(variant);
        if self.model.id.is_some() && variant.id.is_none() {
            return quote!(#pattern => return ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE),);
        }
        let fixed = self.fixed_part(variant);
        let put_id = self.id_wire().map(|wire| {
            quote! {
                <#wire as #krate::Put<<#wire as #krate::wire::adjust::Id>::Value>>::put(
                    &<#wire as #krate::wire::StaticWire>::NEW,
                    &IDS[#index],
                    writer,
                )?;
            }
        });
        let puts = variant.encoded_fields().map(|field| {
            let (wire, ty, binding) = (self.wire(field), &field.ty, &field.binding);
            let failed = self.return_fault(&quote!(writer), variant, field);
            quote_spanned! {at(field.span())=>
                if let ::core::result::Result::Err(fault) =
                    <#wire as #krate::Put<#ty>>::put(&<#wire as #krate::wire::StaticWire>::NEW, #binding, writer)
                {
                    #failed
                }
            }
        });
        quote!(#pattern => { writer.reserve(#fixed); #put_id #(#puts)* })
    }

    /// Returns the match arm that computes the size of a variant.
    fn size(&self, index: usize, variant: &Variant) -> TokenStream {
        let krate = self.krate();
        let pattern = pattern(variant);
        if self.model.id.is_some() && variant.id.is_none() {
            return quote!(#pattern => return ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE),);
        }
        let size_of_id = self.id_wire().map(|wire| {
            quote! {
                + <#wire as #krate::Put<<#wire as #krate::wire::adjust::Id>::Value>>::size(
                    &<#wire as #krate::wire::StaticWire>::NEW,
                    &IDS[#index],
                    levels,
                )?
            }
        });
        let sizes = variant.encoded_fields().map(|field: &Field| {
            let (wire, ty, binding) = (self.wire(field), &field.ty, &field.binding);
            quote_spanned! {at(field.span())=>
                <#wire as #krate::Put<#ty>>::size(&<#wire as #krate::wire::StaticWire>::NEW, #binding, levels)?
            }
        });
        quote!(#pattern => 0usize #size_of_id #(+ #sizes)*,)
    }
}

/// Pattern that binds the encoded fields.
fn pattern(variant: &Variant) -> TokenStream {
    let constructor = &variant.constructor;
    let bindings = variant.encoded_fields().map(|field| {
        let (member, binding) = (&field.member, &field.binding);
        quote!(#member: #binding)
    });
    quote!(#constructor { #(#bindings,)* .. })
}
