//! Expansion of `#[derive(Decode)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Lifetime, parse_quote};

use crate::attr::IdWire;
use crate::model::{Body, Field, Fields, Model, Variant};
use crate::shape::{Expansion, path, return_fault};
use crate::wire_type::{Role, at};

pub(crate) fn derive(model: &Model) -> TokenStream {
    let output = Expansion::decode(model);
    let Role::Decode(de) = &output.role else { unreachable!("made for decoding") };
    let krate = &model.krate;
    let ident = &model.ident;
    let (generics, _, clause) = output.generics.split_for_impl();
    let (_, arguments, _) = model.generics.split_for_impl();
    let mut any_order = output.generics.clone();
    any_order.params.push(parse_quote!(__O: #krate::wire::Order));
    let (generics_and_order, _, _) = any_order.split_for_impl();
    let shape = output.shape();
    let (get, get_into) = match &model.body {
        Body::Struct(fields) => (output.get_struct(de, fields), output.get_into_struct(de, fields)),
        Body::Enum { id, variants } => {
            (output.get_enum(de, id, variants), output.get_into_enum(de, id, variants))
        }
    };
    quote! {
        #shape

        #[automatically_derived]
        impl #generics #krate::wire::DecodeFields<#de> for #ident #arguments #clause {
            #[inline]
            fn get_fields(
                reader: &mut #krate::Reader<'_, #de>,
            ) -> ::core::result::Result<Self, #krate::Fault> {
                #[allow(unused_imports)]
                use #krate::Input as _;
                #get
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

        #[automatically_derived]
        impl #generics_and_order #krate::DecodeAs<#de, __O> for #ident #arguments #clause {
            type Wire = #krate::wire::Message<Self, #krate::wire::Decoding<#de>>;
        }
    }
}

impl Expansion<'_> {
    fn get_struct(&self, de: &Lifetime, fields: &Fields) -> TokenStream {
        let gets = self.gets(de, fields, &[]);
        let made = initials(fields);
        quote!(#gets ::core::result::Result::Ok(Self { #made }))
    }

    /// Decodes the fields into local variables.
    fn gets(&self, de: &Lifetime, fields: &Fields, outside: &[&str]) -> TokenStream {
        let krate = self.krate();
        let gets = fields.encoded_fields().map(|field| {
            let (wire, ty, binding) = (self.wire(field), &field.ty, &field.binding);
            let failed = return_fault(krate, &quote!(reader), &path(fields, field, outside));
            let get = quote_spanned! {at(field.span())=>
                match <#wire as #krate::Get<#de, #ty>>::get(&<#wire as #krate::wire::StaticWire>::NEW, reader) {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(fault) => { #failed }
                }
            };
            if field.attrs.default_on_eof.is_some() {
                quote! {
                    let #binding = if reader.at_end()? {
                        ::core::default::Default::default()
                    } else {
                        #get
                    };
                }
            } else {
                quote!(let #binding = #get;)
            }
        });
        quote!(#(#gets)*)
    }

    fn get_into_struct(&self, de: &Lifetime, fields: &Fields) -> TokenStream {
        let gets = fields.list.iter().map(|field| {
            let member = &field.member;
            self.get_into(de, fields, field, &quote!(self.#member), &[])
        });
        quote!(#(#gets)*)
    }

    /// Decodes a field into the existing value at `place`.
    fn get_into(
        &self,
        de: &Lifetime,
        fields: &Fields,
        field: &Field,
        place: &TokenStream,
        outside: &[&str],
    ) -> TokenStream {
        let reset = quote!(#place = ::core::default::Default::default(););
        if field.attrs.ignore {
            return reset;
        }
        let (krate, wire, ty) = (self.krate(), self.wire(field), &field.ty);
        let failed = return_fault(krate, &quote!(reader), &path(fields, field, outside));
        let get = quote_spanned! {at(field.span())=>
            if let ::core::result::Result::Err(fault) = <#wire as #krate::Get<#de, #ty>>::get_into(
                &<#wire as #krate::wire::StaticWire>::NEW,
                reader,
                &mut #place,
            ) {
                #failed
            }
        };
        if field.attrs.default_on_eof.is_some() {
            quote!(if reader.at_end()? { #reset } else { #get })
        } else {
            get
        }
    }

    /// Matches the id, with one arm per variant.
    fn by_id(&self, id: &IdWire, variants: &[Variant], arms: &[TokenStream]) -> TokenStream {
        let (krate, wire) = (self.krate(), self.id_wire(id));
        let ids = self.ids(id, variants);
        let indices = 0..arms.len();
        quote! {
            #ids
            match <#wire as #krate::wire::adjust::Id>::find(&IDS, reader)? {
                #(#indices => { #arms })*
                _ => return ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE),
            }
        }
    }

    fn get_enum(&self, de: &Lifetime, id: &IdWire, variants: &[Variant]) -> TokenStream {
        let arms: Vec<TokenStream> = variants
            .iter()
            .map(|variant| {
                let ident = &variant.ident;
                let gets = self.gets(de, &variant.fields, &[&variant.name]);
                let made = initials(&variant.fields);
                quote!(#gets ::core::result::Result::Ok(Self::#ident { #made }))
            })
            .collect();
        self.by_id(id, variants, &arms)
    }

    fn get_into_enum(&self, de: &Lifetime, id: &IdWire, variants: &[Variant]) -> TokenStream {
        let arms: Vec<TokenStream> = variants
            .iter()
            .map(|variant| {
                let (ident, fields) = (&variant.ident, &variant.fields);
                let bindings = fields.list.iter().map(|field| {
                    let (member, binding) = (&field.member, &field.binding);
                    quote!(#member: #binding)
                });
                let over = fields.list.iter().map(|field| {
                    let binding = &field.binding;
                    self.get_into(de, fields, field, &quote!(*#binding), &[&variant.name])
                });
                let gets = self.gets(de, fields, &[&variant.name]);
                let made = initials(fields);
                quote! {
                    #[allow(unreachable_patterns)]
                    match self {
                        Self::#ident { #(#bindings),* } => { #(#over)* }
                        other => {
                            #gets
                            *other = Self::#ident { #made };
                        }
                    }
                }
            })
            .collect();
        self.by_id(id, variants, &arms)
    }
}

/// Field list of a constructor that takes the local variables.
fn initials(fields: &Fields) -> TokenStream {
    let initials = fields.list.iter().map(|field| {
        let (member, binding) = (&field.member, &field.binding);
        if field.attrs.ignore {
            quote!(#member: ::core::default::Default::default())
        } else {
            quote!(#member: #binding)
        }
    });
    quote!(#(#initials),*)
}
