//! The wire type of a field, and the bounds it requires.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Lifetime, Path, Type};

use crate::attr::{Adjust, Order, Replacement};
use crate::model::{Field, Model};

/// The macro that is expanded.
pub(crate) enum Role {
    Encode,
    /// The lifetime of the input.
    Decode(Lifetime),
}

/// A wire type and the bounds it requires.
pub(crate) struct FieldWire {
    pub(crate) wire: TokenStream,
    bounds: Vec<TokenStream>,
}

/// Locates compiler errors at `span`, while names still resolve at the call site.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

impl Role {
    /// Returns the wire type of a field.
    pub(crate) fn wire(&self, model: &Model, field: &Field) -> FieldWire {
        let mut bounds = Vec::new();
        let krate = &model.krate;
        let ty = &field.ty;
        let span = at(field.span());
        let adjust = &field.attrs.adjust;
        // The format is a parameter of the type's default wire type, which applies it to nested types.
        let order = adjust.order.unwrap_or(model.order);
        let base = |bounds: &mut Vec<TokenStream>| {
            let default = self.default_wire(model, adjust.order, span);
            bounds.push(quote!(#ty: #default));
            quote_spanned!(span=> <#ty as #default>::Wire)
        };
        let wire = adjusted(krate, adjust, (order, span), base, &mut bounds);
        if bounds.len() != 1 || adjust.replacement.is_some() {
            let carries = self.carries(krate, ty);
            bounds.push(quote!(#wire: #krate::wire::StaticWire + #carries));
        }
        FieldWire { wire, bounds }
    }

    /// Returns the trait that a wire type implements if it can encode or decode `ty`.
    fn carries(&self, krate: &Path, ty: &Type) -> TokenStream {
        match self {
            Self::Encode => quote!(#krate::Put<#ty>),
            Self::Decode(de) => quote!(#krate::Get<#de, #ty>),
        }
    }

    /// Returns the bounds of all fields whose types mention type parameters.
    pub(crate) fn bounds(&self, model: &Model) -> Vec<TokenStream> {
        let mut bounds = Vec::new();
        let fields = model.variants.iter().flat_map(|variant| &variant.fields);
        for field in fields.filter(|field| model.is_generic(&field.ty)) {
            let ty = &field.ty;
            if model.is_recursive(ty) {
                // A bound on a field that contains the type itself would be cyclic, so the parameters are bounded instead.
                if !field.attrs.ignore {
                    let default = self.default_wire(model, None, Span::call_site());
                    let parameters = model.generics.type_params().map(|parameter| &parameter.ident);
                    bounds.extend(parameters.map(|parameter| quote!(#parameter: #default)));
                }
                continue;
            }
            if !field.attrs.ignore {
                bounds.extend(self.wire(model, field).bounds);
            }
            let is_default =
                field.attrs.default_on_eof.as_ref().is_some_and(|default| default.value.is_none());
            if matches!(self, Self::Decode(_)) && (field.attrs.ignore || is_default) {
                bounds.push(quote!(#ty: ::core::default::Default));
            }
        }
        bounds
    }

    /// Returns the trait that a Rust type implements if it has a default wire type.
    fn default_wire(&self, model: &Model, order: Option<Order>, span: Span) -> TokenStream {
        let krate = &model.krate;
        let format = match (order, &model.format) {
            (None, Some(format)) => quote!(#format),
            (order, _) => {
                let order = order.unwrap_or(model.order).tokens(krate);
                if model.go { quote!(#krate::wire::Go<#order>) } else { order }
            }
        };
        match self {
            Self::Encode => quote_spanned!(span=> #krate::EncodeAs<#format>),
            Self::Decode(de) => quote_spanned!(span=> #krate::DecodeAs<#de, #format>),
        }
    }
}

/// Applies attributes to a base wire type. `order` is the order of headers without an explicit one.
fn adjusted(
    krate: &Path,
    adjust: &Adjust,
    (order, span): (Order, Span),
    base: impl FnOnce(&mut Vec<TokenStream>) -> TokenStream,
    bounds: &mut Vec<TokenStream>,
) -> TokenStream {
    match &adjust.replacement {
        Some(Replacement::With(wire)) => return quote_spanned!(at(wire.span())=> #wire),
        Some(Replacement::Skip(count)) => {
            return quote_spanned!(at(count.span())=> #krate::wire::Skip<{ #count }>);
        }
        Some(Replacement::Time) => return quote_spanned!(span=> #krate::wire::TimeUtc),
        Some(Replacement::Serde) => return quote_spanned!(span=> #krate::serde::Serde),
        None => {}
    }
    let path = quote!(#krate::wire::adjust);
    let mut steps = Adjustments { krate, path, order, span, wire: base(bounds), bounds };
    for (attribute, adjust) in [
        (quote!(Inner), &adjust.inner),
        (quote!(Elem), &adjust.elem),
        (quote!(Key), &adjust.key),
        (quote!(Value), &adjust.value),
    ] {
        if let Some(adjust) = adjust {
            steps.part(attribute, adjust);
        }
    }
    if adjust.blob {
        steps.replace(quote!(Blob), None);
    }
    if let Some(name) = &adjust.go {
        steps.replace(name.to_token_stream(), None);
    }
    if adjust.sorted {
        steps.replace(quote!(Sorted), None);
    }
    if let Some(header) = &adjust.header {
        steps.replace(quote!(Header), Some(header.tokens(krate, order)));
    }
    if let Some(max) = &adjust.max {
        let header = steps.part_of(&quote!(Header));
        steps.replace(quote!(Header), Some(quote!(#krate::wire::Max<{ #max }, #header>)));
    }
    steps.wire
}

/// A wire type to which attributes are applied one after the other.
struct Adjustments<'a> {
    krate: &'a Path,
    /// The module `tightwire_parco::wire::adjust`.
    path: TokenStream,
    order: Order,
    span: Span,
    wire: TokenStream,
    bounds: &'a mut Vec<TokenStream>,
}

impl Adjustments<'_> {
    /// Replaces the part of the wire type that an attribute changes.
    fn replace(&mut self, attribute: TokenStream, new: Option<TokenStream>) {
        let (path, wire) = (&self.path, &self.wire);
        let new = new.into_iter();
        let replace = quote!(#path::Replace<#path::#attribute #(, #new)*>);
        self.bounds.push(quote!(#wire: #replace));
        self.wire = quote_spanned!(self.span=> <#wire as #replace>::Wire);
    }

    /// Returns the part of the wire type that an attribute changes.
    fn part_of(&mut self, attribute: &TokenStream) -> TokenStream {
        let (path, wire) = (&self.path, &self.wire);
        let part = quote!(#path::Part<#path::#attribute>);
        self.bounds.push(quote!(#wire: #part));
        quote_spanned!(self.span=> <#wire as #part>::Wire)
    }

    /// Applies attributes to a part of the wire type.
    fn part(&mut self, attribute: TokenStream, adjust: &Adjust) {
        let base = self.part_of(&attribute);
        let path = &self.path;
        let ordered = |bounds: &mut Vec<TokenStream>| match adjust.order {
            Some(order) => {
                let order = order.tokens(self.krate);
                let ordered = quote!(#path::WithOrder<#order>);
                bounds.push(quote!(#base: #ordered));
                quote_spanned!(self.span=> <#base as #ordered>::Wire)
            }
            None => base,
        };
        let order = adjust.order.unwrap_or(self.order);
        let new = adjusted(self.krate, adjust, (order, self.span), ordered, self.bounds);
        self.replace(attribute, Some(new));
    }
}
