//! A JSON tree that preserves the order of keys and duplicate keys, so that duplicates can be rejected.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::super::SchemaError;
use super::super::error::SchemaErrorKind;

#[derive(Clone)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(i64),
    /// Above `i64::MAX`.
    Large(u64),
    /// A float, which no schema or value uses.
    Fraction,
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Tree {
    pub(super) fn parse(text: &str) -> Result<Self, SchemaError> {
        serde_json::from_str(text).map_err(SchemaError::syntax)
    }

    pub(super) fn print(&self) -> String {
        // Cannot fail: all keys are strings and there are no floats.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.map(|(name, tree)| (name.to_string(), tree)).into())
    }

    /// Returns a number if JSON readers can represent it exactly (`is_short`), and its digits as a string otherwise.
    pub(super) fn digits(number: i128, is_short: bool) -> Self {
        match i64::try_from(number) {
            Ok(number) if is_short => Self::Number(number),
            _ => Self::Text(number.to_string()),
        }
    }

    /// Returns the entries of an object. Rejects duplicate keys.
    pub(super) fn into_object(self) -> Result<Vec<(String, Self)>, SchemaError> {
        let Self::Object(members) = self else { return Err(SchemaError::mismatch("expected an object")) };
        let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
            return Err(SchemaError::new(SchemaErrorKind::Duplicate));
        }
        Ok(members)
    }

    /// Returns the entries of an object for lookup by key. Rejects duplicate keys.
    pub(super) fn into_members(self) -> Result<Members, SchemaError> {
        Ok(self.into_object()?.into_iter().collect())
    }
}

/// Entries of an object that are not read yet.
pub(super) type Members = BTreeMap<String, Tree>;

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(i64::try_from(number).map_or(Tree::Large(number), Tree::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
        Ok(Tree::Fraction)
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut trees = Vec::new();
        while let Some(tree) = list.next_element()? {
            trees.push(tree);
        }
        Ok(Tree::List(trees))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = object.next_entry()? {
            members.push(member);
        }
        Ok(Tree::Object(members))
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null | Self::Fraction => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Large(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(trees) => serializer.collect_seq(trees),
            Self::Object(members) => serializer.collect_map(members.iter().map(|(name, tree)| (name, tree))),
        }
    }
}
