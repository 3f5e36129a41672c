//! The matching source for those who have the Go library on the other side.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::error::Kind as Wrong;
use super::{Number, Schema, SchemaError};
use crate::wire::Endian;

impl Schema {
    /// Prints a file of Go source with the types and builders of this schema, for use with the Go library.
    ///
    /// `package` is the name of the package, `name` that of the message: a struct becomes a type `Name` and a variable
    /// `NameBuilder`, a multi a variable `NameRegistry` with a type and builder for each model, anything else a variable
    /// `NameType`. Names of fields are made Go's, `life_sense` becomes `LifeSense`; fields that are structs have types
    /// named after the way to them. The text is formatted as `gofmt` does it.
    ///
    /// # Errors
    ///
    /// Fails where the Go library has no counterpart: an option anywhere but as a field, a registry inside a message, a
    /// struct that contains itself, keys that Go does not compare. Also if the schema does not
    /// [compile](Self::compile).
    pub fn to_go(&self, package: &str, name: &str) -> Result<String, SchemaError> {
        self.compile()?;
        let mut file = File::default();
        let name = identifier(name);
        match self {
            Self::Struct(fields) => {
                file.structure(self, fields, name)?;
            }
            Self::Multi { header, models } => file.registry(header, models, &name)?,
            Self::Option(inner) => {
                let inner = file.part(inner, &name)?;
                file.variable(&name, &alloc::format!("parco.Option[{}]({})", inner.value, inner.form));
            }
            _ => {
                let part = file.part(self, &name)?;
                file.variable(&name, &part.form);
            }
        }
        Ok(file.print(package))
    }
}

/// What a Go file consists of.
#[derive(Default)]
struct File {
    imports: BTreeSet<&'static str>,
    /// The structs that have a type, by schema.
    types: Vec<(Schema, String)>,
    body: String,
}

/// A type in Go: that of its values, and the expression that makes its form.
struct Part {
    value: String,
    form: String,
}

impl Part {
    fn new(value: impl Into<String>, form: impl Into<String>) -> Self {
        Self { value: value.into(), form: form.into() }
    }
}

/// How a field is added to a builder.
enum Call {
    /// A method with getter and setter, and perhaps arguments before them.
    Method(String),
    /// The fallback for types without a method.
    Fixed(String),
    /// A string without a method.
    Text(String),
    /// A method that takes a field made by a function, with the type arguments and arguments of that.
    Made {
        method: &'static str,
        types: String,
        arguments: String,
    },
    /// A nested struct, with the variable of its builder.
    Nested(String),
    Skip(String),
}

fn not_in_go(what: &'static str) -> SchemaError {
    SchemaError::new(Wrong::NotInGo(what))
}

impl File {
    fn print(&self, package: &str) -> String {
        let mut text = alloc::format!("package {package}\n\nimport (\n");
        for import in &self.imports {
            // Writing to a string does not fail, here and below.
            let _ = writeln!(text, "\t\"{import}\"");
        }
        if !self.imports.is_empty() {
            text.push('\n');
        }
        text + "\t\"github.com/sonirico/parco\"\n)\n" + &self.body
    }

    fn variable(&mut self, name: &str, form: &str) {
        let _ = write!(self.body, "\nvar {name}Type = {form}\n");
    }

    fn registry(
        &mut self,
        header: &Schema,
        models: &[(String, Schema)],
        name: &str,
    ) -> Result<(), SchemaError> {
        let id = self.part(header, name)?;
        let mut registered = String::new();
        let mut methods = String::new();
        for (text, model) in models {
            let step = |error: SchemaError| error.within(alloc::format!("[{text}]"));
            let Schema::Struct(fields) = model else {
                return Err(step(not_in_go("a model that is no struct")));
            };
            // Each model has a type of its own, for the type tells the id.
            let own = identifier(&alloc::format!("{name}_{text}"));
            let model = self.new_structure(model, fields, own).map_err(step)?;
            let value = if id.value == "string" { quoted(text) } else { text.clone() };
            let _ = writeln!(registered, "\t{name}Registry.MustRegister({value}, {model}Builder)");
            let _ = write!(methods, "\nfunc ({model}) ParcoID() {} {{ return {value} }}\n", id.value);
        }
        let Part { value, form } = id;
        let _ = write!(self.body, "\nvar {name}Registry = parco.MultiBuilder[{value}]({form})\n");
        let _ = write!(self.body, "\nfunc init() {{\n{registered}}}\n{methods}");
        Ok(())
    }

    /// Prints the type and the builder of a struct, unless it is there already, and gives the name of the type.
    fn structure(
        &mut self,
        schema: &Schema,
        fields: &[(String, Schema)],
        name: String,
    ) -> Result<String, SchemaError> {
        match self.types.iter().find(|(known, _)| known == schema) {
            Some((_, name)) => Ok(name.clone()),
            None => self.new_structure(schema, fields, name),
        }
    }

    /// Prints the type and the builder of a struct under a name of its own.
    fn new_structure(
        &mut self,
        schema: &Schema,
        fields: &[(String, Schema)],
        name: String,
    ) -> Result<String, SchemaError> {
        let name = distinct(name, |name| self.types.iter().any(|(_, other)| other == name));
        self.types.push((schema.clone(), name.clone()));
        let mut members: Vec<(String, String)> = Vec::new();
        let mut calls = String::new();
        for (field, schema) in fields {
            let member = distinct(identifier(field), |name| members.iter().any(|(other, _)| other == name));
            let (value, call) = self
                .field(schema, &alloc::format!("{name}{member}"))
                .map_err(|error| error.within(alloc::format!(".{field}")))?;
            calls += ".\n";
            calls += &call.print(&name, &member, &value);
            if !matches!(call, Call::Skip(_)) {
                members.push((member, value));
            }
        }
        let width = members.iter().map(|(member, _)| member.chars().count()).max().unwrap_or(0);
        let opening = if members.is_empty() { "struct{" } else { "struct {\n" };
        let _ = write!(self.body, "\ntype {name} {opening}");
        for (member, value) in &members {
            let _ = writeln!(self.body, "\t{member:width$} {}", member_type(value));
        }
        let _ = write!(
            self.body,
            "}}\n\nvar {name}Builder = parco.Builder[{name}](parco.ObjectFactory[{name}]()){calls}\n"
        );
        Ok(name)
    }

    /// A field: the type of its value as the builder sees it, and the call that adds it.
    fn field(&mut self, schema: &Schema, name: &str) -> Result<(String, Call), SchemaError> {
        Ok(match schema {
            Schema::Slice { header, element } => {
                let header = self.header(header);
                let element = self.part(element, name)?;
                let arguments = alloc::format!("{header}, {}", element.form);
                let value = alloc::format!("parco.SliceView[{}]", element.value);
                (value, Call::Made { method: "Slice", types: element.value, arguments })
            }
            Schema::Array { len, element } => {
                let element = self.part(element, name)?;
                let arguments = alloc::format!("{len}, {}", element.form);
                let value = alloc::format!("parco.SliceView[{}]", element.value);
                (value, Call::Made { method: "Array", types: element.value, arguments })
            }
            Schema::Map { header, key, value } => {
                let (key, value) = self.entry(key, value, name)?;
                let arguments = alloc::format!("{}, {}, {}", self.header(header), key.form, value.form);
                let types = alloc::format!("{}, {}", key.value, value.value);
                let map = alloc::format!("map[{}]{}", key.value, value.value);
                (map, Call::Made { method: "Map", types, arguments })
            }
            Schema::Option(inner) => {
                let inner = self.part(inner, name)?;
                let value = alloc::format!("*{}", inner.value);
                (value, Call::Made { method: "Option", types: inner.value, arguments: inner.form })
            }
            Schema::Struct(fields) => {
                let inner = self.structure(schema, fields, name.to_string())?;
                let builder = alloc::format!("{inner}Builder");
                (inner, Call::Nested(builder))
            }
            Schema::Skip(_) => {
                let part = self.part(schema, name)?;
                (part.value, Call::Skip(part.form))
            }
            _ => {
                let part = self.part(schema, name)?;
                let call = self.scalar(schema, part.form);
                (part.value, call)
            }
        })
    }

    /// The call for what has a form of its own.
    fn scalar(&mut self, schema: &Schema, form: String) -> Call {
        match schema {
            Schema::Bool => Call::Method("Bool(".into()),
            Schema::TimeUtc => Call::Method("TimeUTC(".into()),
            Schema::TimeLocation => Call::Method("TimeLocation(".into()),
            Schema::String { .. } if form == "parco.SmallVarchar()" => Call::Method("SmallVarchar(".into()),
            Schema::String { .. } if form == "parco.Varchar()" => Call::Method("Varchar(".into()),
            Schema::String { .. } => Call::Text(form),
            Schema::Number(number, endian) => match number {
                Number::Uint8 | Number::Int8 => Call::Method(alloc::format!("{}(", go_name(*number))),
                Number::Uint16 => Call::Method(alloc::format!("UInt16{}(", suffix(*endian))),
                // These have no method.
                Number::Int16 | Number::Uint => Call::Fixed(form),
                _ => Call::Method(alloc::format!("{}({}, ", go_name(*number), self.order(*endian))),
            },
            _ => Call::Fixed(form),
        }
    }

    /// A type that may be an element, key, value or content.
    fn part(&mut self, schema: &Schema, name: &str) -> Result<Part, SchemaError> {
        Ok(match schema {
            Schema::Bool => Part::new("bool", "parco.Bool()"),
            Schema::Number(number, endian) => {
                let order = if number.width() == 1 { "" } else { suffix(*endian) };
                Part::new(number.name(), alloc::format!("parco.{}{order}()", go_name(*number)))
            }
            Schema::Header(..) => Part::new("int", self.header(schema)),
            Schema::String { header } => {
                let form = self.text(header);
                Part::new("string", form)
            }
            Schema::Blob { header } => {
                Part::new("[]byte", alloc::format!("parco.Blob({})", self.header(header)))
            }
            Schema::Slice { header, element } => {
                let header = self.header(header);
                let Part { value, form } = self.part(element, name)?;
                Part::new(
                    alloc::format!("parco.Iterable[{value}]"),
                    alloc::format!("parco.Slice[{value}]({header}, {form})"),
                )
            }
            Schema::Array { len, element } => {
                let Part { value, form } = self.part(element, name)?;
                Part::new(
                    alloc::format!("parco.Iterable[{value}]"),
                    alloc::format!("parco.Array[{value}]({len}, {form})"),
                )
            }
            Schema::Map { header, key, value } => {
                let (key, value) = self.entry(key, value, name)?;
                let header = self.header(header);
                Part::new(
                    alloc::format!("map[{}]{}", key.value, value.value),
                    alloc::format!(
                        "parco.MapType[{}, {}]({header}, {}, {})",
                        key.value,
                        value.value,
                        key.form,
                        value.form
                    ),
                )
            }
            Schema::Struct(fields) => {
                let name = self.structure(schema, fields, name.to_string())?;
                let form = alloc::format!("parco.Struct[{name}]({name}Builder)");
                Part::new(name, form)
            }
            Schema::Skip(count) => Part::new("any", alloc::format!("parco.SkipType({count})")),
            Schema::TimeUtc => self.time("parco.TimeUTC()"),
            Schema::TimeLocation => self.time("parco.TimeLocation()"),
            Schema::Option(_) => return Err(not_in_go("an option that is no field")),
            Schema::Multi { .. } => return Err(not_in_go("a registry inside a message")),
            Schema::Recursive(_) => return Err(not_in_go("a struct that contains itself")),
        })
    }

    fn entry(&mut self, key: &Schema, value: &Schema, name: &str) -> Result<(Part, Part), SchemaError> {
        if matches!(
            key,
            Schema::Blob { .. }
                | Schema::Slice { .. }
                | Schema::Array { .. }
                | Schema::Map { .. }
                | Schema::Struct(_)
        ) {
            return Err(not_in_go("a key that is more than a number, text or time"));
        }
        let key = self.part(key, name).map_err(|error| error.within("[key]"))?;
        let value = self.part(value, name).map_err(|error| error.within("[value]"))?;
        Ok((key, value))
    }

    fn time(&mut self, form: &str) -> Part {
        self.imports.insert("time");
        Part::new("time.Time", form)
    }

    fn text(&mut self, header: &Schema) -> String {
        let (Schema::Number(number, endian) | Schema::Header(number, endian)) = header else {
            return String::new();
        };
        match (number, endian) {
            (Number::Uint8, _) => "parco.SmallVarchar()".into(),
            (Number::Uint16, Endian::Little) => "parco.Varchar()".into(),
            (Number::Uint16, Endian::Big) => alloc::format!("parco.VarcharOrder({})", self.order(*endian)),
            (Number::Uint32, _) => alloc::format!("parco.Text({})", self.order(*endian)),
            (Number::Uint64, _) => alloc::format!("parco.LongText({})", self.order(*endian)),
            _ => alloc::format!("parco.String({})", self.header(header)),
        }
    }

    /// A header. The spelling of 16 bits without sign is another than that of the others.
    fn header(&self, header: &Schema) -> String {
        let (Schema::Number(number, endian) | Schema::Header(number, endian)) = header else {
            return String::new();
        };
        let (name, order) = (go_name(*number), suffix(*endian));
        match number {
            Number::Uint8 | Number::Int8 => alloc::format!("parco.{name}Header()"),
            Number::Uint16 => alloc::format!("parco.UInt16Header{order}()"),
            _ => alloc::format!("parco.{name}{order}Header()"),
        }
    }

    fn order(&mut self, endian: Endian) -> &'static str {
        self.imports.insert("encoding/binary");
        match endian {
            Endian::Little => "binary.LittleEndian",
            Endian::Big => "binary.BigEndian",
        }
    }
}

impl Call {
    /// The call in lines, indented, without the dot before it.
    fn print(&self, model: &str, member: &str, value: &str) -> String {
        let getter = alloc::format!("func(m *{model}) {value} {{ return m.{member} }}");
        let setter = alloc::format!("func(m *{model}, v {value}) {{ m.{member} = v }}");
        match self {
            Self::Method(call) => match call.strip_suffix(", ") {
                Some(call) => alloc::format!("\t{call},\n\t\t{getter},\n\t\t{setter},\n\t)"),
                None => alloc::format!("\t{call}\n\t\t{getter},\n\t\t{setter},\n\t)"),
            },
            Self::Fixed(form) => alloc::format!(
                "\tField(parco.FixedField[{model}, {value}]{{\n\t\tType:   {form},\n\t\tGetter: {getter},\n\t\tSetter: \
                 {setter},\n\t}})"
            ),
            Self::Text(form) => {
                alloc::format!(
                    "\tField(parco.StringField[{model}](\n\t\t{form},\n\t\t{getter},\n\t\t{setter},\n\t))"
                )
            }
            // These take the setter first.
            Self::Made { method, types, arguments } => alloc::format!(
                "\t{method}(parco.{method}Field[{model}, {types}](\n\t\t{arguments},\n\t\t{setter},\n\t\t{getter},\n\t))"
            ),
            Self::Nested(builder) => alloc::format!(
                "\tStruct(parco.StructField[{model}, {value}](\n\t\t{getter},\n\t\t{setter},\n\t\t{builder},\n\t))"
            ),
            // The builder's own way to reserve bytes panics, one with functions of its own does not.
            Self::Skip(form) => alloc::format!(
                "\tField(parco.FixedField[{model}, {value}]{{\n\t\tType:   {form},\n\t\tGetter: func(*{model}) {value} \
                 {{ return nil }},\n\t\tSetter: func(*{model}, {value}) {{}},\n\t}})"
            ),
        }
    }
}

/// Members of structs are plain slices, which Go takes for the named type of the builders.
fn member_type(value: &str) -> String {
    match value.strip_prefix("parco.SliceView[").and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => alloc::format!("[]{inner}"),
        None => value.into(),
    }
}

fn suffix(endian: Endian) -> &'static str {
    match endian {
        Endian::Little => "LE",
        Endian::Big => "BE",
    }
}

fn go_name(number: Number) -> &'static str {
    match number {
        Number::Uint8 => "UInt8",
        Number::Int8 => "Int8",
        Number::Uint16 => "UInt16",
        Number::Int16 => "Int16",
        Number::Uint32 => "UInt32",
        Number::Int32 => "Int32",
        Number::Uint64 => "UInt64",
        Number::Int64 => "Int64",
        Number::Int => "Int",
        Number::Uint => "UInt",
        Number::Float32 => "Float32",
        Number::Float64 => "Float64",
    }
}

/// A Go string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// An exported Go name: words joined, each with a capital, and a letter first.
fn identifier(name: &str) -> String {
    let mut made = String::new();
    for word in name.split(|letter: char| !letter.is_alphanumeric()) {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            made.extend(first.to_uppercase());
            made.extend(letters);
        }
    }
    if made.starts_with(char::is_uppercase) { made } else { alloc::format!("F{made}") }
}

/// The name, with a number behind it if it is taken.
fn distinct(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    (2..).map(|number: usize| alloc::format!("{name}{number}")).find(|name| !is_taken(name)).unwrap_or(name)
}
