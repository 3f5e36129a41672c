//! The object model: [`Value`] and the types inside it.

pub(crate) mod ascii;
mod compare;
mod date_time;
mod debug;
mod decimal;
mod deep_drop;
mod members;
pub(crate) mod object;
mod primitive;
mod progress;
mod ps_string;
mod secure;
mod time_span;
mod version;

use std::ops::Index;

pub use date_time::{DateTime, DateTimeKind};
pub use decimal::Decimal;
pub use members::Members;
pub use object::{Base, ContainerKind, Cycle, Object, ObjectBuilder, TypeNames};
pub use progress::Progress;
pub use ps_string::PsString;
pub use secure::SecureString;
pub use time_span::TimeSpan;
use uuid::Uuid;
pub use version::Version;

/// Any value of the remoting protocol, with one variant per CLIXML element (MS-PSRP 2.2.5). Numbers in parentheses are
/// sections of MS-PSRP.
///
/// Cloning is cheap except for [`Bytes`](Self::Bytes) and long strings: objects are shared, not copied.
///
/// Equality compares content: two objects are equal if all their parts are, even if one document shares an object that
/// the other contains twice. Floating-point numbers are compared by their bits, so that every value equals itself.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Value {
    /// `$null`, `<Nil />` (2.2.5.1.20).
    #[default]
    Nil,
    /// `System.Boolean`, `<B>` (2.2.5.1.3).
    Bool(bool),
    /// `System.Char`, `<C>` (2.2.5.1.2): one UTF-16 code unit, which may be a lone surrogate.
    Char(u16),
    /// `System.SByte`, `<SB>` (2.2.5.1.7).
    SByte(i8),
    /// `System.Byte`, `<By>` (2.2.5.1.6).
    Byte(u8),
    /// `System.Int16`, `<I16>` (2.2.5.1.9).
    Int16(i16),
    /// `System.UInt16`, `<U16>` (2.2.5.1.8).
    UInt16(u16),
    /// `System.Int32`, `<I32>` (2.2.5.1.11).
    Int32(i32),
    /// `System.UInt32`, `<U32>` (2.2.5.1.10).
    UInt32(u32),
    /// `System.Int64`, `<I64>` (2.2.5.1.13).
    Int64(i64),
    /// `System.UInt64`, `<U64>` (2.2.5.1.12).
    UInt64(u64),
    /// `System.Single`, `<Sg>` (2.2.5.1.14).
    Single(f32),
    /// `System.Double`, `<Db>` (2.2.5.1.15).
    Double(f64),
    /// `System.Decimal`, `<D>` (2.2.5.1.16).
    Decimal(Decimal),
    /// `System.String`, `<S>` (2.2.5.1.1).
    String(PsString),
    /// `System.Uri`, `<URI>` (2.2.5.1.19). Relative URIs are allowed; nothing is normalized.
    Uri(PsString),
    /// `System.Xml.XmlDocument`, `<XD>` (2.2.5.1.22), as text.
    Xml(PsString),
    /// `System.Management.Automation.ScriptBlock`, `<SBK>` (2.2.5.1.23), as text.
    ScriptBlock(PsString),
    /// `System.Guid`, `<G>` (2.2.5.1.18).
    Guid(Uuid),
    /// `System.Version`, `<Version>` (2.2.5.1.21).
    Version(Version),
    /// `System.DateTime`, `<DT>` (2.2.5.1.4).
    DateTime(DateTime),
    /// `System.TimeSpan`, `<TS>` (2.2.5.1.5).
    TimeSpan(TimeSpan),
    /// `System.Byte[]`, `<BA>` (2.2.5.1.17).
    Bytes(Box<[u8]>),
    /// `System.Security.SecureString`, `<SS>` (2.2.5.1.24).
    SecureString(SecureString),
    /// A progress record inside another value, `<PR>` (2.2.5.1.25).
    Progress(Box<Progress>),
    /// Everything else, `<Obj>` (2.2.5.2): objects with members, containers, enumerations, and primitives with members.
    Object(Object),
    /// A reference to an enclosing object (2.2.5.2.1).
    Cycle(Cycle),
    /// A named set of members inside the extended members of an object, `<MS N="..">`.
    MemberSet(Box<Members>),
}

impl Value {
    /// Returns whether this is `$null`.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// Heap bytes of a primitive. Objects, cycles and member sets are charged where they are created.
    #[inline]
    pub(crate) fn heap_size(&self) -> usize {
        match self {
            Self::String(text) | Self::Uri(text) | Self::Xml(text) | Self::ScriptBlock(text) => {
                text.heap_size()
            }
            Self::Bytes(bytes) => bytes.len(),
            Self::SecureString(secret) => secret.heap_size(),
            Self::Progress(record) => {
                let operation = record.current_operation.as_ref().map_or(0, PsString::heap_size);
                size_of::<Progress>()
                    + record.activity.heap_size()
                    + record.status_description.heap_size()
                    + operation
            }
            _ => 0,
        }
    }

    /// Returns the object, also behind a [`Cycle`].
    pub fn as_object(&self) -> Option<Object> {
        match self {
            Self::Object(object) => Some(object.clone()),
            Self::Cycle(cycle) => cycle.upgrade(),
            _ => None,
        }
    }

    /// Returns the wrapped value if this is an object that wraps one (the number of an enumeration, or a primitive with
    /// members), else the value itself.
    pub fn base(&self) -> &Self {
        let mut value = self;
        while let Self::Object(object) = value
            && let Base::Value(inner) = object.base()
        {
            value = inner;
        }
        value
    }

    /// Returns a member or dictionary entry by name, see [`Object::get`].
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(object) => object.get(name),
            Self::MemberSet(members) => members.get(name),
            _ => None,
        }
    }

    /// Returns the items of a list, enumerable, queue or stack.
    pub fn items(&self) -> Option<&[Self]> {
        let Self::Object(object) = self.base() else { return None };
        match object.base() {
            Base::List(_, items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a dictionary in document order.
    pub fn entries(&self) -> Option<&[(Self, Self)]> {
        let Self::Object(object) = self.base() else { return None };
        match object.base() {
            Base::Dictionary(entries) => Some(entries),
            _ => None,
        }
    }
}

/// Returns the member or dictionary entry like [`Value::get`], or [`Value::Nil`] if there is none.
///
/// ```
/// use psrp::{Object, Value};
///
/// let table = Value::from(Object::dictionary([("Name", Value::from("sshd")), ("Ports", Object::list([22]).into())]));
/// assert_eq!(table["name"], "sshd");
/// assert_eq!(table["Ports"].items().unwrap()[0].as_i32(), Some(22));
/// assert!(table["User"]["Name"].is_nil());
/// ```
impl Index<&str> for Value {
    type Output = Self;

    fn index(&self, name: &str) -> &Self {
        static NIL: Value = Value::Nil;
        self.get(name).unwrap_or(&NIL)
    }
}
