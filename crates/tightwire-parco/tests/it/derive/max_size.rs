//! The maximum encoded size: that of the largest value.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Bound;
use std::time::{Duration, SystemTime};

use tightwire_parco::{Decode, Encode, MaxSize, decode_exact, encode_to_slice, encoded_len, to_vec};

/// Checks that this value, which the type allows, has the maximum size.
#[track_caller]
fn largest<T: MaxSize>(value: &T) {
    assert_eq!(encoded_len(value).unwrap(), T::MAX_SIZE);
    assert_eq!(to_vec(value).unwrap().len(), T::MAX_SIZE);
}

/// Checks that the last of these values has the maximum size, and that the others are smaller.
#[track_caller]
fn last_is_largest<T: MaxSize, const N: usize>(values: [T; N]) {
    let lens = values.each_ref().map(|value| encoded_len(value).unwrap());
    assert_eq!(lens.last(), Some(&T::MAX_SIZE));
    assert!(lens.is_sorted() && lens[N - 2] < T::MAX_SIZE, "{lens:?}");
}

#[test]
fn types_of_the_standard_library() {
    largest(&(u8::MAX, 'a', f64::MAX));
    largest(&[1_u16, 2, 3, 4]);
    largest(&Some(i128::MIN));
    largest(&Err::<u8, u32>(1));
    largest(&Bound::Excluded(1_u16));
    largest(&Duration::MAX);
    largest(&SystemTime::UNIX_EPOCH);
    largest(&IpAddr::from([0_u16; 8]));
    largest(&Box::new(()));
    assert_eq!(<(u8, char)>::MAX_SIZE, 5);
}

#[derive(Encode, MaxSize)]
struct Fields {
    number: u32,
    #[parco(inner(max = 127))]
    short: Option<String>,
    #[parco(max = 128)]
    long: &'static str,
    #[parco(small, elem(small))]
    names: Vec<String>,
    #[parco(header = u16be, elem(be))]
    numbers: Vec<u16>,
    #[parco(max = 2, key(max = 3), value(header = u8))]
    map: BTreeMap<String, Vec<u8>>,
    #[parco(ignore)]
    _cache: Vec<String>,
    nested: Pair<Framed>,
}

#[derive(Clone, Encode, MaxSize)]
struct Pair<T>(T, T);

#[derive(Clone, Encode, MaxSize)]
#[parco(evolve)]
struct Framed {
    #[parco(max = 300, blob)]
    bytes: Vec<u8>,
}

#[test]
fn fields_have_maxima() {
    let sized = Framed { bytes: vec![1; 300] };
    assert_eq!(Framed::MAX_SIZE, 2 + 2 + 300);
    largest(&sized);
    largest(&Fields {
        number: 1,
        short: Some("x".repeat(127)),
        long: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\
               0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        names: vec!["x".repeat(255); 255],
        numbers: vec![7; 65_535],
        map: ["abc", "def"].map(|key| (key.to_owned(), vec![1; 255])).into(),
        _cache: Vec::new(),
        nested: Pair(sized.clone(), sized),
    });
}

#[derive(Encode, MaxSize)]
enum Command {
    Stop,
    Move { x: i32, y: i32 },
    Say(#[parco(max = 100)] String),
}

#[derive(Encode, Decode, MaxSize)]
#[parco(id = small, evolve)]
enum Named {
    #[parco(id = "a")]
    Number(u8),
    #[parco(id = "text")]
    Letter(char),
    #[parco(other)]
    Other,
}

#[derive(Encode, MaxSize)]
#[parco(id = u16)]
enum Far {
    #[parco(id = 500)]
    Number(u8),
    #[parco(id = 1)]
    Nothing,
}

#[derive(Encode, MaxSize)]
enum Wide {
    #[parco(id = 1)]
    Number(u8),
    #[parco(id = 16_384)]
    Nothing,
}

/// A type that is encoded as another one has the maximum of that one.
#[derive(Clone, Encode, MaxSize)]
#[parco(into = Pair<u32>)]
struct Point(u32);

impl From<Point> for Pair<u32> {
    fn from(Point(number): Point) -> Self {
        Self(number, number)
    }
}

#[test]
fn enums_have_the_maximum_of_their_variants() {
    last_is_largest([Command::Stop, Command::Move { x: 1, y: 2 }, Command::Say("x".repeat(100))]);
    last_is_largest([Named::Number(1), Named::Letter('a')]);
    assert!(matches!(decode_exact(&[2, 1, b'b']), Ok(Named::Other)));
    last_is_largest([Far::Nothing, Far::Number(1)]);
    // Three bytes of an id are more than one and a number.
    last_is_largest([Wide::Number(1), Wide::Nothing]);
    largest(&Point(7));
}

#[cfg(all(feature = "arrayvec", feature = "heapless"))]
#[test]
fn capacities_are_maxima() {
    #[derive(Encode, MaxSize)]
    struct Fixed {
        text: arrayvec::ArrayString<4>,
        list: heapless::Vec<u16, 130>,
        #[parco(max = 2)]
        less: arrayvec::ArrayVec<u8, 9>,
    }

    let fixed = Fixed {
        text: arrayvec::ArrayString::from("abcd").unwrap(),
        list: heapless::Vec::from_slice(&[1; 130]).unwrap(),
        less: [1, 2].into_iter().collect(),
    };
    largest(&fixed);
    let mut buffer = [0; Fixed::MAX_SIZE];
    assert_eq!(encode_to_slice(&fixed, &mut buffer).unwrap(), 1 + 4 + 2 + 260 + 1 + 2);
}
