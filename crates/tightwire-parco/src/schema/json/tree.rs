//! A JSON tree that preserves the order of keys and duplicate keys, so that duplicates can be rejected.

use alloc::collections::{BTreeMap, BTreeSet};
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
    Number(i128),
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
        let is_exact = is_short && i64::try_from(number).is_ok();
        if is_exact { Self::Number(number) } else { Self::Text(number.to_string()) }
    }

    /// Returns the entries of an object. Rejects duplicate keys, and other trees with the error.
    pub(super) fn into_entries(self, other: SchemaError) -> Result<Vec<(String, Self)>, SchemaError> {
        let Self::Object(members) = self else { return Err(other) };
        let mut names = BTreeSet::new();
        if members.iter().all(|(name, _)| names.insert(name)) {
            return Ok(members);
        }
        Err(SchemaError::new(SchemaErrorKind::Duplicate, "duplicate model id or key"))
    }

    /// Returns the entries of an object in a value for lookup by key. Rejects duplicate keys.
    pub(super) fn into_members(self) -> Result<Members, SchemaError> {
        let entries = self.into_entries(SchemaError::mismatch("expected an object"))?;
        Ok(entries.into_iter().collect())
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

/// Methods of the visitor that make a tree from a value.
macro_rules! leaves {
    ($($method:ident($value:ident: $type:ty) => $tree:expr;)*) => {$(
        fn $method<E>(self, $value: $type) -> Result<Tree, E> {
            Ok($tree)
        }
    )*};
}

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    leaves! {
        visit_bool(flag: bool) => Tree::Bool(flag);
        visit_i64(number: i64) => Tree::Number(number.into());
        visit_u64(number: u64) => Tree::Number(number.into());
        visit_f64(_number: f64) => Tree::Fraction;
        visit_str(text: &str) => Tree::text(text);
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
            Self::Number(number) => serializer.serialize_i128(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(trees) => serializer.collect_seq(trees),
            Self::Object(members) => serializer.collect_map(members.iter().map(|(name, tree)| (name, tree))),
        }
    }
}
