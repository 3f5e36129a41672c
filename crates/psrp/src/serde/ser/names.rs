//! Type names of serialized Rust types, each list created once.

use std::cell::RefCell;

use crate::value::TypeNames;
use crate::value::object::CUSTOM;

/// Separates a type from its base type in the name of a struct.
const SEPARATOR: &str = " : ";

const OBJECT: &str = "System.Object";

pub(super) fn is_dotnet_type(name: &str) -> bool {
    name.contains('.')
}

/// Type names of structs that represent a .NET type, shared by all values of the struct.
#[derive(Default)]
pub(super) struct TypeNameCache(RefCell<Vec<(&'static str, TypeNames)>>);

impl TypeNameCache {
    /// Returns the type names of a struct: those in its name if it contains a dot, else those of a custom object.
    pub(super) fn of(&self, name: &'static str) -> TypeNames {
        if !is_dotnet_type(name) {
            return CUSTOM.clone();
        }
        let mut cached = self.0.borrow_mut();
        if let Some((_, names)) = cached.iter().find(|(own, _)| *own == name) {
            return names.clone();
        }
        let root = (name != OBJECT && !name.ends_with(" : System.Object")).then_some(OBJECT);
        let names = TypeNames::new(name.split(SEPARATOR).map(str::trim).chain(root));
        cached.push((name, names.clone()));
        names
    }
}
