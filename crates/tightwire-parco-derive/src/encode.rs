//! Expansion of `#[derive(Encode)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse_quote;

use crate::attr::IdWire;
use crate::model::{Body, Field, Fields, Model, Variant};
use crate::shape::{Expansion, path, return_fault};
use crate::wire_type::at;

pub(crate) fn derive(model: &Model) -> TokenStream {
    let output = Expansion::encode(model);
    let krate = &model.krate;
    let ident = &model.ident;
    let (generics, arguments, clause) = output.generics.split_for_impl();
    let mut any_order = output.generics.clone();
    any_order.params.push(parse_quote!(__O: #krate::wire::Order));
    let (generics_and_order, _, _) = any_order.split_for_impl();
    let shape = output.shape();
    let (put, size) = match &model.body {
        Body::Struct(fields) => (output.put_struct(fields), output.size_struct(fields)),
        Body::Enum { id, variants } => (output.put_enum(id, variants), output.size_enum(id, variants)),
    };
    quote! {
        #shape

        #[automatically_derived]
        impl #generics #krate::wire::EncodeFields for #ident #arguments #clause {
            #[inline]
            fn put_fields(
                &self,
                writer: &mut #krate::Writer<'_>,
            ) -> ::core::result::Result<(), #krate::Fault> {
                #put
                ::core::result::Result::Ok(())
            }

            #[inline]
            #[allow(unused_variables)]
            fn size_of_fields(
                &self,
                levels: #krate::Levels,
            ) -> ::core::result::Result<usize, #krate::Fault> {
                ::core::result::Result::Ok(#size)
            }
        }

        #[automatically_derived]
        impl #generics_and_order #krate::EncodeAs<__O> for #ident #arguments #clause {
            type Wire = #krate::wire::Message<Self, #krate::wire::Encoding>;
        }
    }
}

impl Expansion<'_> {
    fn put_struct(&self, fields: &Fields) -> TokenStream {
        let fixed = self.fixed_part(fields);
        let puts = fields.encoded_fields().map(|field| {
            let member = &field.member;
            self.put(fields, field, quote!(&self.#member), &[])
        });
        quote!(writer.reserve(#fixed); #(#puts)*)
    }

    fn put(&self, fields: &Fields, field: &Field, place: TokenStream, outside: &[&str]) -> TokenStream {
        let (krate, wire, ty) = (self.krate(), self.wire(field), &field.ty);
        let failed = return_fault(krate, &quote!(writer), &path(fields, field, outside));
        quote_spanned! {at(field.span())=>
            if let ::core::result::Result::Err(fault) =
                <#wire as #krate::Put<#ty>>::put(&<#wire as #krate::wire::StaticWire>::NEW, #place, writer)
            {
                #failed
            }
        }
    }

    fn size_struct(&self, fields: &Fields) -> TokenStream {
        let sizes = fields.encoded_fields().map(|field| {
            let member = &field.member;
            self.size(field, quote!(&self.#member))
        });
        quote!(0usize #(+ #sizes)*)
    }

    fn size(&self, field: &Field, place: TokenStream) -> TokenStream {
        let (krate, wire, ty) = (self.krate(), self.wire(field), &field.ty);
        quote_spanned! {at(field.span())=>
            <#wire as #krate::Put<#ty>>::size(&<#wire as #krate::wire::StaticWire>::NEW, #place, levels)?
        }
    }

    fn put_enum(&self, id: &IdWire, variants: &[Variant]) -> TokenStream {
        let (krate, wire) = (self.krate(), self.id_wire(id));
        let ids = self.ids(id, variants);
        let put_id = quote! {
            <#wire as #krate::Put<<#wire as #krate::wire::adjust::Id>::Value>>::put
        };
        let new = quote!(&<#wire as #krate::wire::StaticWire>::NEW);
        let arms = variants.iter().enumerate().map(|(index, variant)| {
            let pattern = pattern(variant);
            let fixed = self.fixed_part(&variant.fields);
            let puts = variant.fields.encoded_fields().map(|field| {
                let binding = &field.binding;
                self.put(&variant.fields, field, quote!(#binding), &[&variant.name])
            });
            quote! {
                #pattern => {
                    writer.reserve(#krate::wire::Wire::fixed_size(#new).unwrap_or(0) + #fixed);
                    #put_id(#new, &IDS[#index], writer)?;
                    #(#puts)*
                }
            }
        });
        quote!(#ids match self { #(#arms)* })
    }

    fn size_enum(&self, id: &IdWire, variants: &[Variant]) -> TokenStream {
        let (krate, wire) = (self.krate(), self.id_wire(id));
        let ids = self.ids(id, variants);
        let size_id = quote! {
            <#wire as #krate::Put<<#wire as #krate::wire::adjust::Id>::Value>>::size
        };
        let arms = variants.iter().enumerate().map(|(index, variant)| {
            let pattern = pattern(variant);
            let sizes = variant.fields.encoded_fields().map(|field| {
                let binding = &field.binding;
                self.size(field, quote!(#binding))
            });
            quote! {
                #pattern => {
                    #size_id(&<#wire as #krate::wire::StaticWire>::NEW, &IDS[#index], levels)? #(+ #sizes)*
                }
            }
        });
        quote!({ #ids match self { #(#arms)* } })
    }
}

/// Pattern of a variant that binds its encoded fields.
fn pattern(variant: &Variant) -> TokenStream {
    let ident = &variant.ident;
    let bindings = variant.fields.encoded_fields().map(|field| {
        let (member, binding) = (&field.member, &field.binding);
        quote!(#member: #binding)
    });
    quote!(Self::#ident { #(#bindings,)* .. })
}
