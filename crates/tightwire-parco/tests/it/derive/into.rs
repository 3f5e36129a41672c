//! Decoding into existing values.

use std::collections::HashMap;

use tightwire_parco::{Decode, Encode, decode_into, to_vec};

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Inner {
    name: String,
    maybe: Option<Box<Self>>,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Outer {
    list: Vec<Inner>,
    map: HashMap<String, u8>,
    array: [String; 1],
    #[parco(ignore)]
    cache: Vec<u8>,
}

fn outer() -> Outer {
    let inner = Inner { name: "name".into(), maybe: Some(Box::default()) };
    let map = HashMap::from([("key".to_owned(), 1)]);
    Outer { list: vec![inner; 2], map, array: ["array".into()], cache: vec![] }
}

#[test]
fn allocations_are_reused() {
    let bytes = to_vec(&outer()).unwrap();
    let mut value = Outer { cache: vec![1], ..outer() };
    value.list[0].name = "a longer name".into();
    let memory = |value: &Outer| {
        let boxed: *const Inner = &**value.list[1].maybe.as_ref().unwrap();
        (value.list.as_ptr(), value.list[0].name.as_ptr(), boxed, value.array[0].as_ptr())
    };
    let before = memory(&value);
    decode_into(&bytes, &mut value).unwrap();
    assert_eq!(value, outer());
    assert_eq!(memory(&value), before);
}

#[test]
fn removed_contents_do_not_remain() {
    let mut value = outer();
    decode_into(&to_vec(&Outer::default()).unwrap(), &mut value).unwrap();
    assert_eq!(value, Outer::default());
}
