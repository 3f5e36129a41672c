//! Enums: an id, then a model.

use tightwire_parco::schema::{Schema, SchemaContext, fingerprint};
use tightwire_parco::wire::{Be, SmallVarchar, StaticWire, U16, Wire};
use tightwire_parco::{
    Decode, Encode, EncodeAs, Segment, WireExt as _, decode_exact, decode_from_reader, decode_into, to_vec,
};

use super::same;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Animal {
    #[parco(small)]
    specie: String,
    age: u8,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Flat {
    price: f32,
    #[parco(small)]
    address: String,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum Frame {
    #[parco(id = 0)]
    Animal(Animal),
    #[parco(id = 1)]
    Flat(Flat),
}

fn animal(specie: &str, age: u8) -> Animal {
    Animal { specie: specie.into(), age }
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = U16<Be>)]
enum Numbered {
    #[parco(id = 0x102)]
    Number(u8),
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = SmallVarchar)]
enum Named {
    #[parco(id = "animal")]
    Animal(Animal),
    #[parco(id = "animus")]
    Animus,
    #[parco(id = "an")]
    An(u8),
}

#[test]
fn numeric_and_string_ids_round_trip() {
    same(&Numbered::Number(7), &[1, 2, 7]);
    same(&Named::Animal(animal("x", 1)), b"\x06animal\x01x\x01");
    same(&Named::Animus, b"\x06animus");
    same(&Named::An(7), b"\x02an\x07");
    for unknown in [&b"\x06animul"[..], b"\x06anizal", b"\x03ani", b"\x00", b"\x06bnimal"] {
        let error = decode_exact::<Named>(unknown).unwrap_err();
        assert!(error.is_unknown_type());
        assert_eq!(error.offset(), Some(0));
        let error = decode_from_reader::<Named>(unknown).unwrap_err();
        assert!(error.is_unknown_type());
        assert_eq!(error.offset(), Some(0));
    }
    assert!(decode_exact::<Named>(b"\x06anim").unwrap_err().is_unexpected_end());
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = i16, be)]
enum Shapes {
    #[parco(id = -1)]
    Unit,
    #[parco(id = 1, rename = "PAIR")]
    Pair(u16, #[parco(small)] String),
    #[parco(id = 2)]
    Named {
        #[parco(le)]
        number: u16,
        #[parco(ignore)]
        cache: u8,
    },
    #[parco(id = 3)]
    Text(#[parco(header = u8)] Option<String>),
}

#[test]
fn variants_support_all_kinds_of_fields() {
    same(&Shapes::Unit, &[0xff, 0xff]);
    same(&Shapes::Pair(1, "a".into()), &[0, 1, 0, 1, 1, b'a']);
    same(&Shapes::Named { number: 1, cache: 0 }, &[0, 2, 1, 0]);
    same(&Shapes::Text(Some("b".into())), &[0, 3, 1, 1, b'b']);
}

#[test]
fn ids_are_in_the_schema() {
    let schema = <Shapes as EncodeAs>::Wire::NEW.schema(&mut SchemaContext::default());
    let Schema::Named { inner, .. } = schema else { panic!("a type with a name") };
    let Schema::Multi { models, .. } = *inner else { panic!("an enum") };
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["-1", "1", "2", "3"]);
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["Unit", "PAIR", "Named", "Text"]);
    assert_eq!(models[0].schema, Schema::Struct(vec![]));
    assert!(matches!(models[1].schema, Schema::Struct(ref fields) if fields.len() == 2));
    assert!(matches!(models[3].schema, Schema::Option(_)));
}

#[derive(Debug, Encode, Decode)]
struct Frames {
    before: u8,
    #[parco(header = u8)]
    list: Vec<Frame>,
}

#[test]
fn errors_contain_variant_and_offset() {
    let error = decode_exact::<Frames>(&[9, 1, 7, 0]).unwrap_err();
    assert!(error.is_unknown_type());
    assert_eq!(error.offset(), Some(2));
    assert_eq!(error.path(), [Segment::Field("list"), Segment::Index(0)]);
    let error = decode_exact::<Frames>(&[9, 1, 0, 1, b'x']).unwrap_err();
    assert!(error.is_unexpected_end());
    let path = [Segment::Field("list"), Segment::Index(0), Segment::Field("Animal"), Segment::Field("age")];
    assert_eq!(error.path(), path);
    let error = decode_exact::<Shapes>(&[0, 1, 0]).unwrap_err();
    assert_eq!(error.path(), [Segment::Field("PAIR"), Segment::Field("0")]);
    let long = Frames { before: 0, list: vec![Frame::Animal(animal(&"x".repeat(256), 1))] };
    let error = to_vec(&long).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(error.path()[2..], [Segment::Field("Animal"), Segment::Field("specie")]);
}

#[test]
fn decode_into_reuses_the_same_variant() {
    let mut frame = Frame::Animal(animal("a long name that takes memory", 1));
    let Frame::Animal(Animal { specie, .. }) = &frame else { unreachable!() };
    let memory = specie.as_ptr();
    decode_into(&[0, 1, b'x', 2], &mut frame).unwrap();
    assert_eq!(frame, Frame::Animal(animal("x", 2)));
    let Frame::Animal(Animal { specie, .. }) = &frame else { unreachable!() };
    assert_eq!(specie.as_ptr(), memory);
    let flat = Frame::Flat(Flat { price: 1.0, address: "y".into() });
    decode_into(&to_vec(&flat).unwrap(), &mut frame).unwrap();
    assert_eq!(frame, flat);
}

/// Without explicit ids, variants are counted in order of declaration.
#[derive(Debug, PartialEq, Encode, Decode)]
enum Counted {
    Unit,
    Text(String),
    Pair { left: u8, right: Box<Option<Self>> },
}

/// The same messages with ids that do not depend on the order. Discriminants are not used.
#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = varint)]
enum Pinned {
    #[parco(id = 2)]
    Pair { left: u8, right: Box<Option<Self>> },
    #[parco(id = 0)]
    Unit,
    #[parco(id = 1)]
    Text(String),
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(go, id = u16be)]
enum GoCounted {
    Unit = 7,
    Other = 3,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = varint)]
enum Far {
    #[parco(id = 300)]
    Away,
    #[parco(id = 18_446_744_073_709_551_615)]
    Last(u8),
}

#[test]
fn ids_default_to_the_order_of_declaration() {
    same(&Counted::Unit, &[0]);
    same(&Counted::Text("a".into()), &[1, 1, b'a']);
    same(&Counted::Pair { left: 7, right: Box::new(Some(Counted::Unit)) }, &[2, 7, 1, 0]);
    same(&Pinned::Pair { left: 7, right: Box::new(Some(Pinned::Unit)) }, &[2, 7, 1, 0]);
    assert_eq!(fingerprint::<Counted>(), fingerprint::<Pinned>());
    same(&GoCounted::Other, &[0, 1]);
    same(&Far::Away, &[0xac, 2]);
    same(&Far::Last(1), &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1]);
    for (bytes, offset) in [(&[0, 3][..], 1), (&[0, 0x80, 1], 1)] {
        for error in [
            decode_exact::<(bool, Counted)>(bytes).unwrap_err(),
            decode_from_reader::<(bool, Counted)>(bytes).unwrap_err(),
        ] {
            assert!(error.is_unknown_type());
            assert_eq!(error.offset(), Some(offset));
        }
    }
    assert!(decode_exact::<Far>(&[0xac, 0x82, 0]).unwrap_err().is_invalid_value());
}

/// The length before an evolve enum lets readers skip variants that they do not know.
#[test]
fn unknown_variants_are_skipped() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(evolve)]
    enum Old {
        Ping,
        Text(String),
        #[parco(other)]
        Unknown,
    }
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(evolve)]
    enum New {
        Ping,
        Text(String),
        Pair { one: u16, list: Vec<u8> },
    }
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(evolve, id = small)]
    enum Named {
        #[parco(id = "one")]
        One { number: u8 },
        #[parco(other)]
        Unknown,
    }
    let old = vec![Old::Text("a".into()), Old::Ping];
    same(&old, &[2, 3, 1, 1, b'a', 1, 0]);
    let new = vec![New::Pair { one: 1, list: vec![7; 200] }, New::Text("a".into()), New::Ping];
    let bytes = to_vec(&new).unwrap();
    let expected = vec![Old::Unknown, Old::Text("a".into()), Old::Ping];
    assert_eq!(decode_exact::<Vec<Old>>(&bytes).unwrap(), expected);
    assert_eq!(decode_from_reader::<Vec<Old>>(&bytes[..]).unwrap(), expected);
    let mut existing = vec![Old::Ping, Old::Unknown, Old::Text("b".into())];
    decode_into(&bytes, &mut existing).unwrap();
    assert_eq!(existing, expected);
    assert_eq!(decode_exact::<Vec<New>>(&to_vec(&old).unwrap()).unwrap().len(), 2);

    // The reader does not know what it skipped, so it cannot be encoded again.
    assert!(to_vec(&Old::Unknown).unwrap_err().is_unknown_type());
    assert!(tightwire_parco::encoded_len(&Old::Unknown).unwrap_err().is_unknown_type());
    same(&Named::One { number: 7 }, &[5, 3, b'o', b'n', b'e', 7]);
    assert_eq!(
        decode_exact::<[Named; 2]>(&[4, 3, b't', b'w', b'o', 5, 3, b'o', b'n', b'e', 7]).unwrap()[0],
        Named::Unknown
    );
    // A length that ends inside of a known variant is malformed.
    assert!(decode_exact::<Old>(&[2, 1, 3]).unwrap_err().is_invalid_value());

    let schema = tightwire_parco::schema::of::<Old>();
    assert_eq!(schema.canonical(), "evolve(multi(varint 1:0,4:Ping=() 1:1,4:Text=bytes(varint)))");
    let dynamic = schema.compile().unwrap();
    let value: tightwire_parco::schema::Value = dynamic.decode_exact(&[3, 1, 1, b'a']).unwrap();
    assert_eq!(dynamic.to_vec(&value).unwrap(), [3, 1, 1, b'a']);
    let comparison = tightwire_parco::schema::compare(&schema, &tightwire_parco::schema::of::<New>());
    assert!(comparison.new_reads_old() && !comparison.breaks());
}
