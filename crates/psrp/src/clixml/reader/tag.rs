//! The elements of CLIXML.

use crate::value::ContainerKind;

/// What an element of this name is, outside of progress records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Primitive(Primitive),
    Progress,
    Object,
    Reference,
    TypeNames,
    TypeNamesReference,
    ToString,
    Adapted,
    Extended,
    Items(ContainerKind),
    Dictionary,
    Entry,
    Document,
    Unknown,
}

/// The primitive types (MS-PSRP 2.2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    Nil,
    String,
    Char,
    Bool,
    DateTime,
    TimeSpan,
    Byte,
    SByte,
    UInt16,
    Int16,
    UInt32,
    Int32,
    UInt64,
    Int64,
    Single,
    Double,
    Decimal,
    Bytes,
    Guid,
    Uri,
    Version,
    Xml,
    ScriptBlock,
    SecureString,
    SemanticVersion,
}

impl Tag {
    /// Names are compared as they stand: one with a prefix is unknown, whatever namespace it means.
    pub(super) fn of(name: &str) -> Self {
        use Primitive::*;

        let primitive = match name {
            "S" => String,
            "I32" => Int32,
            "B" => Bool,
            "Nil" => Nil,
            "Obj" => return Self::Object,
            "Ref" => return Self::Reference,
            "TN" => return Self::TypeNames,
            "TNRef" => return Self::TypeNamesReference,
            "ToString" => return Self::ToString,
            "Props" => return Self::Adapted,
            "MS" => return Self::Extended,
            "LST" => return Self::Items(ContainerKind::List),
            "IE" => return Self::Items(ContainerKind::Enumerable),
            "QUE" => return Self::Items(ContainerKind::Queue),
            "STK" => return Self::Items(ContainerKind::Stack),
            "DCT" => return Self::Dictionary,
            "En" => return Self::Entry,
            "PR" => return Self::Progress,
            "Objs" => return Self::Document,
            "C" => Char,
            "DT" => DateTime,
            "TS" => TimeSpan,
            "By" => Byte,
            "SB" => SByte,
            "U16" => UInt16,
            "I16" => Int16,
            "U32" => UInt32,
            "U64" => UInt64,
            "I64" => Int64,
            "Sg" => Single,
            "Db" => Double,
            "D" => Decimal,
            "BA" => Bytes,
            "G" => Guid,
            "URI" => Uri,
            "Version" => Version,
            "XD" => Xml,
            "SBK" => ScriptBlock,
            "SS" => SecureString,
            "SemanticVersion" => SemanticVersion,
            _ => return Self::Unknown,
        };
        Self::Primitive(primitive)
    }
}
