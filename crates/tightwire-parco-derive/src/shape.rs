//! Code shared by both macros: the `Shape` implementation and building blocks of methods.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Path, Type, parse_quote};

use crate::attr::IdWire;
use crate::model::{Field, Model, Variant};
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

    /// Creates the expansion of `Decode`. All lifetimes of the struct equal that of the input; if the struct has
    /// none, one is added.
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
        let is_converted = match role {
            Role::Encode => model.into.is_some(),
            Role::Decode(_) => model.try_from.is_some(),
        };
        let bounds = if is_converted { Vec::new() } else { role.bounds(model) };
        if !bounds.is_empty() {
            let clause = generics.make_where_clause();
            clause
                .predicates
                .extend(bounds.into_iter().map(|bound| -> syn::WherePredicate { parse_quote!(#bound) }));
        }
        Self { model, role, generics }
    }

    /// Returns the implementation of `trait_` for a type that is encoded or decoded as another type. The bound on the wire type
    /// is checked where the trait is used.
    pub(crate) fn converted(&self, other: &Type, trait_: &TokenStream, carries: &TokenStream) -> TokenStream {
        let krate = self.krate();
        let ident = &self.model.ident;
        let (_, arguments, _) = self.model.generics.split_for_impl();
        let mut generics = self.generics_and_format();
        let wire = quote!(#krate::wire::Converted<#other, <#other as #trait_>::Wire>);
        let clause = generics.make_where_clause();
        clause.predicates.push(parse_quote!(#other: #trait_));
        clause.predicates.push(parse_quote!(#wire: #krate::wire::StaticWire + #carries));
        let (generics, _, clause) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #generics #trait_ for #ident #arguments #clause {
                type Wire = #wire;
            }
        }
    }

    /// Returns the generics with a parameter `__F` for the format.
    pub(crate) fn generics_and_format(&self) -> Generics {
        let krate = self.krate();
        let mut generics = self.generics.clone();
        generics.params.push(parse_quote!(__F: #krate::wire::Format));
        generics
    }

    /// Returns the formats in which the type has a default wire type, and the generics of each implementation. The formats are
    /// listed for a type of another format, because one implementation for all native formats could overlap with that of its own.
    pub(crate) fn formats(&self) -> Vec<(Generics, TokenStream)> {
        let krate = self.krate();
        let Some(own) = &self.model.format else {
            let mut generics = self.generics.clone();
            generics.params.push(parse_quote!(__F: #krate::wire::Native));
            return vec![(generics, quote!(__F))];
        };
        let (le, be) = (quote!(#krate::wire::Le), quote!(#krate::wire::Be));
        let formats = [
            quote!(#own),
            le.clone(),
            be.clone(),
            quote!(#krate::wire::Go<#le>),
            quote!(#krate::wire::Go<#be>),
        ];
        formats.map(|format| (self.generics.clone(), format)).into()
    }

    pub(crate) fn krate(&self) -> &Path {
        &self.model.krate
    }

    /// Returns the wire type of a field.
    pub(crate) fn wire(&self, field: &Field) -> TokenStream {
        self.role.wire(self.model, field).wire
    }

    pub(crate) fn each_variant(
        &self,
        expand: impl Fn(usize, &Variant) -> TokenStream,
    ) -> impl Iterator<Item = TokenStream> {
        self.model.variants.iter().enumerate().map(move |(index, variant)| expand(index, variant))
    }

    /// Returns the code that `expand` generates for the fields. For an enum, it reads an id from `input` and runs the
    /// code of the variant with that id.
    pub(crate) fn by_id(&self, input: &TokenStream, expand: impl Fn(&Variant) -> TokenStream) -> TokenStream {
        let krate = self.krate();
        let arms = self.each_variant(|_, variant| expand(variant));
        let Some(wire) = self.id_wire() else { return quote!(#(#arms)*) };
        let ids = self.ids();
        let indices = 0..self.model.variants.len();
        let find = quote!(<#wire as #krate::wire::adjust::Id>::find(&IDS, #input));
        if self.model.variants.last().is_some_and(|variant| variant.id.is_none()) {
            let other = self.model.variants.len() - 1;
            return quote! {
                #ids
                let found = match #find {
                    ::core::result::Result::Ok(found) => found,
                    ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE) => {
                        // It is not reported, so its position is not either.
                        #input.rewind_fault(#krate::Fault::UNKNOWN_TYPE, 0);
                        #other
                    }
                    ::core::result::Result::Err(fault) => return ::core::result::Result::Err(fault),
                };
                match found {
                    #(#indices => { #arms })*
                    _ => return ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE),
                }
            };
        }
        quote! {
            #ids
            match #find? {
                #(#indices => { #arms })*
                _ => return ::core::result::Result::Err(#krate::Fault::UNKNOWN_TYPE),
            }
        }
    }

    /// Returns a call of a method of a field's wire type.
    fn call(&self, field: &Field, method: TokenStream, argument: Option<TokenStream>) -> TokenStream {
        let (krate, wire, argument) = (self.krate(), self.wire(field), argument.into_iter());
        quote_spanned! {at(field.span())=>
            <#wire as #krate::wire::Wire>::#method(&<#wire as #krate::wire::StaticWire>::NEW #(, #argument)*)
        }
    }

    /// Returns whether a message may end before a field.
    fn may_end(&self, field: &Field) -> bool {
        matches!(self.role, Role::Decode(_)) && field.attrs.default_on_eof.is_some()
    }

    /// Returns the wire type of the ids of an enum.
    pub(crate) fn id_wire(&self) -> Option<TokenStream> {
        let krate = self.krate();
        Some(match self.model.id.as_ref()? {
            IdWire::Number(number) => number.tokens(krate, self.model.order),
            IdWire::Small => quote!(#krate::wire::SmallVarchar),
            IdWire::Type(wire) => quote_spanned!(at(wire.span())=> #wire),
        })
    }

    /// Returns the ids of an enum as a constant array `IDS`.
    pub(crate) fn ids(&self) -> Option<TokenStream> {
        let (krate, wire) = (self.krate(), self.id_wire()?);
        let ids = self.model.variants.iter().flat_map(|variant| &variant.id).map(|id| {
            let tokens = &id.tokens;
            quote_spanned!(at(id.span)=> #tokens)
        });
        let count = ids.clone().count();
        let span = match &self.model.id {
            Some(IdWire::Type(wire)) => at(wire.span()),
            _ => Span::call_site(),
        };
        Some(
            quote_spanned!(span=> const IDS: [<#wire as #krate::wire::adjust::Id>::Value; #count] = [#(#ids),*];),
        )
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
        let (min_size, fixed) = self.sizes();
        let walk = self.by_id(&quote!(input), |variant| self.walk(variant));
        let schema = self.schema();
        let evolves = self.model.evolve.then(|| {
            quote!(
                const EVOLVES: bool = true;
            )
        });
        quote! {
            #[automatically_derived]
            impl #generics #krate::wire::Shape<#role> for #ident #arguments #clause {
                #evolves

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
                    ::core::result::Result::Ok(())
                }

                #krate::__with_alloc! {
                    fn schema(context: &mut #krate::schema::SchemaContext) -> #krate::schema::Schema {
                        #schema
                    }
                }
            }
        }
    }

    /// Returns the minimum and the fixed size. An enum may contain itself, so its sizes are those of the ids alone.
    fn sizes(&self) -> (TokenStream, TokenStream) {
        let krate = self.krate();
        let mut fields = self.model.variants.iter().flat_map(Variant::encoded_fields);
        let none = quote!(::core::option::Option::None);
        if let Some(wire) = self.id_wire() {
            let call = quote!(<#wire as #krate::wire::Wire>);
            let new = quote!(&<#wire as #krate::wire::StaticWire>::NEW);
            let fixed = if fields.next().is_none() { quote!(#call::fixed_size(#new)) } else { none };
            return (quote!(#call::min_size(#new)), fixed);
        }
        let fields: Vec<&Field> = fields.collect();
        let required = fields.iter().filter(|field| !self.may_end(field));
        let min_size = required.map(|field| self.call(field, quote!(min_size), None));
        let fixed = if fields.iter().any(|field| self.may_end(field)) {
            none
        } else {
            let sizes = fields.iter().map(|field| self.call(field, quote!(fixed_size), None));
            quote!(::core::option::Option::Some(0usize #(+ #sizes?)*))
        };
        (quote!(0usize #(+ #min_size)*), fixed)
    }

    fn walk(&self, variant: &Variant) -> TokenStream {
        let steps = variant.encoded_fields().map(|field| {
            let walk = self.call(field, quote!(walk), Some(quote!(input)));
            let failed = self.return_fault(&quote!(input), variant, field);
            let step = quote_spanned! {at(field.span())=>
                if let ::core::result::Result::Err(fault) = #walk { #failed }
            };
            if self.may_end(field) {
                return quote!(if !input.at_end()? { #step });
            }
            let min_size = self.call(field, quote!(min_size), None);
            quote!(input.start(#min_size); #step)
        });
        let required = variant.encoded_fields().filter(|field| !self.may_end(field));
        let min_sizes = required.map(|field| self.call(field, quote!(min_size), None));
        quote!(input.announce(0usize #(+ #min_sizes)*); #(#steps)*)
    }

    fn schema(&self) -> TokenStream {
        let krate = self.krate();
        let name = quote!(::core::any::type_name::<Self>());
        let Some(wire) = self.id_wire() else {
            let fields = self.each_variant(|_, variant| self.structure(variant));
            return quote!(context.enclosed(#name, |context| #(#fields)*));
        };
        let models = self.model.variants.iter().filter_map(|variant| {
            let (id, name) = (&variant.id.as_ref()?.text, &variant.name);
            let schema = match variant.encoded_fields().next() {
                Some(field) if variant.is_newtype => self.schema_of(field),
                _ => {
                    let fields = self.structure(variant);
                    quote!(context.enclosed("", |context| #fields))
                }
            };
            Some(quote!((#id, #name, #schema)))
        });
        let header = quote!(#krate::wire::Wire::schema(&<#wire as #krate::wire::StaticWire>::NEW, context));
        let multi = quote!(#krate::wire::adjust::multi(header, [#(#models),*]));
        if self.model.evolve {
            // The same bytes: a struct with the variant as its only field.
            return quote! {
                context.enclosed(#name, |context| {
                    let header = #header;
                    let variant = context.enclosed("", |context| #multi);
                    #krate::wire::adjust::evolve(1, [("variant", variant)])
                })
            };
        }
        quote! {
            let header = #header;
            context.enclosed(#name, |context| #multi)
        }
    }

    fn schema_of(&self, field: &Field) -> TokenStream {
        self.call(field, quote!(schema), Some(quote!(context)))
    }

    fn structure(&self, variant: &Variant) -> TokenStream {
        let krate = self.krate();
        let named = variant.encoded_fields().map(|field| {
            let (name, schema) = (&field.name, self.schema_of(field));
            quote!((#name, #schema))
        });
        if self.model.evolve && self.model.id.is_none() {
            let fields = variant.encoded_fields();
            let required = fields.filter(|field| field.attrs.default_on_eof.is_none()).count();
            quote!(#krate::wire::adjust::evolve(#required, [#(#named),*]))
        } else {
            quote!(#krate::wire::adjust::structure([#(#named),*]))
        }
    }

    /// Returns the sum of the sizes of the id and all fields of fixed size.
    pub(crate) fn fixed_part(&self, variant: &Variant) -> TokenStream {
        let krate = self.krate();
        let id = self.id_wire().into_iter().map(|wire| {
            quote!(<#wire as #krate::wire::Wire>::fixed_size(&<#wire as #krate::wire::StaticWire>::NEW))
        });
        let fields = variant.encoded_fields().map(|field| self.call(field, quote!(fixed_size), None));
        let sizes = id.chain(fields);
        quote!(0usize #(+ #sizes.unwrap_or(0))*)
    }

    /// Adds the path segments of a field to `fault` and returns it.
    pub(crate) fn return_fault(&self, cursor: &TokenStream, variant: &Variant, field: &Field) -> TokenStream {
        let krate = self.krate();
        let names = variant.path(field);
        quote! {
            #(let fault = #cursor.locate(fault, #krate::Segment::Field(#names));)*
            return ::core::result::Result::Err(fault);
        }
    }
}
