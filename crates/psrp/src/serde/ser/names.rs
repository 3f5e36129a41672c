//! Type names of serialized Rust types, each list created once.

use std::cell::RefCell;
use std::sync::LazyLock;

use crate::value::TypeNames;

/// Separates a type from its base type in the name of a struct.
const SEPARATOR: &str = " : ";

const OBJECT: &str = "System.Object";

pub(in crate::serde) static CUSTOM: LazyLock<TypeNames> =
    LazyLock::new(|| TypeNames::new(["System.Management.Automation.PSCustomObject", OBJECT]));
pub(super) static HASHTABLE: LazyLock<TypeNames> =
    LazyLock::new(|| TypeNames::new(["System.Collections.Hashtable", OBJECT]));
pub(super) static LIST: LazyLock<TypeNames> =
    LazyLock::new(|| TypeNames::new(["System.Collections.ArrayList", OBJECT]));

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_type_is_appended_if_missing() {
        let names = TypeNameCache::default();
        let list = |name| names.of(name).as_slice().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(list("A.B : C.D"), ["A.B", "C.D", "System.Object"]);
        assert_eq!(list("A.B : System.Object"), ["A.B", "System.Object"]);
        assert_eq!(list("System.Object"), ["System.Object"]);
        assert_eq!(list("Plain")[0], "System.Management.Automation.PSCustomObject");
        assert!(names.of("A.B : C.D").ptr_eq(&names.of("A.B : C.D")));
    }
}
