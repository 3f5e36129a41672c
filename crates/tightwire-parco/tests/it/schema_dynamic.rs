//! Run-time schemas: rejected values, limits and error paths.

use tightwire_parco::schema::{Dynamic, Schema, Value, of};
use tightwire_parco::wire::adjust::structure;
use tightwire_parco::{DuplicateKeys, Limits, Mode, Options, WireExt as _};

fn small_string() -> Schema {
    Schema::String { header: Box::new(of::<u8>()) }
}

fn slice(element: Schema) -> Schema {
    Schema::Slice { header: Box::new(of::<u32>()), element: Box::new(element) }
}

/// A list of bytes: each is followed by another one or by none.
fn chain() -> Dynamic {
    structure([("byte", of::<u8>()), ("next", Schema::Option(Box::new(Schema::Recursive(1))))])
        .compile()
        .unwrap()
}

fn chain_of(len: usize) -> Value {
    let mut chain = Value::NONE;
    for byte in 0..len {
        chain = Value::some(Value::Struct(vec![(byte as u8).into(), chain]));
    }
    match chain {
        Value::Option(Some(chain)) => *chain,
        _ => unreachable!("the chain has a byte"),
    }
}

#[test]
fn errors_contain_the_path_by_name() {
    let pet = structure([("name", small_string()), ("age", of::<u8>())]);
    let map =
        Schema::Map { header: Box::new(of::<u8>()), key: Box::new(of::<u8>()), value: Box::new(slice(pet)) };
    let wire = structure([("pets", map)]).compile().unwrap();
    let bytes = [1, 7, 2, 0, 0, 0, 1, b'a', 3, 9];
    let error = wire.decode_exact::<Value>(&bytes).unwrap_err();
    assert_eq!(error.to_string(), "the input ends inside a value at .pets[value 0][1].name (byte 10)");
    assert_eq!(error.missing(), Some(9));

    let long = Value::from("x".repeat(256));
    let pets = Value::List(vec![Value::Struct(vec![long, 1u8.into()])]);
    let error = wire.to_vec(&Value::Struct(vec![Value::Map(vec![(7u8.into(), pets)])])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a length does not fit its header: 256 bytes or elements, but at most 255 (set `#[parco(header = varint)]` or a wider integer) at .pets[value 0][0].name (byte 6)"
    );
}

#[test]
fn recursive_values_round_trip_up_to_the_limit() {
    let wire = chain();
    let value = chain_of(64);
    let bytes = wire.to_vec(&value).unwrap();
    assert_eq!(wire.decode_exact::<Value>(&bytes).unwrap(), value);
    assert_eq!(wire.encoded_len(&value).unwrap(), bytes.len());

    let options = Options::new().limits(Limits::default().max_depth(65));
    assert!(wire.to_vec(&chain_of(65)).unwrap_err().is_limit());
    assert!(wire.encoded_len(&chain_of(65)).unwrap_err().is_limit());
    let deeper = wire.to_vec_with(options, &chain_of(65)).unwrap();
    assert_eq!(wire.encoded_len_with(options, &chain_of(65)).unwrap(), deeper.len());
    assert!(wire.decode_exact::<Value>(&deeper).unwrap_err().is_limit());
    assert!(wire.decode_with::<Value>(options, &deeper).is_ok());
}

#[test]
fn nesting_limit_prevents_stack_overflow() {
    let wire = chain();
    let unlimited = Options::new().limits(Limits::default().max_depth(u32::MAX));
    let most = Dynamic::MAX_NESTING / 2;
    let bytes = wire.to_vec_with(unlimited, &chain_of(most)).unwrap();
    assert!(wire.decode_with::<Value>(unlimited, &bytes).is_ok());

    assert!(wire.to_vec_with(unlimited, &chain_of(most + 1)).unwrap_err().is_limit());
    assert!(wire.encoded_len_with(unlimited, &chain_of(most + 1)).unwrap_err().is_limit());
    // A byte and a flag, repeated.
    let endless = [1; 1 << 20];
    assert!(wire.decode_with::<Value>(unlimited, &endless).unwrap_err().is_limit());
    let mut stream = tightwire_parco::Decoder::with_options(&endless[..], unlimited);
    assert!(stream.decode_as::<_, Value>(&wire).unwrap_err().is_limit());
}

#[test]
fn elements_without_bytes_are_limited() {
    for element in [structure([]), Schema::Skip(0), Schema::Array { len: 0, element: Box::new(of::<u64>()) }]
    {
        let wire = slice(element.clone()).compile().unwrap();
        assert!(wire.decode_exact::<Value>(&4096u32.to_le_bytes()).is_ok());
        assert!(wire.decode_exact::<Value>(&4097u32.to_le_bytes()).unwrap_err().is_limit());
        let array = Schema::Array { len: 4097, element: Box::new(element) }.compile().unwrap();
        assert!(array.decode_exact::<Value>(&[]).unwrap_err().is_limit());
    }
    // Each level multiplies the size; the allocation limit ends it.
    let mut schema = Schema::Skip(0);
    for _ in 0..5 {
        schema = Schema::Array { len: 4096, element: Box::new(schema) };
    }
    let options = Options::new().limits(Limits::default().max_allocation(1 << 24));
    assert!(schema.compile().unwrap().decode_with::<Value>(options, &[]).unwrap_err().is_limit());
}

#[test]
fn forged_counts_are_rejected_before_allocation() {
    let wire = slice(of::<u64>()).compile().unwrap();
    let error = wire.decode_exact::<Value>(&10_000_000u32.to_le_bytes()).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!(error.missing(), Some(80_000_000));
    let options = Options::new().limits(Limits::new().max_elements(10_000_000));
    let error = wire.decode_with::<Value>(options, &10_000_001u32.to_le_bytes()).unwrap_err();
    assert!(error.is_limit());
    // Go creates ten million structs from these four bytes and returns no error.
    let pets = slice(structure([("name", small_string()), ("age", of::<u8>())])).compile().unwrap();
    let error = pets.decode_exact::<Value>(&[0x80, 0x96, 0x98, 0x00]).unwrap_err();
    assert!(error.is_unexpected_end());
}

#[test]
fn last_duplicate_key_wins() {
    let (header, key) = (Box::new(of::<u8>()), Box::new(of::<u8>()));
    let wire = Schema::Map { header, key: key.clone(), value: key }.compile().unwrap();
    let bytes = [4, 1, 10, 2, 20, 1, 11, 1, 12];
    let entry = |key: u8, value: u8| (Value::from(key), Value::from(value));
    assert_eq!(wire.decode_exact::<Value>(&bytes).unwrap(), Value::Map(vec![entry(1, 12), entry(2, 20)]));
    let options = Options::new().duplicate_keys(DuplicateKeys::Reject);
    let error = wire.decode_with::<Value>(options, &bytes).unwrap_err();
    assert!(error.is_duplicate_key());
    assert_eq!(error.offset(), Some(5));
    assert_eq!(error.path(), [tightwire_parco::Segment::Key(2)]);
}

#[test]
fn a_header_as_a_value_has_63_bits() {
    let wire = Schema::Header(tightwire_parco::schema::Number::Uint64, tightwire_parco::wire::Endian::Little)
        .compile()
        .unwrap();
    let most = Value::from(i64::MAX);
    assert_eq!(wire.decode_exact::<Value>(&wire.to_vec(&most).unwrap()).unwrap(), most);
    assert!(wire.to_vec(&Value::from(1u64 << 63)).unwrap_err().is_overflow());
    assert!(wire.decode_exact::<Value>(&[0xff; 8]).unwrap_err().is_overflow());
    let lenient = Options::new().mode(Mode::Compat);
    assert_eq!(wire.decode_exact_with::<Value>(lenient, &[0xff; 8]).unwrap(), Value::from(-1i64));
}

#[test]
fn values_of_another_schema_are_rejected() {
    let wire = structure([("a", of::<u8>())]).compile().unwrap();
    for value in [Value::Struct(Vec::new()), Value::Struct(vec![true.into()]), Value::from(1u8)] {
        assert!(wire.to_vec(&value).unwrap_err().is_unknown_type());
        assert!(wire.encoded_len(&value).unwrap_err().is_unknown_type());
    }
}

#[cfg(feature = "derive")]
#[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
#[parco(id = u8)]
enum Expression {
    #[parco(id = 0)]
    Number(i64),
    #[parco(id = 1)]
    Sum { left: Box<Self>, right: Box<Self> },
    #[parco(id = 2)]
    List(Vec<Self>),
}

#[cfg(feature = "derive")]
#[test]
fn recursive_derived_types_have_recursive_schemas() {
    let number = |number| Box::new(Expression::Number(number));
    let sum = Expression::Sum { left: number(1), right: number(-2) };
    let expression = Expression::List(vec![sum, Expression::List(Vec::new())]);
    let bytes = tightwire_parco::to_vec(&expression).unwrap();

    let wire = of::<Expression>().compile().unwrap();
    let value: Value = wire.decode_exact(&bytes).unwrap();
    assert_eq!(wire.to_vec(&value).unwrap(), bytes);
    let Value::Multi { value: list, .. } = value else { panic!("no model") };
    let Value::Multi { id, value: sum } = &list.as_list().unwrap()[0] else { panic!("no model") };
    assert_eq!(**id, Value::from(1u8));
    let right = Value::Multi { id: Box::new(0u8.into()), value: Box::new((-2i64).into()) };
    assert_eq!(sum.as_struct().unwrap()[1], right);
    let canonical = "@multi(u8 1:0,6:Number=i64le 1:1,3:Sum=(^1 ^1) 1:2,4:List=slice(varint ^1))";
    assert_eq!(of::<Expression>().canonical(), canonical);
}
