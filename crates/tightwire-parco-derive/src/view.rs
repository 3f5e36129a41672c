//! Expansion of `#[parco(view)]`: a second struct or enum that borrows everything from the input.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Error, GenericParam, Generics, Index, Lifetime, LifetimeParam, Member, Result, Type, parse_quote};

use crate::attr::{Adjust, FieldAttrs};
use crate::decode;
use crate::model::{Body, Field, Fields, Model, Style, Variant};
use crate::wire_type::{Role, at};

pub(crate) fn derive(model: &Model) -> Result<TokenStream> {
    let Some(span) = model.view else { return Ok(TokenStream::new()) };
    if model.generics.type_params().next().is_some() || model.generics.lifetimes().count() > 1 {
        return Err(Error::new(
            span,
            "`view` requires a type without type parameters and with at most one lifetime",
        ));
    }
    let view = view(model);
    let definition = definition(model, &view);
    let decode = decode::derive(&view);
    let has_view = has_view(model, &view);
    Ok(quote!(#definition #decode #has_view))
}

/// Returns the view as a model, with the field types and wire types of views.
fn view(model: &Model) -> Model {
    let (generics, de) = generics(model);
    let role = Role::Decode(de.clone());
    let fields = |fields: &Fields| {
        let list = fields
            .encoded_fields()
            .enumerate()
            .map(|(index, field)| field_of_view(model, &role, &de, index, field));
        Fields { style: fields.style, list: list.collect() }
    };
    let body = match &model.body {
        Body::Struct(all) => Body::Struct(fields(all)),
        Body::Enum { id, variants } => {
            let variants = variants.iter().map(|variant| Variant {
                docs: variant.docs.clone(),
                ident: variant.ident.clone(),
                name: variant.name.clone(),
                id: variant.id.clone(),
                fields: fields(&variant.fields),
            });
            Body::Enum { id: id.clone(), variants: variants.collect() }
        }
    };
    Model {
        vis: model.vis.clone(),
        ident: format_ident!("{}View", model.ident),
        generics,
        krate: model.krate.clone(),
        order: model.order,
        view: None,
        body,
    }
}

/// Returns the generics of the view: one lifetime, unless no field is encoded.
fn generics(model: &Model) -> (Generics, Lifetime) {
    let mut generics = model.generics.clone();
    let own = generics.lifetimes().next().map(|parameter| parameter.lifetime.clone());
    let de = own.clone().unwrap_or_else(|| parse_quote!('de));
    if model.encoded_fields().is_empty() {
        let params =
            generics.params.into_iter().filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)));
        generics.params = params.collect();
    } else if own.is_none() {
        generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(de.clone())));
    }
    (generics, de)
}

fn field_of_view(model: &Model, role: &Role, de: &Lifetime, index: usize, field: &Field) -> Field {
    let krate = &model.krate;
    let (_, arguments, _) = model.generics.split_for_impl();
    let ident = &model.ident;
    // In the definition of the view, `Self` is the view.
    let wire = replace_self(role.wire(model, field).wire, &quote!(#ident #arguments));
    let span = at(field.span());
    let view = quote_spanned!(span=> <#wire as #krate::wire::adjust::ViewAs<#de>>);
    let ty: Type = parse_quote!(#view::View);
    let with: Type = parse_quote!(#view::Wire);
    let member = match &field.member {
        Member::Named(ident) => Member::Named(ident.clone()),
        Member::Unnamed(_) => Member::Unnamed(Index {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            span: Span::call_site(),
        }),
    };
    Field {
        docs: field.docs.clone(),
        vis: field.vis.clone(),
        member,
        binding: field.binding.clone(),
        name: field.name.clone(),
        ty,
        attrs: FieldAttrs {
            adjust: Adjust::with(with, field.span()),
            default_on_eof: field.attrs.default_on_eof,
            ..FieldAttrs::default()
        },
    }
}

fn replace_self(tokens: TokenStream, with: &TokenStream) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => with.clone(),
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), replace_self(group.stream(), with));
            replaced.set_span(group.span());
            TokenTree::Group(replaced).into()
        }
        token => token.into(),
    };
    tokens.into_iter().flat_map(replace).collect()
}

/// Returns the definition of the view.
fn definition(model: &Model, view: &Model) -> TokenStream {
    let Model { vis, ident, generics, .. } = view;
    let clause = &generics.where_clause;
    let text = format!("A view of [`{}`]: the same bytes, borrowed from the input.", model.ident);
    let head = quote! {
        #[doc = #text]
        #[derive(Clone, Copy, Debug, PartialEq)]
    };
    match &view.body {
        Body::Struct(fields) => {
            let list = declared(fields, true);
            match fields.style {
                Style::Named => quote!(#head #vis struct #ident #generics #clause { #list }),
                Style::Tuple => quote!(#head #vis struct #ident #generics (#list) #clause;),
                Style::Unit => quote!(#head #vis struct #ident #generics #clause;),
            }
        }
        Body::Enum { variants, .. } => {
            let variants = variants.iter().map(|variant| {
                let Variant { docs, ident, fields, .. } = variant;
                let list = declared(fields, false);
                match fields.style {
                    Style::Named => quote!(#(#docs)* #ident { #list }),
                    Style::Tuple => quote!(#(#docs)* #ident(#list)),
                    Style::Unit => quote!(#(#docs)* #ident),
                }
            });
            quote!(#head #vis enum #ident #generics #clause { #(#variants),* })
        }
    }
}

fn declared(fields: &Fields, with_vis: bool) -> TokenStream {
    let list = fields.list.iter().map(|field| {
        let Field { docs, ty, .. } = field;
        let vis = with_vis.then_some(&field.vis);
        match &field.member {
            Member::Named(ident) => quote!(#(#docs)* #vis #ident: #ty),
            Member::Unnamed(_) => quote!(#(#docs)* #vis #ty),
        }
    });
    quote!(#(#list),*)
}

/// Links the type to its view, for messages that contain it.
fn has_view(model: &Model, view: &Model) -> TokenStream {
    let (krate, ident, name) = (&model.krate, &model.ident, &view.ident);
    let (generics, arguments, clause) = model.generics.split_for_impl();
    let own = view.generics.params.iter().map(|parameter| match parameter {
        GenericParam::Lifetime(_) => quote!('__view),
        GenericParam::Type(parameter) => parameter.ident.to_token_stream(),
        GenericParam::Const(parameter) => parameter.ident.to_token_stream(),
    });
    quote! {
        #[automatically_derived]
        impl #generics #krate::wire::adjust::HasView for #ident #arguments #clause {
            type View<'__view> = #name<#(#own),*>;
        }
    }
}
