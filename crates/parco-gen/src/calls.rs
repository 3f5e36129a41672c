//! Calls of the methods of `Reader` and `Writer`, which have the same names and arguments in Python and TypeScript.

use crate::model::{Int, Kind, Model, Shape, int128, method, suffix};

/// A language with such methods.
pub(crate) trait Calls {
    fn model(&self) -> &Model;

    /// Returns the name of the function that reads or writes the type at an index.
    fn function(&self, verb: &str, index: usize) -> String;

    /// Returns a function that reads a value.
    fn reader(&self, shape: &Shape) -> String;

    /// Returns a function that writes a value.
    fn writer(&self, shape: &Shape) -> String;

    /// Returns the argument for the function that writes a length; a varint is the default.
    fn header(header: Int) -> String;

    /// Returns an expression that reads a value.
    fn read_shape(&self, shape: &Shape) -> String {
        let part = |index: usize| self.reader(&shape.parts[index]);
        let min = self.model().min_size_of_parts(shape);
        match &shape.kind {
            Kind::Bool => "r.boolean()".into(),
            Kind::Int(int) => format!("r.{}()", int.method()),
            Kind::Float(number, endian) => format!("r.{}()", method(*number, *endian)),
            Kind::Char(endian) => format!("r.char(r.u32{}())", suffix(*endian)),
            Kind::Int128 { is_signed, endian } => format!("r.{}()", int128(*is_signed, *endian)),
            Kind::String(header) => format!("r.string({})", length(*header, "")),
            Kind::Blob(header) => format!("r.blob({})", length(*header, "")),
            Kind::Octets(count) => format!("r.take({count})"),
            Kind::Slice(header) => format!("r.slice({min}, {}{})", part(0), length(*header, ", ")),
            Kind::Array(len) => format!("r.array({len}, {min}, {})", part(0)),
            Kind::Map(header) => {
                let method = if shape.parts[0].is_key() { "map" } else { "entries" };
                format!("r.{method}({min}, {}, {}{})", part(0), part(1), length(*header, ", "))
            }
            Kind::Option if shape.parts[0].is_nullable() => format!("r.some({})", part(0)),
            Kind::Option => format!("r.option({})", part(0)),
            Kind::Skip(count) => format!("r.skip({count})"),
            Kind::TimeLocation => "r.zoned()".into(),
            Kind::Type(index) => format!("{}(r)", self.function("read", *index)),
        }
    }

    /// Returns an expression that writes a value.
    fn write_shape(&self, shape: &Shape, value: &str) -> String {
        let part = |index: usize| self.writer(&shape.parts[index]);
        match &shape.kind {
            Kind::Bool => format!("w.boolean({value})"),
            Kind::Int(int) => format!("w.{}({value})", int.method()),
            Kind::Float(number, endian) => format!("w.{}({value})", method(*number, *endian)),
            Kind::Char(endian) => format!("w.u32{}(w.char({value}))", suffix(*endian)),
            Kind::Int128 { is_signed, endian } => format!("w.{}({value})", int128(*is_signed, *endian)),
            Kind::String(int) => format!("w.string({value}{})", Self::header(*int)),
            Kind::Blob(int) => format!("w.blob({value}{})", Self::header(*int)),
            Kind::Octets(count) => format!("w.octets({value}, {count})"),
            Kind::Slice(int) => format!("w.slice({value}, {}{})", part(0), Self::header(*int)),
            Kind::Array(len) => format!("w.array({value}, {len}, {})", part(0)),
            Kind::Map(int) => {
                let method = if shape.parts[0].is_key() { "map" } else { "entries" };
                format!("w.{method}({value}, {}, {}{})", part(0), part(1), Self::header(*int))
            }
            Kind::Option if shape.parts[0].is_nullable() => format!("w.some({value}, {})", part(0)),
            Kind::Option => format!("w.option({value}, {})", part(0)),
            Kind::Skip(count) => format!("w.skip({count})"),
            Kind::TimeLocation => format!("w.zoned({value})"),
            Kind::Type(index) => format!("{}(w, {value})", self.function("write", *index)),
        }
    }
}

/// Returns the names of the run-time file that a module uses, separated by commas. The prefix is that of names of types.
pub(crate) fn imports(model: &Model, prefix: &str) -> String {
    let is_some = |shape: &Shape| shape.kind == Kind::Option && shape.parts[0].is_nullable();
    let names = [
        ("", "ParcoError", model.types.iter().any(|item| !item.variants().is_empty())),
        ("", "Reader", true),
        (prefix, "Some", model.has(is_some)),
        ("", "Writer", true),
        (prefix, "ZonedTime", model.has(|shape| shape.kind == Kind::TimeLocation)),
        ("", "decode", true),
        ("", "encode", true),
        ("", "nested", (0..model.types.len()).any(|index| model.is_recursive(index))),
    ];
    let used = names.iter().filter(|(.., is_used)| *is_used);
    used.map(|(prefix, name, _)| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ")
}

/// Returns the argument for a length; a varint is the default.
fn length(header: Int, before: &str) -> String {
    if header == Int::Varint { String::new() } else { format!("{before}r.{}()", header.method()) }
}
