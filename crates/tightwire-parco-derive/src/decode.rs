//! Expansion of `#[derive(Decode)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Lifetime;
use syn::spanned::Spanned;

use crate::model::{Field, Model, Variant};
use crate::shape::Expansion;
use crate::wire_type::{Role, at};

pub(crate) fn derive(model: &Model) -> TokenStream {
    let output = Expansion::decode(model);
    let Role::Decode(de) = &output.role else { unreachable!("made for decoding") };
    let krate = &model.krate;
    if let Some(from) = &model.try_from {
        return output.converted(from, &quote!(#krate::DecodeAs<#de, __F>), &quote!(#krate::Get<#de, Self>));
    }
    let ident = &model.ident;
    let (generics, _, clause) = output.generics.split_for_impl();
    let (_, arguments, _) = model.generics.split_for_impl();
    let shape = output.shape();
    let get = output.by_id(&quote!(reader), |variant| output.get(de, variant));
    let get_into = output.by_id(&quote!(reader), |variant| output.get_into(de, variant));
    let formats = output.formats().into_iter().map(|(generics, format)| {
        let (generics, _, _) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #generics #krate::DecodeAs<#de, #format> for #ident #arguments #clause {
                type Wire = #krate::wire::Message<Self, #krate::wire::Decoding<#de>>;
            }
        }
    });
    quote! {
        #shape

        #(#formats)*

        #[automatically_derived]
        impl #generics #krate::wire::DecodeFields<#de> for #ident #arguments #clause {
            #[inline]
            fn get_fields(
                reader: &mut #krate::Reader<'_, #de>,
            ) -> ::core::result::Result<Self, #krate::Fault> {
                #[allow(unused_imports)]
                use #krate::Input as _;
                let value = { #get };
                ::core::result::Result::Ok(value)
            }

            #[inline]
            fn get_fields_into(
                &mut self,
                reader: &mut #krate::Reader<'_, #de>,
            ) -> ::core::result::Result<(), #krate::Fault> {
                #[allow(unused_imports)]
                use #krate::Input as _;
                #get_into
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// Returns the default of a field that the message does not contain.
fn default(field: &Field) -> TokenStream {
    let ty = &field.ty;
    match field.attrs.default_on_eof.as_ref().and_then(|default| default.value.as_ref()) {
        Some(value) => quote_spanned!(at(value.span())=> { let value: #ty = #value; value }),
        None => quote!(::core::default::Default::default()),
    }
}

impl Expansion<'_> {
    /// Decodes the fields into local variables and returns the value.
    fn get(&self, de: &Lifetime, variant: &Variant) -> TokenStream {
        let krate = self.krate();
        let gets = variant.encoded_fields().map(|field: &Field| {
            let (wire, ty, binding) = (self.wire(field), &field.ty, &field.binding);
            let failed = self.return_fault(&quote!(reader), variant, field);
            let get = quote_spanned! {at(field.span())=>
                match <#wire as #krate::Get<#de, #ty>>::get(&<#wire as #krate::wire::StaticWire>::NEW, reader) {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(fault) => { #failed }
                }
            };
            if field.attrs.default_on_eof.is_some() {
                let default = default(field);
                quote! {
                    let #binding = if reader.at_end()? {
                        #default
                    } else {
                        #get
                    };
                }
            } else {
                quote!(let #binding = #get;)
            }
        });
        let members = variant.fields.iter().map(|field| {
            let (member, binding) = (&field.member, &field.binding);
            if field.attrs.ignore {
                quote!(#member: ::core::default::Default::default())
            } else {
                quote!(#member: #binding)
            }
        });
        let constructor = &variant.constructor;
        quote!(#(#gets)* #constructor { #(#members),* })
    }

    /// Decodes the fields into an existing value, which is replaced if it is another variant.
    fn get_into(&self, de: &Lifetime, variant: &Variant) -> TokenStream {
        let krate = self.krate();
        let constructor = &variant.constructor;
        let bindings = variant.fields.iter().map(|field| {
            let (member, binding) = (&field.member, &field.binding);
            quote!(#member: #binding)
        });
        let gets = variant.fields.iter().map(|field| {
            let (ty, binding) = (&field.ty, &field.binding);
            let default = default(field);
            let reset = quote!(*#binding = #default;);
            if field.attrs.ignore {
                return reset;
            }
            let wire = self.wire(field);
            let failed = self.return_fault(&quote!(reader), variant, field);
            let get = quote_spanned! {at(field.span())=>
                if let ::core::result::Result::Err(fault) = <#wire as #krate::Get<#de, #ty>>::get_into(
                    &<#wire as #krate::wire::StaticWire>::NEW,
                    reader,
                    #binding,
                ) {
                    #failed
                }
            };
            if field.attrs.default_on_eof.is_some() {
                quote!(if reader.at_end()? { #reset } else { #get })
            } else {
                get
            }
        });
        let other = self.model.id.as_ref().map(|_| {
            let get = self.get(de, variant);
            quote!(other => *other = { #get },)
        });
        quote! {
            #[allow(unreachable_patterns)]
            match self {
                #constructor { #(#bindings),* } => { #(#gets)* }
                #other
            }
        }
    }
}
