//! Generic structs, and recursive structs.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{StaticWire, Wire};
use tightwire_parco::{Decode, Encode, EncodeAs, decode_exact, to_vec};

use super::same;

#[derive(Debug, PartialEq, Encode, Decode)]
struct Pair<A, B> {
    one: A,
    #[parco(header = u8)]
    more: Vec<B>,
}

#[test]
fn type_parameters_are_supported() {
    let pair = Pair { one: 1u8, more: vec!["a".to_owned()] };
    let bytes = [1, 1, 1, b'a'];
    same(&pair, &bytes);
    let borrowed: Pair<u8, &str> = decode_exact(&bytes).unwrap();
    assert_eq!(borrowed.more, ["a"]);
    same(&Pair { one: pair, more: vec![2u8] }, &[1, 1, 1, b'a', 1, 2]);
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Nested<T: PartialEq, const N: usize>
where
    T: Default,
{
    #[parco(header = u8, elem(elem(be)))]
    rows: Vec<[u16; N]>,
    #[parco(inner(header = u8, value(header = u8)))]
    map: Option<HashMap<u8, Vec<T>, BuildHasherDefault<std::hash::DefaultHasher>>>,
    #[parco(ignore)]
    unused: T,
}

#[test]
fn const_parameters_and_bounds_are_supported() {
    let map = HashMap::from_iter([(3, vec![4u16])]);
    let nested = Nested { rows: vec![[1, 2]], map: Some(map), unused: 0 };
    same(&nested, &[1, 0, 1, 0, 2, 1, 1, 3, 1, 4, 0]);
}

trait Family {
    type Member;
}

#[derive(Debug, PartialEq)]
enum Bytes {}

impl Family for Bytes {
    type Member = u8;
}

#[derive(Encode, Decode)]
struct Projected<F: Family> {
    members: Vec<F::Member>,
    #[parco(ignore)]
    family: std::marker::PhantomData<F>,
}

#[test]
fn bounds_apply_to_field_types_only() {
    let bytes = to_vec(&Projected::<Bytes> { members: vec![1, 2], family: Default::default() }).unwrap();
    assert_eq!(bytes, [2, 1, 2]);
    assert_eq!(decode_exact::<Projected<Bytes>>(&bytes).unwrap().members, [1, 2]);
}

#[derive(Debug, Default, PartialEq, Encode, Decode)]
struct List {
    value: u8,
    next: Option<Box<Self>>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Tree<T> {
    value: T,
    #[parco(header = u8)]
    children: Vec<Self>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum Expression {
    #[parco(id = 0)]
    Number(i32),
    #[parco(id = 1)]
    Minus(Box<Self>),
    #[parco(id = 2)]
    Plus(Box<Self>, Box<Self>),
}

#[test]
fn recursive_structs_round_trip() {
    let list = List { value: 1, next: Some(Box::new(List { value: 2, next: None })) };
    same(&list, &[1, 1, 2, 0]);
    let leaf = |value| Tree { value, children: vec![] };
    same(&Tree { value: 1u8, children: vec![leaf(2), leaf(3)] }, &[1, 2, 2, 0, 3, 0]);
    let number = |number| Box::new(Expression::Number(number));
    let sum = Expression::Plus(number(1), Box::new(Expression::Minus(number(2))));
    same(&sum, &[2, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0]);
}

#[test]
fn recursive_schema_is_finite() {
    let schema = <List as EncodeAs>::Wire::NEW.schema(&mut SchemaContext::default());
    let Schema::Named { inner, .. } = schema else { panic!("a type with a name") };
    let Schema::Struct(fields) = *inner else { panic!("a struct") };
    assert_eq!(fields[1], ("next".to_owned(), Schema::Option(Box::new(Schema::Recursive(1)))));
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Unit;

#[derive(Debug, PartialEq, Encode, Decode)]
struct Tuple(u8, #[parco(small)] String, Unit);

#[test]
fn tuple_and_unit_structs_round_trip() {
    assert!(to_vec(&Unit).unwrap().is_empty());
    same(&Tuple(1, "a".into(), Unit), &[1, 1, b'a']);
}
