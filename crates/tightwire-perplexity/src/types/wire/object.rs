//! Objects with known members: how they are read in one pass and written in a fixed order.
//!
//! serde's derive reads such objects just as fast, but keeps unknown members only with `flatten`, which buffers
//! every member; it refuses `null` where a value is optional on the wire alone; and it writes no setters.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::types::extra::Keep;

/// A JSON object some of whose members are fields. Implemented by [`object!`] alone, and for boxes.
pub(crate) trait Object: Default {
    /// One of the members that are fields.
    type Name: Copy;
    /// What becomes of all other members.
    type Extra: Keep;

    fn name(text: &str) -> Option<Self::Name>;

    /// Reads the value that follows the key `name`.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: Self::Name, map: &mut A) -> Result<(), A::Error>;

    /// Whether the member is written.
    fn has(&self, name: Self::Name) -> bool;

    /// How many fields are written.
    fn count(&self) -> usize;

    /// Writes the fields.
    fn write<W: Sink>(&self, out: &mut W) -> Result<(), W::Error>;

    fn extra(&self) -> &Self::Extra;

    fn extra_mut(&mut self) -> &mut Self::Extra;
}

impl<T: Object> Object for Box<T> {
    type Name = T::Name;
    type Extra = T::Extra;

    fn name(text: &str) -> Option<T::Name> {
        T::name(text)
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, name: T::Name, map: &mut A) -> Result<(), A::Error> {
        T::read(self, name, map)
    }

    fn has(&self, name: T::Name) -> bool {
        T::has(self, name)
    }

    fn count(&self) -> usize {
        T::count(self)
    }

    fn write<W: Sink>(&self, out: &mut W) -> Result<(), W::Error> {
        T::write(self, out)
    }

    fn extra(&self) -> &T::Extra {
        T::extra(self)
    }

    fn extra_mut(&mut self) -> &mut T::Extra {
        T::extra_mut(self)
    }
}

/// Reads the members of an object whose brace, and perhaps whose first members, are passed.
#[inline]
pub(crate) fn read<'de, T: Object, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let mut object = T::default();
    while let Some(name) = map.next_key_seed(NameSeed::<T>(PhantomData))? {
        match name {
            Ok(name) => object.read(name, &mut map)?,
            Err(unknown) => object.extra_mut().keep(unknown, &mut map)?,
        }
    }
    Ok(object)
}

/// Reads a key: a known one, or what [`Keep`] remembers of it.
struct NameSeed<T>(PhantomData<T>);

impl<'de, T: Object> DeserializeSeed<'de> for NameSeed<T> {
    type Value = Result<T::Name, <T::Extra as Keep>::Unknown>;

    #[inline]
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T: Object> Visitor<'_> for NameSeed<T> {
    type Value = Result<T::Name, <T::Extra as Keep>::Unknown>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::name(text).ok_or_else(|| T::Extra::unknown(text)))
    }
}

/// Reads a whole object.
pub(crate) struct ObjectVisitor<T>(PhantomData<T>);

impl<T> ObjectVisitor<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        read(map)
    }
}

/// Takes the members of an object that is being written.
pub(crate) trait Sink {
    type Error;

    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Self::Error>;
}

/// Names known at compile time: the fast path of encoders.
struct Fields<S>(S);

impl<S: SerializeStruct> Sink for Fields<S> {
    type Error = S::Error;

    #[inline(always)]
    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_field(name, value)
    }
}

/// Fields among members that have none.
struct Entries<'a, S, K> {
    map: S,
    extra: &'a K,
}

impl<S: SerializeMap, K: Keep> Sink for Entries<'_, S, K> {
    type Error = S::Error;

    fn put<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        if self.extra.replaces(name) { Ok(()) } else { self.map.serialize_entry(name, value) }
    }
}

/// Writes `object`, with `tag` in front of the members.
#[inline]
pub(crate) fn write<T: Object, S: Serializer>(
    object: &T,
    name: &'static str,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if T::Extra::KEEPS && !object.extra().is_empty() {
        return write_all(object, tag, serializer);
    }
    let len = object.count() + usize::from(tag.is_some());
    let mut out = Fields(serializer.serialize_struct(name, len)?);
    if let Some((name, value)) = tag {
        out.put(name, value)?;
    }
    object.write(&mut out)?;
    out.0.end()
}

/// As [`write`], with the members that are no fields behind those that are.
fn write_all<T: Object, S: Serializer>(
    object: &T,
    tag: Option<(&'static str, &'static str)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let extra = object.extra();
    let mut out = Entries { map: serializer.serialize_map(None)?, extra };
    if let Some((name, value)) = tag {
        out.map.serialize_entry(name, value)?;
    }
    object.write(&mut out)?;
    for (name, value) in extra.members() {
        // An object with two tags is told apart by the first.
        let is_tag = tag.is_some_and(|(tag, _)| tag == name);
        let is_written = is_tag || T::name(name).is_some_and(|known| object.has(known));
        if extra.replaces(name) || !is_written {
            out.map.serialize_entry(name, value)?;
        }
    }
    out.map.end()
}
