//! Views: the same bytes, borrowed from the input.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tightwire_parco::{Decode, DecodeAs, Encode, Timestamp, decode_exact, to_vec};

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(view)]
struct Pet {
    #[parco(small)]
    specie: String,
    age: u8,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8, view)]
enum Event {
    #[parco(id = 0)]
    Pet(Pet),
    #[parco(id = 1)]
    Named {
        #[parco(small)]
        name: String,
        #[parco(ignore)]
        cache: u8,
    },
    #[parco(id = 2)]
    Closed,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8, view)]
enum Kind {
    #[parco(id = 7)]
    Only,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(be, view)]
struct Everything<'a, const N: usize> {
    number: u16,
    flags: [bool; N],
    text: String,
    borrowed: &'a str,
    #[parco(blob)]
    bytes: Vec<u8>,
    #[parco(header = u8, elem(small))]
    names: Vec<String>,
    #[parco(header = u8, elem(header = u8))]
    rows: Vec<Vec<u16>>,
    #[parco(key(small), value(le))]
    map: BTreeMap<String, u32>,
    #[parco(sorted)]
    sorted: HashMap<u8, Pet>,
    pet: Arc<Pet>,
    maybe: Option<Box<Pet>>,
    #[parco(header = u8)]
    events: Vec<Event>,
    #[parco(skip = 2)]
    reserved: (),
    #[parco(time)]
    at: i64,
    #[parco(ignore)]
    cache: Option<HashMap<u8, u8>>,
    kind: Kind,
    #[parco(default_on_eof, rename = "Later")]
    later: Option<i64>,
}

fn pet() -> Pet {
    Pet { specie: "cat".into(), age: 3 }
}

fn everything() -> Everything<'static, 2> {
    Everything {
        number: 1,
        flags: [true, false],
        text: "text".into(),
        borrowed: "borrowed",
        bytes: vec![2, 3],
        names: vec!["a".into(), "b".into()],
        rows: vec![vec![4], vec![5, 6]],
        map: BTreeMap::from([("c".into(), 7)]),
        sorted: HashMap::from([(8, pet())]),
        pet: Arc::new(pet()),
        maybe: Some(Box::new(pet())),
        events: vec![Event::Pet(pet()), Event::Named { name: "d".into(), cache: 0 }, Event::Closed],
        reserved: (),
        at: 9,
        cache: None,
        kind: Kind::Only,
        later: Some(10),
    }
}

#[test]
fn everything_stays_in_the_input() {
    let bytes = to_vec(&everything()).unwrap();
    let view: EverythingView<'_, 2> = decode_exact(&bytes).unwrap();
    let pet = PetView { specie: "cat", age: 3 };
    assert_eq!((view.number, view.flags, view.text, view.borrowed), (1, [true, false], "text", "borrowed"));
    assert_eq!(view.bytes, [2, 3]);
    assert_eq!(view.names.iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(view.rows.iter().flatten().collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!(view.map.get(&"c"), Some(7));
    assert_eq!(view.sorted.get(&8), Some(pet));
    assert_eq!((view.pet, view.maybe), (pet, Some(pet)));
    let events: Vec<EventView<'_>> = view.events.into_iter().collect();
    assert_eq!(events, [EventView::Pet(pet), EventView::Named { name: "d" }, EventView::Closed]);
    assert_eq!(view.at, Timestamp::from_nanos(9));
    assert_eq!((view.kind, view.later), (KindView::Only, Some(10)));
    assert!(bytes.as_ptr_range().contains(&view.pet.specie.as_ptr()));
}

#[test]
fn views_and_types_reject_the_same_input() {
    fn outcome<'de, T: DecodeAs<'de>>(bytes: &'de [u8]) -> Option<(Option<usize>, String)> {
        decode_exact::<T>(bytes).err().map(|error| (error.offset(), error.to_string()))
    }
    let bytes = to_vec(&everything()).unwrap();
    for end in 0..bytes.len() {
        let cut = &bytes[..end];
        assert_eq!(outcome::<EverythingView<'_, 2>>(cut), outcome::<Everything<'_, 2>>(cut), "{end}");
    }
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0xff;
        assert_eq!(outcome::<EverythingView<'_, 2>>(&bytes), outcome::<Everything<'_, 2>>(&bytes), "{at}");
    }
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(view)]
struct Tree {
    value: u8,
    #[parco(header = u8)]
    children: Vec<Self>,
}

#[test]
fn tree_view_is_traversed_without_allocation() {
    fn sum(tree: TreeView<'_>) -> u8 {
        tree.value + tree.children.iter().map(sum).sum::<u8>()
    }
    let leaf = |value| Tree { value, children: vec![] };
    let bytes = to_vec(&Tree { value: 1, children: vec![leaf(2), leaf(3)] }).unwrap();
    assert_eq!(sum(decode_exact(&bytes).unwrap()), 6);
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(view)]
struct Tuple(#[parco(ignore)] u8, #[parco(small)] String, u8);

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(view)]
struct Unit;

#[test]
fn tuple_and_unit_structs_round_trip() {
    let bytes = to_vec(&Tuple(0, "a".into(), 2)).unwrap();
    assert_eq!(decode_exact::<TupleView<'_>>(&bytes).unwrap(), TupleView("a", 2));
    assert_eq!(
        decode_exact::<TupleView<'_>>(&bytes[..1]).unwrap_err().path(),
        [tightwire_parco::Segment::Field("1")]
    );
    let bytes = to_vec(&Unit).unwrap();
    assert_eq!(decode_exact::<UnitView>(&bytes).unwrap(), UnitView);
}
