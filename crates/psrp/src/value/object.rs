//! Objects with type names, members and a base value.

use std::sync::{Arc, LazyLock, OnceLock, Weak};

use super::ps_string::shared_size;
use super::{Members, PsString, Value};

/// An object, `<Obj>` (MS-PSRP 2.2.5.2): type names, text form, base value, adapted and extended members.
///
/// This is a handle to shared, immutable content. Clones are the same object: a document contains the object once and
/// then references to it.
#[derive(Clone)]
pub struct Object(Arc<Content>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) type_names: Option<TypeNames>,
    pub(crate) to_string: Option<PsString>,
    pub(crate) base: Base,
    pub(crate) adapted: Members,
    pub(crate) extended: Members,
}

/// The value that an object wraps in addition to its members.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Base {
    /// None: the object consists of its members.
    #[default]
    None,
    /// A primitive with members (MS-PSRP 2.2.5.2.5), the number of an enumeration (MS-PSRP 2.2.5.2.7), or another
    /// object.
    Value(Value),
    /// A container of items. The top of a stack comes first.
    List(ContainerKind, Vec<Value>),
    /// A dictionary, `<DCT>` (MS-PSRP 2.2.5.2.6.4): key-value pairs in order. Keys are not [`Value::Nil`] and may
    /// repeat.
    Dictionary(Vec<(Value, Value)>),
}

/// The kind of a container (MS-PSRP 2.2.5.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKind {
    /// A list or array, `<LST>` (MS-PSRP 2.2.5.2.6.3).
    List,
    /// Any other enumerable type, `<IE>`.
    Enumerable,
    /// A queue, `<QUE>` (MS-PSRP 2.2.5.2.6.2), head first.
    Queue,
    /// A stack, `<STK>` (MS-PSRP 2.2.5.2.6.1), top first.
    Stack,
}

/// Defines lists of the names of a type and `System.Object`, each created once.
macro_rules! type_names {
    ($($name:ident = $type:literal;)*) => {$(
        pub(crate) static $name: LazyLock<TypeNames> =
            LazyLock::new(|| TypeNames::new([$type, "System.Object"]));
    )*};
}

type_names! {
    LIST = "System.Collections.ArrayList";
    DICTIONARY = "System.Collections.Hashtable";
    CUSTOM = "System.Management.Automation.PSCustomObject";
}

impl Object {
    /// Returns a builder.
    pub fn builder() -> ObjectBuilder {
        ObjectBuilder(Content::default())
    }

    /// Heap bytes of an object without members.
    pub(crate) const SIZE: usize = shared_size(size_of::<Content>());

    pub(crate) fn from_content(content: Content) -> Self {
        Self(Arc::new(content))
    }

    pub(crate) fn content(&self) -> &Content {
        &self.0
    }

    /// Creates a list of the type `System.Collections.ArrayList`.
    pub fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::builder().shared_type_names(LIST.clone()).list(ContainerKind::List, items).build()
    }

    /// Creates a dictionary of the type `System.Collections.Hashtable`.
    pub fn dictionary<K: Into<Value>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::builder().shared_type_names(DICTIONARY.clone()).dictionary(entries).build()
    }

    /// Creates an object of the type `System.Management.Automation.PSCustomObject` with these members.
    pub fn custom<N: Into<PsString>, V: Into<Value>>(members: impl IntoIterator<Item = (N, V)>) -> Self {
        let members = members.into_iter().collect();
        Self::builder().shared_type_names(CUSTOM.clone()).extended_members(members).build()
    }

    /// Creates an enumeration value (MS-PSRP 2.2.5.2.7) from its type, the name of the value, and its number in the
    /// underlying type.
    pub fn enumeration(
        type_name: impl Into<PsString>,
        name: impl Into<PsString>,
        number: impl Into<Value>,
    ) -> Self {
        Self::builder()
            .type_names([
                type_name.into(),
                "System.Enum".into(),
                "System.ValueType".into(),
                "System.Object".into(),
            ])
            .to_string(name)
            .wrap(number)
            .build()
    }

    /// Creates an object that refers to itself: `make` receives a [`Cycle`] to the object that it builds.
    ///
    /// ```
    /// use psrp::{Object, Value};
    ///
    /// let node = Object::new_cyclic(|me| Object::builder().extended("Self", Value::Cycle(me)));
    /// assert!(node.get("Self").unwrap().as_object().unwrap().ptr_eq(&node));
    /// ```
    pub fn new_cyclic(make: impl FnOnce(Cycle) -> ObjectBuilder) -> Self {
        let cycle = Cycle::unset();
        let object = make(cycle.clone()).build();
        cycle.set(&object);
        object
    }

    /// Returns the type names, if there are any. In CLIXML an empty list can't be distinguished from none.
    pub fn type_names(&self) -> Option<&TypeNames> {
        self.0.type_names.as_ref()
    }

    /// Returns whether one of the type names is this one, optionally prefixed with `Deserialized.`.
    pub fn is_a(&self, type_name: &str) -> bool {
        self.0.type_names.as_ref().is_some_and(|names| names.contains(type_name))
    }

    /// Returns the text that the object's `ToString` gave at the sender (MS-PSRP 2.2.5.2.4).
    pub fn to_string_text(&self) -> Option<&PsString> {
        self.0.to_string.as_ref()
    }

    /// Returns the wrapped value.
    pub fn base(&self) -> &Base {
        &self.0.base
    }

    /// Returns the properties of the .NET type, `<Props>` (MS-PSRP 2.2.5.2.8).
    pub fn adapted(&self) -> &Members {
        &self.0.adapted
    }

    /// Returns the note properties and other members added by PowerShell, `<MS>` (MS-PSRP 2.2.5.2.9).
    pub fn extended(&self) -> &Members {
        &self.0.extended
    }

    /// Returns the value of `$object.Name` in PowerShell: the extended member, else the dictionary entry with this
    /// string as its key, else the adapted member. Names are compared case-insensitively (ASCII), but a dictionary key
    /// with exactly this case has priority. If several match, the last one is returned.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let entry =
            || self.entry(|key| key == name).or_else(|| self.entry(|key| key.eq_ignore_ascii_case(name)));
        self.0.extended.get(name).or_else(entry).or_else(|| self.0.adapted.get(name))
    }

    /// Returns the value of the last dictionary entry whose key is a string that satisfies the predicate.
    fn entry(&self, is_key: impl Fn(&PsString) -> bool) -> Option<&Value> {
        let entries = match self.base() {
            Base::Dictionary(entries) => entries,
            Base::Value(inner) => inner.entries()?,
            _ => return None,
        };
        let is_entry = |(key, _): &&(Value, Value)| matches!(key.base(), Value::String(key) if is_key(key));
        entries.iter().rev().find(is_entry).map(|(_, value)| value)
    }

    /// Returns the member with this name, extended before adapted, ignoring the case of ASCII letters.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.0.extended.get(name).or_else(|| self.0.adapted.get(name))
    }

    /// Returns whether both are handles to the same object.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the address of the content: the identity of the object while a handle to it exists.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Returns whether other handles to this object may exist.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1 || Arc::weak_count(&self.0) > 0
    }
}

/// Builds an [`Object`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ObjectBuilder(Content);

impl ObjectBuilder {
    /// Sets the type names, most derived type first.
    pub fn type_names<T: Into<PsString>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.0.type_names = Some(TypeNames::new(names));
        self
    }

    /// Sets type names that are shared with other objects.
    pub fn shared_type_names(mut self, names: TypeNames) -> Self {
        self.0.type_names = Some(names);
        self
    }

    /// Sets the text form, the result of `ToString`.
    pub fn to_string(mut self, text: impl Into<PsString>) -> Self {
        self.0.to_string = Some(text.into());
        self
    }

    /// Wraps a primitive or another object.
    pub fn wrap(mut self, value: impl Into<Value>) -> Self {
        self.0.base = Base::Value(value.into());
        self
    }

    /// Makes the object a container of items. The top of a stack comes first.
    pub fn list<T: Into<Value>>(mut self, kind: ContainerKind, items: impl IntoIterator<Item = T>) -> Self {
        self.0.base = Base::List(kind, items.into_iter().map(Into::into).collect());
        self
    }

    /// Makes the object a dictionary.
    pub fn dictionary<K: Into<Value>, V: Into<Value>>(
        mut self,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into()));
        self.0.base = Base::Dictionary(entries.collect());
        self
    }

    /// Adds an adapted member, a property of the .NET type.
    pub fn adapted(mut self, name: impl Into<PsString>, value: impl Into<Value>) -> Self {
        self.0.adapted.push(name, value);
        self
    }

    /// Adds an extended member, a note property.
    pub fn extended(mut self, name: impl Into<PsString>, value: impl Into<Value>) -> Self {
        self.0.extended.push(name, value);
        self
    }

    /// Sets the extended members.
    pub(crate) fn extended_members(mut self, members: Members) -> Self {
        self.0.extended = members;
        self
    }

    /// Returns the object.
    pub fn build(self) -> Object {
        Object::from_content(self.0)
    }
}

/// A reference to an enclosing object (MS-PSRP 2.2.5.2.1).
///
/// It is weak: in a subtree taken out of its object, [`upgrade`](Self::upgrade) returns `None`.
#[derive(Clone)]
pub struct Cycle(Arc<OnceLock<Weak<Content>>>);

impl Cycle {
    /// Heap bytes of a reference.
    pub(crate) const SIZE: usize = shared_size(size_of::<OnceLock<Weak<Content>>>());

    pub(crate) fn unset() -> Self {
        Self(Arc::new(OnceLock::new()))
    }

    /// Sets the target; only the first call has an effect.
    pub(crate) fn set(&self, object: &Object) {
        let _ = self.0.set(Arc::downgrade(&object.0));
    }

    /// Returns the object, if it still exists.
    pub fn upgrade(&self) -> Option<Object> {
        self.0.get().and_then(Weak::upgrade).map(Object)
    }
}

/// The type names of an object (MS-PSRP 2.2.5.2.3), from the most derived type to `System.Object`. Objects with the
/// same list share it.
///
/// Names are data: no .NET type is ever instantiated by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeNames(Arc<[PsString]>);

impl TypeNames {
    /// Creates a list of names, most derived type first.
    pub fn new<T: Into<PsString>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// Returns the names, most derived type first.
    pub fn as_slice(&self) -> &[PsString] {
        &self.0
    }

    /// Returns the name of the most derived type.
    pub fn first(&self) -> Option<&PsString> {
        self.0.first()
    }

    /// Returns whether one of the names is this one, optionally prefixed with `Deserialized.`, ignoring the case of
    /// ASCII letters.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().filter_map(PsString::as_str).any(|own| {
            let own = own.strip_prefix("Deserialized.").unwrap_or(own);
            own.eq_ignore_ascii_case(name)
        })
    }

    /// Heap bytes of a list, not counting its names.
    pub(crate) const SIZE: usize = shared_size(0);

    /// Returns the address of the list: its identity while a handle to it exists.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns whether both are handles to the same list.
    pub(crate) fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<'a> IntoIterator for &'a TypeNames {
    type Item = &'a PsString;
    type IntoIter = std::slice::Iter<'a, PsString>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
