//! The wire type of a field, and the bounds it requires.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
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
        // The order is a parameter of the type's default wire type, which applies it to nested types.
        let order = adjust.order.unwrap_or(model.order);
        let base = |bounds: &mut Vec<TokenStream>| {
            let marker = order.tokens(krate);
            let (bound, wire) = match self {
                Self::Encode => {
                    (quote_spanned!(span=> #krate::EncodeAs<#marker>), quote!(#krate::EncodeAs<#marker>))
                }
                Self::Decode(de) => (
                    quote_spanned!(span=> #krate::DecodeAs<#de, #marker>),
                    quote!(#krate::DecodeAs<#de, #marker>),
                ),
            };
            bounds.push(quote!(#ty: #bound));
            quote_spanned!(span=> <#ty as #wire>::Wire)
        };
        let wire = adjusted(krate, adjust, (order, span), base, &mut bounds);
        if bounds.len() != 1 || adjust.replacement.is_some() {
            let carries = self.carries(krate, ty);
            bounds.push(quote!(#wire: #krate::wire::StaticWire + #carries));
        }
        FieldWire { wire, bounds }
    }

    /// The bound that a wire type can encode or decode `ty`.
    fn carries(&self, krate: &Path, ty: &Type) -> TokenStream {
        match self {
            Self::Encode => quote!(#krate::Put<#ty>),
            Self::Decode(de) => quote!(#krate::Get<#de, #ty>),
        }
    }

    /// Returns the bounds of all fields whose types mention type parameters.
    pub(crate) fn bounds(&self, model: &Model) -> Vec<TokenStream> {
        let krate = &model.krate;
        let mut bounds = Vec::new();
        for field in model.encoded_fields().into_iter().filter(|field| model.is_generic(&field.ty)) {
            if !model.is_recursive(&field.ty) {
                bounds.extend(self.wire(model, field).bounds);
                continue;
            }
            // A bound on a field that contains the type itself would be cyclic, so the parameters are bounded instead.
            let marker = model.order.tokens(krate);
            bounds.extend(model.generics.type_params().map(|parameter| {
                let ident = &parameter.ident;
                match self {
                    Self::Encode => quote!(#ident: #krate::EncodeAs<#marker>),
                    Self::Decode(de) => quote!(#ident: #krate::DecodeAs<#de, #marker>),
                }
            }));
        }
        if let Self::Decode(_) = self {
            for field in model.ignored_fields().into_iter().chain(model.encoded_fields()) {
                let defaults = field.attrs.ignore || field.attrs.default_on_eof.is_some();
                if defaults && model.is_generic(&field.ty) && !model.is_recursive(&field.ty) {
                    let ty = &field.ty;
                    bounds.push(quote!(#ty: ::core::default::Default));
                }
            }
        }
        bounds
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
        None => {}
    }
    let mut steps = Adjustments { krate, order, span, wire: base(bounds), bounds };
    steps.part(&adjust.inner, quote!(HasInner), quote!(Inner), quote!(WithInner));
    steps.part(&adjust.elem, quote!(HasElement), quote!(Element), quote!(WithElement));
    steps.part(&adjust.key, quote!(HasEntry), quote!(Key), quote!(WithKey));
    steps.part(&adjust.value, quote!(HasEntry), quote!(Value), quote!(WithValue));
    if adjust.blob {
        steps.step(quote!(AsBlob));
    }
    if let Some(sign) = &adjust.go {
        steps.step(quote!(AsGo<#krate::wire::adjust::#sign>));
    }
    if adjust.sorted {
        steps.step(quote!(AsSorted));
    }
    if let Some(header) = &adjust.header {
        let header = header.tokens(krate, order);
        steps.step(quote!(WithHeader<#header>));
    }
    if let Some(max) = &adjust.max {
        steps.step(quote!(WithMax<{ #max }>));
    }
    steps.wire
}

/// A wire type to which attributes are applied one after the other.
struct Adjustments<'a> {
    krate: &'a Path,
    order: Order,
    span: Span,
    wire: TokenStream,
    bounds: &'a mut Vec<TokenStream>,
}

impl Adjustments<'_> {
    /// Applies a trait of `tightwire_parco::wire::adjust`.
    fn step(&mut self, function: TokenStream) {
        let (krate, wire) = (self.krate, &self.wire);
        let function = quote!(#krate::wire::adjust::#function);
        self.bounds.push(quote!(#wire: #function));
        self.wire = quote_spanned!(self.span=> <#wire as #function>::Wire);
    }

    /// Applies attributes to one part of the wire type.
    fn part(&mut self, adjust: &Option<Box<Adjust>>, has: TokenStream, part: TokenStream, with: TokenStream) {
        let Some(adjust) = adjust else { return };
        let (krate, wire) = (self.krate, &self.wire);
        self.bounds.push(quote!(#wire: #krate::wire::adjust::#has));
        let base = quote_spanned!(self.span=> <#wire as #krate::wire::adjust::#has>::#part);
        let inner = |bounds: &mut Vec<TokenStream>| match adjust.order {
            Some(order) => {
                let order = order.tokens(krate);
                bounds.push(quote!(#base: #krate::wire::adjust::WithOrder<#order>));
                quote_spanned!(self.span=> <#base as #krate::wire::adjust::WithOrder<#order>>::Wire)
            }
            None => base,
        };
        let order = adjust.order.unwrap_or(self.order);
        let new = adjusted(krate, adjust, (order, self.span), inner, self.bounds);
        self.step(quote!(#with<#new>));
    }
}
