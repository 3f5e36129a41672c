//! Random values of every type, for property tests.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRng;
use tightwire_json::{Map, Value};

use super::shape::Shape;
use super::{Extra, Secret};

/// Source of random values.
pub(crate) struct Source {
    rng: TestRng,
    /// Remaining nested values; at zero, lists are empty and options are `None`.
    budget: u32,
}

impl Source {
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.rng.random_range(0..choices.len())]
    }

    fn below(&mut self, end: u32) -> u32 {
        self.rng.random_range(0..end)
    }

    fn spend(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    /// Returns fields that no struct has.
    pub(crate) fn extra(&mut self) -> Extra {
        let mut extra = Extra::default();
        for name in ["x_one", "x_two"].into_iter().take(self.below(3) as usize) {
            extra.insert(name, Value::arbitrary(self));
        }
        extra
    }

    /// Returns an object with an unknown tag.
    pub(crate) fn unknown_object(&mut self, tag: &str) -> Value {
        let mut object = Map::new();
        object.insert(tag.to_owned(), "of_the_future".into());
        object.insert("payload".to_owned(), Value::arbitrary(self));
        Value::Object(object)
    }
}

/// A type with a random value generator and a description.
pub(crate) trait Arbitrary: Sized {
    fn arbitrary(source: &mut Source) -> Self;

    /// Adds the fields and values of the type to the description.
    fn describe(_shape: &mut Shape) {}
}

/// Returns a strategy for all values of a type.
pub(crate) fn any_value<T: Arbitrary + std::fmt::Debug>() -> impl Strategy<Value = T> {
    any_with(T::arbitrary)
}

/// Returns a strategy for the values of a generator.
pub(crate) fn any_with<V: std::fmt::Debug>(generate: fn(&mut Source) -> V) -> impl Strategy<Value = V> {
    Just(()).prop_perturb(move |(), rng| generate(&mut Source { rng, budget: 200 }))
}

impl Arbitrary for bool {
    fn arbitrary(source: &mut Source) -> Self {
        source.below(2) == 1
    }
}

/// Numbers: one of these values.
macro_rules! numbers {
    ($($ty:ty: [$($value:expr),+];)+) => {$(
        impl Arbitrary for $ty {
            fn arbitrary(source: &mut Source) -> Self {
                *source.pick(&[$($value),+])
            }
        }
    )+};
}

numbers! {
    u32: [0, 1, 7, 512, Self::MAX];
    u64: [0, 1, 1_700_000_000, (1 << 53) + 1, Self::MAX];
    i64: [0, 1, -1, 1_700_000_000, Self::MIN, Self::MAX];
    f64: [0.0, 1.0, -0.5, 5e-6, 0.1, 1e300, 5e-324];
}

impl Arbitrary for String {
    fn arbitrary(source: &mut Source) -> Self {
        let texts = ["", "a", "two words", "\"\\/\n\t\u{1}", "<b>&\u{2028}", "caf\u{e9} \u{1f600}", "null"];
        (*source.pick(&texts)).to_owned()
    }

    fn describe(shape: &mut Shape) {
        shape.is_text = true;
    }
}

impl Arbitrary for Secret {
    fn arbitrary(source: &mut Source) -> Self {
        String::arbitrary(source).into()
    }

    fn describe(shape: &mut Shape) {
        shape.is_text = true;
    }
}

/// Never `null`: most types treat it as a missing value.
impl Arbitrary for Value {
    fn arbitrary(source: &mut Source) -> Self {
        let depth = if source.spend() { 6 } else { 4 };
        match source.below(depth) {
            0 => bool::arbitrary(source).into(),
            1 => i64::arbitrary(source).into(),
            2 => f64::arbitrary(source).into(),
            3 => String::arbitrary(source).into(),
            4 => Vec::<Self>::arbitrary(source).into(),
            _ => Self::Object(Map::arbitrary(source)),
        }
    }

    fn describe(shape: &mut Shape) {
        shape.is_untyped = true;
    }
}

impl Arbitrary for Map<String, Value> {
    fn arbitrary(source: &mut Source) -> Self {
        BTreeMap::<String, Value>::arbitrary(source).into_iter().collect()
    }

    fn describe(shape: &mut Shape) {
        shape.is_untyped = true;
    }
}

impl<T: Arbitrary> Arbitrary for Option<T> {
    fn arbitrary(source: &mut Source) -> Self {
        (source.spend() && source.below(3) > 0).then(|| T::arbitrary(source))
    }

    fn describe(shape: &mut Shape) {
        T::describe(shape);
    }
}

impl<T: Arbitrary> Arbitrary for Box<T> {
    fn arbitrary(source: &mut Source) -> Self {
        Self::new(T::arbitrary(source))
    }

    fn describe(shape: &mut Shape) {
        T::describe(shape);
    }
}

impl<T: Arbitrary> Arbitrary for Vec<T> {
    fn arbitrary(source: &mut Source) -> Self {
        let len = if source.spend() { source.below(4) } else { 0 };
        (0..len).map(|_| T::arbitrary(source)).collect()
    }

    fn describe(shape: &mut Shape) {
        T::describe(shape);
    }
}

impl<T: Arbitrary> Arbitrary for BTreeMap<String, T> {
    fn arbitrary(source: &mut Source) -> Self {
        let len = if source.spend() { source.below(4) } else { 0 };
        (0..len).map(|_| (String::arbitrary(source), T::arbitrary(source))).collect()
    }

    fn describe(shape: &mut Shape) {
        T::describe(shape);
    }
}
