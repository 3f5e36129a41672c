//! Code shared by both macros: the `Shape` implementation and building blocks of methods.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Path, parse_quote};

use crate::attr::IdWire;
use crate::model::{Body, Field, Fields, Model, Variant};
use crate::wire_type::{Role, at};

/// Expansion of a macro for a struct or enum.
pub(crate) struct Expansion<'a> {
    pub(crate) model: &'a Model,
    pub(crate) role: Role,
    /// Generics with the lifetime of the input and all bounds.
    pub(crate) generics: Generics,
}

impl<'a> Expansion<'a> {
    pub(crate) fn encode(model: &'a Model) -> Self {
        Self::new(model, Role::Encode, model.generics.clone())
    }

    /// All lifetimes of a decoded struct equal that of the input. If it has none, one is added.
    pub(crate) fn decode(model: &'a Model) -> Self {
        let mut generics = model.generics.clone();
        let lifetimes: Vec<Lifetime> =
            generics.lifetimes().map(|parameter| parameter.lifetime.clone()).collect();
        let Some((de, others)) = lifetimes.split_first() else {
            let de: Lifetime = parse_quote!('__de);
            generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(de.clone())));
            return Self::new(model, Role::Decode(de), generics);
        };
        let clause = generics.make_where_clause();
        for other in others {
            clause.predicates.push(parse_quote!(#de: #other));
            clause.predicates.push(parse_quote!(#other: #de));
        }
        Self::new(model, Role::Decode(de.clone()), generics)
    }

    fn new(model: &'a Model, role: Role, mut generics: Generics) -> Self {
        let bounds = role.bounds(model);
        if !bounds.is_empty() {
            let clause = generics.make_where_clause();
            clause
                .predicates
                .extend(bounds.into_iter().map(|bound| -> syn::WherePredicate { parse_quote!(#bound) }));
        }
        Self { model, role, generics }
    }

    pub(crate) fn krate(&self) -> &Path {
        &self.model.krate
    }

    /// Returns the wire type of a field.
    pub(crate) fn wire(&self, field: &Field) -> TokenStream {
        self.role.wire(self.model, field).wire
    }

    /// Returns a call of a static method of a field's wire type.
    fn call(&self, field: &Field, method: TokenStream) -> TokenStream {
        let (krate, wire) = (self.krate(), self.wire(field));
        quote_spanned! {at(field.span())=>
            <#wire as #krate::wire::Wire>::#method(&<#wire as #krate::wire::StaticWire>::NEW)
        }
    }

    /// Returns whether a message may end before a field.
    fn may_end(&self, field: &Field) -> bool {
        matches!(self.role, Role::Decode(_)) && field.attrs.default_on_eof.is_some()
    }

    /// Returns the wire type of the ids of an enum.
    pub(crate) fn id_wire(&self, id: &IdWire) -> TokenStream {
        let krate = self.krate();
        match id {
            IdWire::Number(number) => number.tokens(krate, self.model.order),
            IdWire::Small => quote!(#krate::wire::SmallVarchar),
            IdWire::Type(wire) => quote_spanned!(at(wire.span())=> #wire),
        }
    }

    /// Returns the ids as a constant array `IDS`.
    pub(crate) fn ids(&self, id: &IdWire, variants: &[Variant]) -> TokenStream {
        let (krate, wire, count) = (self.krate(), self.id_wire(id), variants.len());
        let ids = variants.iter().map(|variant| {
            let id = &variant.id.tokens;
            quote_spanned!(at(variant.id.span)=> #id)
        });
        let span = match id {
            IdWire::Type(wire) => at(wire.span()),
            _ => Span::call_site(),
        };
        quote_spanned!(span=> const IDS: [<#wire as #krate::wire::adjust::Id>::Value; #count] = [#(#ids),*];)
    }

    /// Returns `impl Shape<Role>`.
    pub(crate) fn shape(&self) -> TokenStream {
        let krate = self.krate();
        let role = match &self.role {
            Role::Encode => quote!(#krate::wire::Encoding),
            Role::Decode(de) => quote!(#krate::wire::Decoding<#de>),
        };
        let ident = &self.model.ident;
        let (generics, _, clause) = self.generics.split_for_impl();
        let (_, arguments, _) = self.model.generics.split_for_impl();
        let (min_size, fixed, walk, schema) = match &self.model.body {
            Body::Struct(fields) => self.shape_of_struct(fields),
            Body::Enum { id, variants } => self.shape_of_enum(id, variants),
        };
        quote! {
            #[automatically_derived]
            impl #generics #krate::wire::Shape<#role> for #ident #arguments #clause {
                #[inline]
                fn min_size() -> usize {
                    #min_size
                }

                #[inline]
                fn fixed_size() -> ::core::option::Option<usize> {
                    #fixed
                }

                #[inline]
                fn walk<__I: #krate::Input>(input: &mut __I) -> ::core::result::Result<(), #krate::Fault> {
                    #walk
                }

                fn schema(context: &mut #krate::schema::SchemaContext) -> #krate::schema::Schema {
                    #schema
                }
            }
        }
    }

    fn shape_of_struct(&self, fields: &Fields) -> (TokenStream, TokenStream, TokenStream, TokenStream) {
        let krate = self.krate();
        let min_size = fields
            .encoded_fields()
            .filter(|field| !self.may_end(field))
            .map(|field| self.call(field, quote!(min_size)));
        let fixed = if fields.encoded_fields().any(|field| self.may_end(field)) {
            quote!(::core::option::Option::None)
        } else {
            let sizes = fields.encoded_fields().map(|field| self.call(field, quote!(fixed_size)));
            quote!(::core::option::Option::Some(0usize #(+ #sizes?)*))
        };
        let walk = self.walk(fields, &[]);
        let named = self.named(fields);
        (
            quote!(0usize #(+ #min_size)*),
            fixed,
            quote!(#walk ::core::result::Result::Ok(())),
            quote!(context.structure(::core::any::type_name::<Self>(), |context| #krate::wire::adjust::named([#named]))),
        )
    }

    /// An enum may contain itself, so its sizes are computed from the ids alone.
    fn shape_of_enum(
        &self,
        id: &IdWire,
        variants: &[Variant],
    ) -> (TokenStream, TokenStream, TokenStream, TokenStream) {
        let krate = self.krate();
        let wire = self.id_wire(id);
        let new = quote!(&<#wire as #krate::wire::StaticWire>::NEW);
        let fixed = if variants.iter().all(|variant| variant.fields.encoded_fields().next().is_none()) {
            quote!(#krate::wire::Wire::fixed_size(#new))
        } else {
            quote!(::core::option::Option::None)
        };
        let ids = self.ids(id, variants);
        let walks = variants.iter().enumerate().map(|(index, variant)| {
            let walk = self.walk(&variant.fields, &[&variant.name]);
            quote!(#index => { #walk })
        });
        let models = variants.iter().map(|variant| {
            let id = &variant.id.text;
            let mut encoded_fields = variant.fields.encoded_fields();
            let schema = match encoded_fields.next() {
                Some(field) if variant.fields.is_newtype() => self.schema_of(field),
                _ => {
                    let named = self.named(&variant.fields);
                    quote!(context.inline(|context| #krate::wire::adjust::named([#named])))
                }
            };
            quote!((#id, #schema))
        });
        (
            quote!(#krate::wire::Wire::min_size(#new)),
            fixed,
            quote! {
                #ids
                match <#wire as #krate::wire::adjust::Id>::find(&IDS, input)? {
                    #(#walks)*
                    _ => return ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE),
                }
                ::core::result::Result::Ok(())
            },
            quote! {
                let header = #krate::wire::Wire::schema(#new, context);
                context.multi(::core::any::type_name::<Self>(), header, |context| {
                    #krate::wire::adjust::named([#(#models),*])
                })
            },
        )
    }

    fn walk(&self, fields: &Fields, outside: &[&str]) -> TokenStream {
        let krate = self.krate();
        let steps = fields.encoded_fields().map(|field| {
            let wire = self.wire(field);
            let names = path(fields, field, outside);
            let failed = return_fault(krate, &quote!(input), &names);
            let step = quote_spanned! {at(field.span())=>
                if let ::core::result::Result::Err(fault) =
                    <#wire as #krate::wire::Wire>::walk(&<#wire as #krate::wire::StaticWire>::NEW, input)
                {
                    #failed
                }
            };
            if self.may_end(field) { quote!(if !input.at_end()? { #step }) } else { step }
        });
        quote!(#(#steps)*)
    }

    fn schema_of(&self, field: &Field) -> TokenStream {
        let (krate, wire) = (self.krate(), self.wire(field));
        quote_spanned! {at(field.span())=>
            <#wire as #krate::wire::Wire>::schema(&<#wire as #krate::wire::StaticWire>::NEW, context)
        }
    }

    fn named(&self, fields: &Fields) -> TokenStream {
        let named = fields.encoded_fields().map(|field| {
            let (name, schema) = (&field.name, self.schema_of(field));
            quote!((#name, #schema))
        });
        quote!(#(#named),*)
    }

    /// Returns the sum of the sizes of all fields of fixed size.
    pub(crate) fn fixed_part(&self, fields: &Fields) -> TokenStream {
        let sizes = fields.encoded_fields().map(|field| {
            let size = self.call(field, quote!(fixed_size));
            quote!(#size.unwrap_or(0))
        });
        quote!(0usize #(+ #sizes)*)
    }
}

/// Returns the path segments that lead to a field, innermost first.
pub(crate) fn path<'a>(fields: &Fields, field: &'a Field, outside: &[&'a str]) -> Vec<&'a str> {
    // A single unnamed field is identified by the name of its variant.
    let own = (outside.is_empty() || !fields.is_newtype()).then_some(field.name.as_str());
    own.into_iter().chain(outside.iter().copied()).collect()
}

/// Adds the path segments to `fault` and returns it.
pub(crate) fn return_fault(krate: &Path, cursor: &TokenStream, names: &[&str]) -> TokenStream {
    quote! {
        #(let fault = #cursor.locate(fault, #krate::Segment::Field(#names));)*
        return ::core::result::Result::Err(fault);
    }
}
