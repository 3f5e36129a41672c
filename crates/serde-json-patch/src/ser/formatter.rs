//! Formatters.

use std::io::{Result, Write};

use tightwire_json::engine;

/// Character of a string that is escaped.
pub enum CharEscape {
    /// `\"`.
    Quote,
    /// `\\`.
    ReverseSolidus,
    /// `\/`. The serializer never passes it.
    Solidus,
    /// `\b`.
    Backspace,
    /// `\f`.
    FormFeed,
    /// `\n`.
    LineFeed,
    /// `\r`.
    CarriageReturn,
    /// `\t`.
    Tab,
    /// Another control character: `\u00` and two hexadecimal digits.
    AsciiControl(u8),
}

impl CharEscape {
    /// Returns how a byte that JSON requires to be escaped is written.
    fn of(byte: u8) -> Self {
        match byte {
            b'"' => Self::Quote,
            b'\\' => Self::ReverseSolidus,
            8 => Self::Backspace,
            12 => Self::FormFeed,
            b'\n' => Self::LineFeed,
            b'\r' => Self::CarriageReturn,
            b'\t' => Self::Tab,
            _ => Self::AsciiControl(byte),
        }
    }
}

macro_rules! numbers {
    ($($(#[$attribute:meta])* $name:ident($type:ty) => $buffer:ident $format:ident;)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            fn $name<W>(&mut self, writer: &mut W, value: $type) -> Result<()>
            where
                W: ?Sized + Write,
            {
                writer.write_all($buffer::Buffer::new().$format(value).as_bytes())
            }
        )*
    };
}

macro_rules! constants {
    ($($(#[$attribute:meta])* $name:ident => $text:expr;)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            fn $name<W>(&mut self, writer: &mut W) -> Result<()>
            where
                W: ?Sized + Write,
            {
                writer.write_all($text)
            }
        )*
    };
}

macro_rules! separators {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            fn $name<W>(&mut self, writer: &mut W, first: bool) -> Result<()>
            where
                W: ?Sized + Write,
            {
                if first { Ok(()) } else { writer.write_all(b",") }
            }
        )*
    };
}

macro_rules! nothing {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            fn $name<W>(&mut self, _writer: &mut W) -> Result<()>
            where
                W: ?Sized + Write,
            {
                Ok(())
            }
        )*
    };
}

macro_rules! texts {
    ($($(#[$attribute:meta])* $name:ident($text:ident);)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            fn $name<W>(&mut self, writer: &mut W, $text: &str) -> Result<()>
            where
                W: ?Sized + Write,
            {
                writer.write_all($text.as_bytes())
            }
        )*
    };
}

/// How the parts of a document are written. The default methods write JSON without white space.
pub trait Formatter {
    constants! {
        /// Writes `null`.
        write_null => b"null";
    }

    /// Writes a boolean.
    #[inline]
    fn write_bool<W>(&mut self, writer: &mut W, value: bool) -> Result<()>
    where
        W: ?Sized + Write,
    {
        writer.write_all(if value { b"true" } else { b"false" })
    }

    numbers! {
        /// Writes an integer.
        write_i8(i8) => itoa format;
        /// Writes an integer.
        write_i16(i16) => itoa format;
        /// Writes an integer.
        write_i32(i32) => itoa format;
        /// Writes an integer.
        write_i64(i64) => itoa format;
        /// Writes an integer.
        write_i128(i128) => itoa format;
        /// Writes an integer.
        write_u8(u8) => itoa format;
        /// Writes an integer.
        write_u16(u16) => itoa format;
        /// Writes an integer.
        write_u32(u32) => itoa format;
        /// Writes an integer.
        write_u64(u64) => itoa format;
        /// Writes an integer.
        write_u128(u128) => itoa format;
        /// Writes a finite float.
        write_f32(f32) => zmij format_finite;
        /// Writes a finite float.
        write_f64(f64) => zmij format_finite;
    }

    texts! {
        /// Writes the text of a number.
        write_number_str(value);
    }

    constants! {
        /// Called before each part of a string. Writes the opening quote.
        begin_string => b"\"";
        /// Called after each part of a string. Writes the closing quote.
        end_string => b"\"";
    }

    texts! {
        /// Writes a part of a string in which nothing is escaped.
        write_string_fragment(fragment);
    }

    /// Writes a character of a string that is escaped.
    #[inline]
    fn write_char_escape<W>(&mut self, writer: &mut W, char_escape: CharEscape) -> Result<()>
    where
        W: ?Sized + Write,
    {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let char = match char_escape {
            CharEscape::Quote => b'"',
            CharEscape::ReverseSolidus => b'\\',
            CharEscape::Solidus => b'/',
            CharEscape::Backspace => b'b',
            CharEscape::FormFeed => b'f',
            CharEscape::LineFeed => b'n',
            CharEscape::CarriageReturn => b'r',
            CharEscape::Tab => b't',
            CharEscape::AsciiControl(byte) => {
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                return writer.write_all(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        };
        writer.write_all(&[b'\\', char])
    }

    /// Writes bytes, as an array of numbers.
    fn write_byte_array<W>(&mut self, writer: &mut W, value: &[u8]) -> Result<()>
    where
        W: ?Sized + Write,
    {
        self.begin_array(writer)?;
        for (index, byte) in value.iter().enumerate() {
            self.begin_array_value(writer, index == 0)?;
            self.write_u8(writer, *byte)?;
            self.end_array_value(writer)?;
        }
        self.end_array(writer)
    }

    constants! {
        /// Called before each array. Writes the opening bracket.
        begin_array => b"[";
        /// Called after each array. Writes the closing bracket.
        end_array => b"]";
    }

    separators! {
        /// Called before each element. Writes a comma, except before the first one.
        begin_array_value;
    }

    nothing! {
        /// Called after each element.
        end_array_value;
    }

    constants! {
        /// Called before each object. Writes the opening brace.
        begin_object => b"{";
        /// Called after each object. Writes the closing brace.
        end_object => b"}";
    }

    separators! {
        /// Called before each key. Writes a comma, except before the first one.
        begin_object_key;
    }

    nothing! {
        /// Called after each key. The colon is written by [`begin_object_value`](Self::begin_object_value).
        end_object_key;
    }

    constants! {
        /// Called before each value of an object. Writes the colon.
        begin_object_value => b":";
    }

    nothing! {
        /// Called after each value of an object.
        end_object_value;
    }

    texts! {
        /// Writes the text of a raw value.
        write_raw_fragment(fragment);
    }

    /// Writes a string.
    #[doc(hidden)]
    #[inline]
    fn __write_str<W>(&mut self, writer: &mut W, value: &str) -> Result<()>
    where
        W: ?Sized + Write,
    {
        self.begin_string(writer)?;
        self.__write_str_body(writer, value)?;
        self.end_string(writer)
    }

    /// Writes a string without quotes.
    #[doc(hidden)]
    fn __write_str_body<W>(&mut self, writer: &mut W, value: &str) -> Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = value;
        loop {
            let special = engine::special(rest.as_bytes(), 0);
            if special > 0 {
                self.write_string_fragment(writer, &rest[..special])?;
            }
            let Some(byte) = rest.as_bytes().get(special) else { return Ok(()) };
            self.write_char_escape(writer, CharEscape::of(*byte))?;
            rest = &rest[special + 1..];
        }
    }

    /// Writes a key that is a string, and everything up to its value.
    #[doc(hidden)]
    #[inline]
    fn __write_key<W>(&mut self, writer: &mut W, first: bool, key: &str) -> Result<()>
    where
        W: ?Sized + Write,
    {
        self.begin_object_key(writer, first)?;
        self.__write_str(writer, key)?;
        self.end_object_key(writer)?;
        self.begin_object_value(writer)
    }
}

/// Formatter that writes no white space.
#[derive(Clone, Debug, Default)]
pub struct CompactFormatter;

impl Formatter for CompactFormatter {}

/// Formatter that writes one line per element and entry.
#[derive(Clone, Debug)]
pub struct PrettyFormatter<'a> {
    level: usize,
    /// Whether the innermost array or object has an element or entry.
    has_value: bool,
    indent: &'a [u8],
}

impl<'a> PrettyFormatter<'a> {
    /// Returns a formatter that indents by two spaces.
    pub fn new() -> Self {
        Self::with_indent(b"  ")
    }

    /// Returns a formatter that writes this text in front of a line for each level.
    pub fn with_indent(indent: &'a [u8]) -> Self {
        Self { level: 0, has_value: false, indent }
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W, separator: &[u8]) -> Result<()> {
        writer.write_all(separator)?;
        (0..self.level).try_for_each(|_| writer.write_all(self.indent))
    }

    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> Result<()> {
        self.level += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> Result<()> {
        self.level -= 1;
        if self.has_value {
            self.line(writer, b"\n")?;
        }
        writer.write_all(bracket)
    }
}

impl Default for PrettyFormatter<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Formatter for PrettyFormatter<'_> {
    #[inline]
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.open(writer, b"[")
    }

    #[inline]
    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.close(writer, b"]")
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.line(writer, if first { b"\n" } else { b",\n" })
    }

    #[inline]
    fn end_array_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> Result<()> {
        self.has_value = true;
        Ok(())
    }

    #[inline]
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.open(writer, b"{")
    }

    #[inline]
    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.close(writer, b"}")
    }

    #[inline]
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.begin_array_value(writer, first)
    }

    #[inline]
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b": ")
    }

    #[inline]
    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.end_array_value(writer)
    }
}

/// Formatter of the functions of this crate: the functions of the engine need a vector. Bytes are passed to the writer in
/// blocks of at least `BLOCK` bytes that end before an element or a key.
pub(super) struct Buffer<const PRETTY: bool, const BLOCK: usize> {
    pub(super) out: Vec<u8>,
    level: usize,
    /// Same as in [`PrettyFormatter`].
    has_value: bool,
}

impl<const PRETTY: bool, const BLOCK: usize> Buffer<PRETTY, BLOCK> {
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self { out, level: 0, has_value: false }
    }

    /// Passes all bytes to the writer. They are removed also after an error: some of them may be written.
    #[cold]
    pub(super) fn flush<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        let result = writer.write_all(&self.out);
        self.out.clear();
        result
    }

    /// Starts an element or an entry.
    #[inline(always)]
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if BLOCK < usize::MAX && self.out.len() >= BLOCK { self.flush(writer) } else { Ok(()) }
    }

    #[inline(always)]
    fn open(&mut self, bracket: u8) -> Result<()> {
        if PRETTY {
            self.level += 1;
            self.has_value = false;
        }
        self.out.push(bracket);
        Ok(())
    }

    #[inline(always)]
    fn close(&mut self, bracket: u8) -> Result<()> {
        if PRETTY {
            self.level -= 1;
            if self.has_value {
                engine::push_line(&mut self.out, self.level);
            }
        }
        self.out.push(bracket);
        Ok(())
    }

    #[inline(always)]
    fn push(&mut self, text: &[u8]) -> Result<()> {
        self.out.extend_from_slice(text);
        Ok(())
    }
}

macro_rules! pushes {
    ($($name:ident($type:ty) => $push:ident;)*) => {
        $(
            #[inline(always)]
            fn $name<W: ?Sized + Write>(&mut self, _writer: &mut W, value: $type) -> Result<()> {
                engine::$push(&mut self.out, value.into());
                Ok(())
            }
        )*
    };
}

macro_rules! pushed {
    ($($name:ident$(($value:ident: $type:ty))? => $method:ident($argument:expr);)*) => {
        $(
            #[inline(always)]
            fn $name<W: ?Sized + Write>(&mut self, _writer: &mut W $(, $value: $type)?) -> Result<()> {
                self.$method($argument)
            }
        )*
    };
}

impl<const PRETTY: bool, const BLOCK: usize> Formatter for Buffer<PRETTY, BLOCK> {
    pushes! {
        write_i8(i8) => push_signed;
        write_i16(i16) => push_signed;
        write_i32(i32) => push_signed;
        write_i64(i64) => push_signed;
        write_u8(u8) => push_unsigned;
        write_u16(u16) => push_unsigned;
        write_u32(u32) => push_unsigned;
        write_u64(u64) => push_unsigned;
        write_f32(f32) => push_f32;
        write_f64(f64) => push_f64;
        __write_str(&str) => push_string;
        __write_str_body(&str) => push_body;
    }

    pushed! {
        write_null => push(b"null");
        write_bool(value: bool) => push(if value { b"true" } else { b"false" });
        write_i128(value: i128) => push(itoa::Buffer::new().format(value).as_bytes());
        write_u128(value: u128) => push(itoa::Buffer::new().format(value).as_bytes());
        write_number_str(text: &str) => push(text.as_bytes());
        write_raw_fragment(text: &str) => push(text.as_bytes());
        begin_string => push(b"\"");
        end_string => push(b"\"");
        begin_array => open(b'[');
        end_array => close(b']');
        begin_object => open(b'{');
        end_object => close(b'}');
        begin_object_value => push(if PRETTY { b": " } else { b":" });
    }

    #[inline(always)]
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.begin(writer)?;
        if !first {
            self.out.push(b',');
        }
        if PRETTY {
            engine::push_line(&mut self.out, self.level);
        }
        Ok(())
    }

    #[inline(always)]
    fn end_array_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> Result<()> {
        if PRETTY {
            self.has_value = true;
        }
        Ok(())
    }

    #[inline(always)]
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.begin_array_value(writer, first)
    }

    #[inline(always)]
    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.end_array_value(writer)
    }

    #[inline(always)]
    fn __write_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool, key: &str) -> Result<()> {
        if PRETTY {
            self.begin_object_key(writer, first)?;
            engine::push_string(&mut self.out, key);
            self.begin_object_value(writer)
        } else {
            self.begin(writer)?;
            engine::push_entry(&mut self.out, !first, key);
            Ok(())
        }
    }
}
