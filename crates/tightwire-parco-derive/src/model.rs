//! The parsed and validated input of a macro: a struct or an enum.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Generics, Ident, Index, Member, Path, Result, Type, parse_quote};

use crate::attr::{ContainerAttrs, FieldAttrs, Id, IdWire, Order, VariantAttrs};

pub(crate) struct Model {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// Path of the `tightwire_parco` crate.
    pub(crate) krate: Path,
    pub(crate) order: Order,
    /// Whether the defaults are those of the Go library.
    pub(crate) go: bool,
    /// The format of another library.
    pub(crate) format: Option<Type>,
    /// Whether the length precedes the fields, and in an enum the id.
    pub(crate) evolve: bool,
    /// The types that are encoded and decoded instead.
    pub(crate) into: Option<Type>,
    pub(crate) try_from: Option<Type>,
    /// Wire type of the ids of an enum; `None` for a struct.
    pub(crate) id: Option<IdWire>,
    /// The variants of an enum. A struct is a single variant without name and id.
    pub(crate) variants: Vec<Variant>,
}

pub(crate) struct Variant {
    /// `Self` or `Self::Name`.
    pub(crate) constructor: TokenStream,
    /// Name in error paths.
    pub(crate) name: Option<String>,
    /// `None` for a struct, and for the variant with `other`, which is the last one.
    pub(crate) id: Option<Id>,
    /// Whether the only field is unnamed.
    pub(crate) is_newtype: bool,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    pub(crate) member: Member,
    /// Local variable for the value.
    pub(crate) binding: Ident,
    /// Name in the schema and in error paths.
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) attrs: FieldAttrs,
}

impl Variant {
    fn of_struct(fields: &syn::Fields) -> Result<Self> {
        Self::parse(quote!(Self), None, None, fields)
    }

    /// Returns also the span of the attribute `other`.
    fn of_enum(variant: &syn::Variant) -> Result<(Self, Option<Span>)> {
        let attrs = VariantAttrs::parse(&variant.attrs)?;
        let ident = &variant.ident;
        let name = attrs.rename.map_or_else(|| plain(ident), |name| name.value());
        Ok((Self::parse(quote!(Self::#ident), Some(name), attrs.id, &variant.fields)?, attrs.other))
    }

    fn parse(
        constructor: TokenStream,
        name: Option<String>,
        id: Option<Id>,
        fields: &syn::Fields,
    ) -> Result<Self> {
        let is_newtype = matches!(fields, syn::Fields::Unnamed(_)) && fields.len() == 1;
        let fields: Vec<Field> =
            fields.iter().enumerate().map(|(at, field)| Field::parse(at, field)).collect::<Result<_>>()?;
        let mut optional = true;
        for field in fields.iter().rev().filter(|field| !field.attrs.ignore) {
            match &field.attrs.default_on_eof {
                Some(default) if !optional => {
                    return Err(Error::new(
                        default.span,
                        "a required field follows; `default_on_eof` is only allowed on the last fields",
                    ));
                }
                Some(_) => {}
                None => optional = false,
            }
        }
        Ok(Self { constructor, name, id, is_newtype, fields })
    }

    /// Returns the fields that are encoded.
    pub(crate) fn encoded_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.attrs.ignore)
    }

    /// Returns the path segments that lead to a field, innermost first.
    pub(crate) fn path<'a>(&'a self, field: &'a Field) -> impl Iterator<Item = &'a str> {
        // A single unnamed field is identified by the name of its variant.
        let own = (self.name.is_none() || !self.is_newtype).then_some(field.name.as_str());
        own.into_iter().chain(self.name.as_deref())
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
        Ok(Self { member, binding: format_ident!("field_{at}"), name, ty: field.ty.clone(), attrs })
    }

    /// Span for errors if wire type and Rust type do not match. Using a single span avoids duplicate errors.
    pub(crate) fn span(&self) -> Span {
        self.attrs.adjust.span.unwrap_or_else(|| self.ty.span())
    }
}

/// Returns the type of a format, which may be a short name.
fn resolved(format: Type, krate: &Path) -> Type {
    let mut named = &format;
    // A type that is a parameter of a macro.
    while let Type::Group(group) = named {
        named = &group.elem;
    }
    let name = match named {
        Type::Path(path) => path.path.get_ident().map(Ident::to_string),
        _ => None,
    };
    match name.as_deref() {
        Some("bincode1") => parse_quote!(#krate::wire::Bincode1),
        Some("bincode2") => parse_quote!(#krate::wire::Bincode2),
        Some("postcard") => parse_quote!(#krate::wire::Postcard),
        _ => format,
    }
}

/// Returns the name without the `r#` of raw identifiers.
fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

impl Model {
    pub(crate) fn parse(input: DeriveInput) -> Result<Self> {
        let mut attrs = ContainerAttrs::parse(&input.attrs, matches!(input.data, Data::Enum(_)))?;
        let krate = attrs.krate.unwrap_or_else(|| parse_quote!(::tightwire_parco));
        let format = attrs.format.map(|format| resolved(format, &krate));
        let variants = match &input.data {
            Data::Struct(data) => vec![Variant::of_struct(&data.fields)?],
            Data::Enum(data) => {
                if attrs.go && attrs.id.is_none() {
                    return Err(Error::new(
                        input.ident.span(),
                        "an enum with `go` needs the wire type of its ids, such as `#[parco(id = u8)]`",
                    ));
                }
                let id = attrs.id.get_or_insert_with(|| match &format {
                    Some(format) => IdWire::Type(parse_quote!(#krate::wire::U32<#format>)),
                    None => IdWire::default(),
                });
                variants(&input.ident, id, attrs.evolve, data)?
            }
            Data::Union(data) => {
                return Err(Error::new(data.union_token.span, "unions are not supported"));
            }
        };
        Ok(Self {
            ident: input.ident,
            generics: input.generics,
            krate,
            order: attrs.order.unwrap_or(Order::Le),
            go: attrs.go,
            format,
            evolve: attrs.evolve,
            into: attrs.into,
            try_from: attrs.try_from,
            id: attrs.id,
            variants,
        })
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

/// Parses the variants. Their ids are explicit, or count them in order of declaration.
fn variants(name: &Ident, id: &IdWire, evolves: bool, data: &syn::DataEnum) -> Result<Vec<Variant>> {
    if data.variants.is_empty() {
        return Err(Error::new(name.span(), "an enum without variants cannot be encoded or decoded"));
    }
    let mut variants: Vec<Variant> = Vec::new();
    let mut other = None;
    for (index, declared) in data.variants.iter().enumerate() {
        let (variant, span) = Variant::of_enum(declared)?;
        if let Some(span) = span {
            if !evolves || !declared.fields.is_empty() || index == 0 || index + 1 < data.variants.len() {
                return Err(Error::new(
                    span,
                    "`other` is for the last variant, without fields, of an enum with `evolve`",
                ));
            }
            other = Some(variant);
            continue;
        }
        if let Some(id) = &variant.id
            && variants.iter().flat_map(|other| &other.id).any(|other| other.text == id.text)
        {
            return Err(Error::new(
                id.span,
                format!("the id `{}` is already used by another variant", id.text),
            ));
        }
        variants.push(variant);
    }
    let is_explicit = variants.iter().any(|variant| variant.id.is_some()) || matches!(id, IdWire::Small);
    for (index, (variant, declared)) in variants.iter_mut().zip(&data.variants).enumerate() {
        if variant.id.is_some() {
            continue;
        }
        let span = declared.ident.span();
        if is_explicit {
            return Err(Error::new(
                span,
                "the variant needs an id, such as `#[parco(id = 1)]`: either all variants have one, or none",
            ));
        }
        variant.id = Some(Id::of_index(index, span));
    }
    variants.extend(other);
    Ok(variants)
}
