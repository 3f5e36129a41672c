//! Equality by content, in time linear in the number of objects even if objects are shared.

use std::collections::HashSet;

use super::object::Content;
use super::{Base, Members, Object, Value};

/// State of one comparison.
///
/// `pairs` holds the pairs of objects that were compared or are being compared; these are assumed to be equal unless a
/// difference turns up elsewhere. This terminates on cycles and avoids repeated work on shared objects.
#[derive(Default)]
struct Comparison {
    pairs: HashSet<(usize, usize)>,
    /// Number of enclosing objects.
    depth: u32,
    /// Pairs too deep for recursion, to be compared at the end.
    deferred: Vec<(Object, Object)>,
}

/// Maximum recursion depth, in objects.
const MAX_RECURSION: u32 = 64;

impl Comparison {
    /// Runs `compare`, then the deferred comparisons.
    fn run(compare: impl FnOnce(&mut Self) -> bool) -> bool {
        let mut comparison = Self::default();
        let mut equal = compare(&mut comparison);
        while equal && let Some((a, b)) = comparison.deferred.pop() {
            equal = comparison.contents(a.content(), b.content());
        }
        equal
    }

    fn values(&mut self, a: &Value, b: &Value) -> bool {
        use Value::*;

        /// Compares two values of one of these variants.
        macro_rules! compare {
            ($($variant:ident)*) => {
                match (a, b) {
                    $(($variant(a), $variant(b)) => return a == b,)*
                    _ => {}
                }
            };
        }

        compare!(Bool Char SByte Byte Int16 UInt16 Int32 UInt32 Int64 UInt64 Decimal String Uri Xml ScriptBlock);
        compare!(Guid Version DateTime TimeSpan Bytes SecureString Progress);
        match (a, b) {
            (Nil, Nil) => true,
            (Single(a), Single(b)) => a.to_bits() == b.to_bits(),
            (Double(a), Double(b)) => a.to_bits() == b.to_bits(),
            (MemberSet(a), MemberSet(b)) => self.members(a, b),
            (Object(a), Object(b)) => self.objects(a, b),
            (Cycle(_), Object(_)) | (Object(_), Cycle(_)) | (Cycle(_), Cycle(_)) => {
                match (a.as_object(), b.as_object()) {
                    (Some(a), Some(b)) => self.objects(&a, &b),
                    (None, None) => true,
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn objects(&mut self, a: &Object, b: &Object) -> bool {
        if a.ptr_eq(b) {
            return true;
        }
        if (a.is_shared() || b.is_shared()) && !self.pairs.insert((a.address(), b.address())) {
            return true;
        }
        if self.depth == MAX_RECURSION {
            self.deferred.push((a.clone(), b.clone()));
            return true;
        }
        self.depth += 1;
        let equal = self.contents(a.content(), b.content());
        self.depth -= 1;
        equal
    }

    fn contents(&mut self, a: &Content, b: &Content) -> bool {
        a.type_names == b.type_names
            && a.to_string == b.to_string
            && self.bases(&a.base, &b.base)
            && self.members(&a.adapted, &b.adapted)
            && self.members(&a.extended, &b.extended)
    }

    fn bases(&mut self, a: &Base, b: &Base) -> bool {
        match (a, b) {
            (Base::None, Base::None) => true,
            (Base::Value(a), Base::Value(b)) => self.values(a, b),
            (Base::List(kind, a), Base::List(other, b)) => {
                kind == other && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.values(a, b))
            }
            (Base::Dictionary(a), Base::Dictionary(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| self.values(&a.0, &b.0) && self.values(&a.1, &b.1))
            }
            _ => false,
        }
    }

    fn members(&mut self, a: &Members, b: &Members) -> bool {
        // Nested sets are compared iteratively: they contain no objects, so `depth` does not count them.
        let mut sets = Vec::new();
        let mut pair = Some((a, b));
        while let Some((a, b)) = pair {
            let equal = a.len() == b.len()
                && a.iter().zip(b.iter()).all(|((name, a), (other, b))| {
                    name == other
                        && match (a, b) {
                            (Value::MemberSet(a), Value::MemberSet(b)) => {
                                sets.push((&**a, &**b));
                                true
                            }
                            _ => self.values(a, b),
                        }
                });
            if !equal {
                return false;
            }
            pair = sets.pop();
        }
        true
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        Comparison::run(|comparison| comparison.values(self, other))
    }
}

/// Compares the content; [`Object::ptr_eq`] compares the identity.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        Comparison::run(|comparison| comparison.objects(self, other))
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        Comparison::run(|comparison| comparison.members(self, other))
    }
}

impl PartialEq for Base {
    fn eq(&self, other: &Self) -> bool {
        Comparison::run(|comparison| comparison.bases(self, other))
    }
}
