//! The parsed and validated input of a macro: a struct or an enum.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Generics, Ident, Index, Member, Path, Result, Type, Visibility,
    parse_quote,
};

use crate::attr::{ContainerAttrs, FieldAttrs, Id, IdWire, Order, VariantAttrs};

pub(crate) struct Model {
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// Path of the `tightwire_parco` crate.
    pub(crate) krate: Path,
    pub(crate) order: Order,
    /// Span of the `view` attribute.
    pub(crate) view: Option<Span>,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    Struct(Fields),
    Enum { id: IdWire, variants: Vec<Variant> },
}

pub(crate) struct Variant {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) ident: Ident,
    /// Name in error paths.
    pub(crate) name: String,
    pub(crate) id: Id,
    pub(crate) fields: Fields,
}

pub(crate) struct Fields {
    pub(crate) style: Style,
    pub(crate) list: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Named,
    Tuple,
    Unit,
}

pub(crate) struct Field {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) member: Member,
    /// Local variable for the value.
    pub(crate) binding: Ident,
    /// Name in the schema and in error paths.
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) attrs: FieldAttrs,
}

impl Fields {
    fn parse(fields: &syn::Fields) -> Result<Self> {
        let list = fields
            .iter()
            .enumerate()
            .map(|(at, field)| Field::parse(at, field))
            .collect::<Result<Vec<_>>>()?;
        let mut optional = true;
        for field in list.iter().rev().filter(|field| !field.attrs.ignore) {
            match field.attrs.default_on_eof {
                Some(span) if !optional => {
                    return Err(Error::new(
                        span,
                        "a required field follows; `default_on_eof` is only allowed on the last fields",
                    ));
                }
                Some(_) => {}
                None => optional = false,
            }
        }
        let style = match fields {
            syn::Fields::Named(_) => Style::Named,
            syn::Fields::Unnamed(_) => Style::Tuple,
            syn::Fields::Unit => Style::Unit,
        };
        Ok(Self { style, list })
    }

    /// Returns true for a single unnamed field.
    pub(crate) fn is_newtype(&self) -> bool {
        self.style == Style::Tuple && self.list.len() == 1
    }

    /// Returns the fields that are encoded.
    pub(crate) fn encoded_fields(&self) -> impl Iterator<Item = &Field> {
        self.list.iter().filter(|field| !field.attrs.ignore)
    }
}

impl Field {
    fn parse(at: usize, field: &syn::Field) -> Result<Self> {
        let attrs = FieldAttrs::parse(&field.attrs)?;
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index {
                index: u32::try_from(at).unwrap_or(u32::MAX),
                span: Span::call_site(),
            }),
        };
        let name = match (&attrs.rename, &field.ident) {
            (Some(name), _) => name.value(),
            (None, Some(ident)) => plain(ident),
            (None, None) => at.to_string(),
        };
        Ok(Self {
            docs: docs(&field.attrs),
            vis: field.vis.clone(),
            member,
            binding: format_ident!("field_{at}"),
            name,
            ty: field.ty.clone(),
            attrs,
        })
    }

    /// Span for errors if wire type and Rust type do not match. Using a single span avoids duplicate errors.
    pub(crate) fn span(&self) -> Span {
        self.attrs.adjust.span.unwrap_or_else(|| self.ty.span())
    }
}

/// Returns the documentation comments.
fn docs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect()
}

/// Returns the name without the `r#` of raw identifiers.
fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

impl Model {
    pub(crate) fn parse(input: DeriveInput) -> Result<Self> {
        let attrs = ContainerAttrs::parse(&input.attrs, matches!(input.data, Data::Enum(_)))?;
        let body = match &input.data {
            Data::Struct(data) => Body::Struct(Fields::parse(&data.fields)?),
            Data::Enum(data) => {
                let Some(id) = attrs.id else {
                    return Err(Error::new(
                        input.ident.span(),
                        "an enum needs the wire type of its ids, such as `#[parco(id = u8)]`",
                    ));
                };
                Body::Enum { id, variants: variants(&input.ident, data)? }
            }
            Data::Union(data) => {
                return Err(Error::new(data.union_token.span, "unions are not supported"));
            }
        };
        Ok(Self {
            vis: input.vis,
            ident: input.ident,
            generics: input.generics,
            krate: attrs.krate.unwrap_or_else(|| parse_quote!(::tightwire_parco)),
            order: attrs.order.unwrap_or(Order::Le),
            view: attrs.view,
            body,
        })
    }

    /// Returns the encoded fields of the struct or of all variants.
    pub(crate) fn encoded_fields(&self) -> Vec<&Field> {
        match &self.body {
            Body::Struct(fields) => fields.encoded_fields().collect(),
            Body::Enum { variants, .. } => {
                variants.iter().flat_map(|variant| variant.fields.encoded_fields()).collect()
            }
        }
    }

    /// Returns the fields with `ignore`.
    pub(crate) fn ignored_fields(&self) -> Vec<&Field> {
        let all: Vec<&Fields> = match &self.body {
            Body::Struct(fields) => vec![fields],
            Body::Enum { variants, .. } => variants.iter().map(|variant| &variant.fields).collect(),
        };
        all.into_iter().flat_map(|fields| &fields.list).filter(|field| field.attrs.ignore).collect()
    }

    /// Returns whether a type mentions a type parameter, so that it needs bounds.
    pub(crate) fn is_generic(&self, ty: &Type) -> bool {
        self.generics
            .type_params()
            .any(|parameter| mentions(ty.to_token_stream(), &|ident| *ident == parameter.ident))
    }

    /// Returns whether a type mentions the derived type.
    pub(crate) fn is_recursive(&self, ty: &Type) -> bool {
        mentions(ty.to_token_stream(), &|ident| *ident == self.ident || ident == "Self")
    }
}

fn mentions(tokens: TokenStream, predicate: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => predicate(&ident),
        TokenTree::Group(group) => mentions(group.stream(), predicate),
        _ => false,
    })
}

fn variants(name: &Ident, data: &syn::DataEnum) -> Result<Vec<Variant>> {
    if data.variants.is_empty() {
        return Err(Error::new(name.span(), "an enum without variants cannot be encoded or decoded"));
    }
    let mut variants: Vec<Variant> = Vec::new();
    for variant in &data.variants {
        let attrs = VariantAttrs::parse(&variant.attrs)?;
        let Some(id) = attrs.id else {
            return Err(Error::new(
                variant.ident.span(),
                "a variant needs an id, such as `#[parco(id = 1)]`",
            ));
        };
        if variants.iter().any(|other| other.id.text == id.text) {
            return Err(Error::new(
                id.span,
                format!("the id `{}` is already used by another variant", id.text),
            ));
        }
        let fields = Fields::parse(&variant.fields)?;
        let name = attrs.rename.map_or_else(|| plain(&variant.ident), |name| name.value());
        variants.push(Variant { docs: docs(&variant.attrs), ident: variant.ident.clone(), name, id, fields });
    }
    Ok(variants)
}
