//! Type names of what is made from Rust types, each list made once.

use std::cell::RefCell;
use std::sync::LazyLock;

use crate::value::TypeNames;

/// What separates a type from its base in the name of a struct.
const SEPARATOR: &str = " : ";

const OBJECT: &str = "System.Object";

pub(in crate::serde) fn custom() -> TypeNames {
    static NAMES: LazyLock<TypeNames> =
        LazyLock::new(|| TypeNames::new(["System.Management.Automation.PSCustomObject", OBJECT]));
    NAMES.clone()
}

pub(in crate::serde) fn hashtable() -> TypeNames {
    static NAMES: LazyLock<TypeNames> =
        LazyLock::new(|| TypeNames::new(["System.Collections.Hashtable", OBJECT]));
    NAMES.clone()
}

pub(in crate::serde) fn list() -> TypeNames {
    static NAMES: LazyLock<TypeNames> =
        LazyLock::new(|| TypeNames::new(["System.Collections.ArrayList", OBJECT]));
    NAMES.clone()
}

/// Whether the name of a struct is that of a .NET type.
pub(super) fn is_given(name: &str) -> bool {
    name.contains('.')
}

/// The lists of structs that name a .NET type, so that all values of a struct share one.
#[derive(Default)]
pub(super) struct Names(RefCell<Vec<(&'static str, TypeNames)>>);

impl Names {
    /// The type names of a struct of this name: those in it if it has a dot, else those of a custom object.
    pub(super) fn of(&self, name: &'static str) -> TypeNames {
        if !is_given(name) {
            return custom();
        }
        let mut known = self.0.borrow_mut();
        if let Some((_, names)) = known.iter().find(|(own, _)| *own == name) {
            return names.clone();
        }
        let root = (name != OBJECT && !name.ends_with(" : System.Object")).then_some(OBJECT);
        let names = TypeNames::new(name.split(SEPARATOR).map(str::trim).chain(root));
        known.push((name, names.clone()));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_added_unless_it_is_there() {
        let names = Names::default();
        let list = |name| names.of(name).as_slice().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(list("A.B : C.D"), ["A.B", "C.D", "System.Object"]);
        assert_eq!(list("A.B : System.Object"), ["A.B", "System.Object"]);
        assert_eq!(list("System.Object"), ["System.Object"]);
        assert_eq!(list("Plain")[0], "System.Management.Automation.PSCustomObject");
        assert!(names.of("A.B : C.D").ptr_eq(&names.of("A.B : C.D")));
    }
}
