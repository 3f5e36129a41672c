//! Parser of the `#[parco(..)]` attributes.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Ident, Lit, LitStr, Path, Result, Token, Type};

#[derive(Clone, Copy)]
pub(crate) enum Order {
    Le,
    Be,
}

impl Order {
    /// Returns the marker type of this order.
    pub(crate) fn tokens(self, krate: &Path) -> TokenStream {
        match self {
            Self::Le => quote!(#krate::wire::Le),
            Self::Be => quote!(#krate::wire::Be),
        }
    }
}

/// An integer wire type for headers and ids: `u8`, `i16be`, `uint`.
pub(crate) struct Number {
    wire: &'static str,
    ordered: bool,
    order: Option<Order>,
    span: Span,
}

impl Number {
    const NAMES: [(&'static str, &'static str); 11] = [
        ("varint", "Varint"),
        ("u8", "U8"),
        ("i8", "I8"),
        ("u16", "U16"),
        ("i16", "I16"),
        ("u32", "U32"),
        ("i32", "I32"),
        ("u64", "U64"),
        ("i64", "I64"),
        ("int", "GoInt"),
        ("uint", "GoUint"),
    ];

    fn from_ident(ident: &Ident) -> Option<Self> {
        let text = ident.to_string();
        let (name, order) = match (text.strip_suffix("le"), text.strip_suffix("be")) {
            (Some(name), _) => (name, Some(Order::Le)),
            (_, Some(name)) => (name, Some(Order::Be)),
            _ => (text.as_str(), None),
        };
        let (_, wire) = Self::NAMES.into_iter().find(|(known, _)| *known == name)?;
        let ordered = !matches!(wire, "U8" | "I8" | "Varint");
        (ordered || order.is_none()).then_some(Self { wire, ordered, order, span: ident.span() })
    }

    /// Returns the wire type, in `order` unless the name includes one.
    pub(crate) fn tokens(&self, krate: &Path, order: Order) -> TokenStream {
        let wire = Ident::new(self.wire, self.span);
        if self.ordered {
            let order = self.order.unwrap_or(order).tokens(krate);
            quote!(#krate::wire::#wire<#order>)
        } else {
            quote!(#krate::wire::#wire)
        }
    }
}

/// Replaces the default wire type of a field.
pub(crate) enum Replacement {
    With(Box<Type>),
    Skip(Box<Expr>),
    Time,
    Serde,
}

/// Changes that attributes make to a wire type.
#[derive(Default)]
pub(crate) struct Adjust {
    pub(crate) replacement: Option<Replacement>,
    pub(crate) order: Option<Order>,
    pub(crate) header: Option<Number>,
    pub(crate) max: Option<Expr>,
    pub(crate) elem: Option<Box<Self>>,
    pub(crate) key: Option<Box<Self>>,
    pub(crate) value: Option<Box<Self>>,
    pub(crate) inner: Option<Box<Self>>,
    pub(crate) blob: bool,
    pub(crate) sorted: bool,
    pub(crate) go: Option<Ident>,
    /// Span of the first attribute.
    pub(crate) span: Option<Span>,
    seen: Seen,
}

/// The attributes seen so far, to detect duplicates and conflicts.
#[derive(Default)]
struct Seen(Vec<String>);

/// Groups of attributes that exclude each other.
const EITHER: &[&[&str]] = &[
    &["be", "le"],
    &["evolve", "go"],
    &["id", "other"],
    &["header", "small"],
    &["int", "uint"],
    &["elem", "key", "blob"],
    &["elem", "value", "blob"],
    &["sorted", "blob"],
];

/// Attributes that exclude each other and those in [`SHAPING`].
const ALONE: &[&str] = &["with", "skip", "time", "serde"];

const SHAPING: &[&str] =
    &["be", "le", "header", "small", "max", "elem", "key", "value", "inner", "blob", "sorted", "int", "uint"];

/// Attributes of [`SHAPING`] that do not apply to numbers.
const LENGTHY: &[&str] = &["header", "small", "max", "elem", "key", "value", "blob", "sorted"];

fn contradict(one: &str, other: &str) -> bool {
    let pair = |one: &str, other: &str| {
        (ALONE.contains(&one) && (ALONE.contains(&other) || SHAPING.contains(&other)))
            || (one == "ignore")
            || (matches!(one, "int" | "uint") && LENGTHY.contains(&other))
            || (one == "inner" && SHAPING.contains(&other) && !matches!(other, "be" | "le"))
            || (one == "skip" && other == "default_on_eof")
            || (one == "format" && matches!(other, "be" | "le" | "evolve" | "go" | "into" | "try_from"))
    };
    one == other
        || pair(one, other)
        || pair(other, one)
        || EITHER.iter().any(|group| group.contains(&one) && group.contains(&other))
}

impl Seen {
    fn add(&mut self, meta: &ParseNestedMeta<'_>) -> Result<String> {
        let name = name(&meta.path);
        if self.0.contains(&name) {
            return Err(meta.error(format!("`{name}` is given twice")));
        }
        if let Some(other) = self.0.iter().find(|other| contradict(other, &name)) {
            return Err(meta.error(format!("`{name}` contradicts `{other}`")));
        }
        self.0.push(name.clone());
        Ok(name)
    }
}

fn name(path: &Path) -> String {
    path.get_ident().map(Ident::to_string).unwrap_or_default()
}

const ADJUSTING: &str = "`header`, `small`, `be`, `le`, `elem`, `key`, `value`, `inner`, `blob`, `sorted`, `int`, \
                         `uint`, `time`, `max`, `with`, `serde`";

impl Adjust {
    /// Parses one attribute. Returns false if it is not one of these.
    fn take(&mut self, name: &str, meta: &ParseNestedMeta<'_>) -> Result<bool> {
        let span = meta.path.span();
        match name {
            "be" => self.order = Some(Order::Be),
            "le" => self.order = Some(Order::Le),
            "small" => self.header = Some(Number { wire: "U8", ordered: false, order: None, span }),
            "header" => self.header = Some(number(meta)?),
            "max" => self.max = Some(meta.value()?.parse()?),
            "elem" => self.elem = Some(Self::nested(meta)?),
            "key" => self.key = Some(Self::nested(meta)?),
            "value" => self.value = Some(Self::nested(meta)?),
            "inner" => self.inner = Some(Self::nested(meta)?),
            "blob" => self.blob = true,
            "sorted" => self.sorted = true,
            "int" => self.go = Some(Ident::new("Int", span)),
            "uint" => self.go = Some(Ident::new("Uint", span)),
            "time" => self.replacement = Some(Replacement::Time),
            "serde" => self.replacement = Some(Replacement::Serde),
            "with" => self.replacement = Some(Replacement::With(meta.value()?.parse()?)),
            _ => return Ok(false),
        }
        self.span.get_or_insert(span);
        Ok(true)
    }

    fn nested(meta: &ParseNestedMeta<'_>) -> Result<Box<Self>> {
        let mut adjust = Box::<Self>::default();
        meta.parse_nested_meta(|meta| {
            let name = adjust.seen.add(&meta)?;
            if adjust.take(&name, &meta)? {
                Ok(())
            } else {
                Err(meta.error(format!("unknown attribute; expected one of {ADJUSTING}")))
            }
        })?;
        Ok(adjust)
    }
}

fn number(meta: &ParseNestedMeta<'_>) -> Result<Number> {
    let ident: Ident = meta.value()?.parse()?;
    Number::from_ident(&ident).ok_or_else(|| {
        Error::new(
            ident.span(),
            "a header is `varint`, `u8`, `i8`, `u16`, `i16`, `u32`, `i32`, `u64`, `i64`, `int` or `uint`, with an \
             optional suffix `le` or `be` if it has more than one byte, such as `u16be`",
        )
    })
}

/// The attribute `default_on_eof`, with the default unless it is that of the type.
pub(crate) struct DefaultOnEof {
    pub(crate) span: Span,
    pub(crate) value: Option<Expr>,
}

#[derive(Default)]
pub(crate) struct FieldAttrs {
    pub(crate) adjust: Adjust,
    pub(crate) ignore: bool,
    pub(crate) default_on_eof: Option<DefaultOnEof>,
    pub(crate) rename: Option<LitStr>,
}

impl FieldAttrs {
    pub(crate) fn parse(attrs: &[Attribute]) -> Result<Self> {
        let mut field = Self::default();
        each(attrs, |meta| {
            let name = field.adjust.seen.add(&meta)?;
            match name.as_str() {
                "ignore" => field.ignore = true,
                "default_on_eof" => {
                    let value = meta.input.peek(Token![=]).then(|| meta.value()?.parse()).transpose()?;
                    field.default_on_eof = Some(DefaultOnEof { span: meta.path.span(), value });
                }
                "rename" => field.rename = Some(meta.value()?.parse()?),
                "skip" => {
                    field.adjust.span = Some(meta.path.span());
                    field.adjust.replacement = Some(Replacement::Skip(meta.value()?.parse()?));
                }
                _ if field.adjust.take(&name, &meta)? => {}
                _ => {
                    return Err(meta.error(format!(
                        "unknown field attribute; expected one of {ADJUSTING}, `skip`, \
                         `default_on_eof`, `ignore`, `rename`"
                    )));
                }
            }
            Ok(())
        })?;
        Ok(field)
    }
}

/// Wire type of the ids of an enum.
pub(crate) enum IdWire {
    Number(Number),
    Small,
    Type(Box<Type>),
}

#[derive(Default)]
pub(crate) struct ContainerAttrs {
    pub(crate) order: Option<Order>,
    /// Whether the defaults are those of the Go library.
    pub(crate) go: bool,
    /// The format of another library.
    pub(crate) format: Option<Type>,
    /// Whether the length of a struct precedes its fields.
    pub(crate) evolve: bool,
    pub(crate) krate: Option<Path>,
    pub(crate) id: Option<IdWire>,
    /// The types that are encoded and decoded instead.
    pub(crate) into: Option<Type>,
    pub(crate) try_from: Option<Type>,
}

impl ContainerAttrs {
    pub(crate) fn parse(attrs: &[Attribute], is_enum: bool) -> Result<Self> {
        let mut container = Self::default();
        let mut seen = Seen::default();
        each(attrs, |meta| {
            match seen.add(&meta)?.as_str() {
                "be" => container.order = Some(Order::Be),
                "le" => container.order = Some(Order::Le),
                "go" => container.go = true,
                "format" => container.format = Some(meta.value()?.parse()?),
                "crate" => container.krate = Some(meta.value()?.call(Path::parse_mod_style)?),
                "evolve" => container.evolve = true,
                "into" => container.into = Some(type_of(&meta)?),
                "try_from" => container.try_from = Some(type_of(&meta)?),
                "id" if is_enum => container.id = Some(id_wire(&meta)?),
                _ if is_enum => {
                    return Err(
                        meta.error(
                            "unknown enum attribute; expected one of `id`, `evolve`, `go`, `format`, `be`, `le`, `into`, `try_from`, `crate`",
                        )
                    );
                }
                _ => {
                    return Err(meta.error(
                        "unknown struct attribute; expected one of `evolve`, `go`, `format`, `be`, `le`, `into`, `try_from`, `crate`",
                    ));
                }
            }
            Ok(())
        })?;
        Ok(container)
    }
}

/// Parses a type, or a string with a type as in serde.
fn type_of(meta: &ParseNestedMeta<'_>) -> Result<Type> {
    let input = meta.value()?;
    if input.peek(LitStr) { input.parse::<LitStr>()?.parse() } else { input.parse() }
}

fn id_wire(meta: &ParseNestedMeta<'_>) -> Result<IdWire> {
    let wire: Type = meta.value()?.parse()?;
    if let Type::Path(path) = &wire
        && let Some(ident) = path.path.get_ident()
    {
        if let Some(number) = Number::from_ident(ident) {
            return Ok(IdWire::Number(number));
        }
        if ident == "small" {
            return Ok(IdWire::Small);
        }
    }
    Ok(IdWire::Type(Box::new(wire)))
}

impl IdWire {
    /// Returns the encoded size of an id, if it depends on the id.
    pub(crate) fn width(&self, id: &str) -> Option<usize> {
        match self {
            Self::Number(Number { wire: "Varint", .. }) => {
                let bits = id.parse::<u64>().map_or(64, |id| 64 - (id | 1).leading_zeros());
                Some(bits.div_ceil(7) as usize)
            }
            Self::Small => Some(1 + id.len()),
            Self::Number(_) | Self::Type(_) => None,
        }
    }
}

impl Default for IdWire {
    fn default() -> Self {
        Self::Number(Number { wire: "Varint", ordered: false, order: None, span: Span::call_site() })
    }
}

/// An id: an integer, which may be negative, or a string.
pub(crate) struct Id {
    /// Rust literal.
    pub(crate) tokens: TokenStream,
    /// Text in the schema; numbers are in decimal.
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Id {
    pub(crate) fn of_index(index: usize, span: Span) -> Self {
        let literal = Literal::usize_unsuffixed(index);
        Self { tokens: quote!(#literal), text: index.to_string(), span }
    }
}

#[derive(Default)]
pub(crate) struct VariantAttrs {
    pub(crate) id: Option<Id>,
    /// Span of the attribute `other`.
    pub(crate) other: Option<Span>,
    pub(crate) rename: Option<LitStr>,
}

impl VariantAttrs {
    pub(crate) fn parse(attrs: &[Attribute]) -> Result<Self> {
        let mut variant = Self::default();
        let mut seen = Seen::default();
        each(attrs, |meta| {
            match seen.add(&meta)?.as_str() {
                "id" => variant.id = Some(id(&meta)?),
                "rename" => variant.rename = Some(meta.value()?.parse()?),
                "other" => variant.other = Some(meta.path.span()),
                _ => {
                    return Err(meta.error("unknown variant attribute; expected `id`, `other` or `rename`"));
                }
            }
            Ok(())
        })?;
        Ok(variant)
    }
}

fn id(meta: &ParseNestedMeta<'_>) -> Result<Id> {
    let input = meta.value()?;
    let minus: Option<Token![-]> = input.parse()?;
    let lit: Lit = input.parse()?;
    let span = lit.span();
    match (&lit, &minus) {
        (Lit::Int(number), _) => {
            let digits = number.base10_digits();
            let text =
                if minus.is_some() && digits != "0" { format!("-{digits}") } else { digits.to_owned() };
            Ok(Id { tokens: quote!(#minus #number), text, span })
        }
        (Lit::Str(text), None) => Ok(Id { tokens: lit.to_token_stream(), text: text.value(), span }),
        _ => Err(Error::new(span, "an id must be an integer or a string")),
    }
}

/// Calls `logic` for each attribute in every `#[parco(..)]`.
fn each(attrs: &[Attribute], mut logic: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("parco"))
        .try_for_each(|attr| attr.parse_nested_meta(&mut logic))
}
