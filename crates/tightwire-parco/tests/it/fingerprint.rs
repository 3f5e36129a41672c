//! The canonical text of a schema, and its hash.

use tightwire_parco::schema::{Number, Schema, Variant};
use tightwire_parco::wire::Endian;

fn byte() -> Schema {
    Schema::Number(Number::Uint8, Endian::Little)
}

fn structure(fields: Vec<Schema>) -> Schema {
    let name = |index| format!("f{index}");
    Schema::Struct(fields.into_iter().enumerate().map(|(index, field)| (name(index), field)).collect())
}

#[test]
fn equal_encodings_have_equal_canonical_texts() {
    let header = || Box::new(byte());
    let counting = || Box::new(Schema::Header(Number::Uint8, Endian::Little));
    for (one, other) in [
        (Schema::String { header: header() }, Schema::Blob { header: counting() }),
        (Schema::Number(Number::Int, Endian::Big), Schema::Number(Number::Int64, Endian::Big)),
        (
            structure([byte(), structure([byte(), Schema::Skip(0)].into()), structure(Vec::new())].into()),
            structure([byte(), byte()].into()),
        ),
    ] {
        assert_eq!(one.canonical(), other.canonical());
        assert_eq!(one.fingerprint(), other.fingerprint());
    }
}

#[test]
fn references_count_only_recursive_types() {
    let list = structure([byte(), Schema::Option(Box::new(Schema::Recursive(1)))].into());
    assert_eq!(list.canonical(), "@(u8 option(^1))");
    // The struct in between is not recursive, so it is not counted.
    let inner = structure([Schema::Option(Box::new(Schema::Recursive(2)))].into());
    let outer = structure([inner, list.clone()].into());
    assert_eq!(outer.canonical(), "@(option(^1) @(u8 option(^1)))");
    let inner = structure([list, Schema::Option(Box::new(Schema::Recursive(2)))].into());
    assert_eq!(structure([inner].into()).canonical(), "@(@(u8 option(^1)) option(^1))");
}

#[test]
fn ids_are_sorted_and_delimited() {
    let multi = Schema::Multi {
        header: Box::new(Schema::String { header: Box::new(byte()) }),
        models: [("b c", "", structure([byte()].into())), ("a", "New", Schema::Bool)]
            .map(|(id, name, schema)| Variant { id: id.into(), name: name.into(), schema })
            .into(),
    };
    assert_eq!(multi.canonical(), "multi(bytes(u8) 1:a,3:New=bool 3:b c=(u8))");
}

#[test]
fn hash_is_fnv_1a() {
    assert_eq!(Schema::Bool.canonical(), "bool");
    assert_eq!(Schema::Bool.fingerprint().get(), 0xcd2f_d49b_c6b0_14bd);
}
