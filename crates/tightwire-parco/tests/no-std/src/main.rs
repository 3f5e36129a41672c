//! A program without std and without an allocator that encodes to an array and decodes from it.
//!
//! It links neither: std would define the panic handler a second time, and `alloc` would require an allocator. It aborts if
//! a check fails.
#![no_std]
#![no_main]

use core::net::Ipv4Addr;
use core::panic::PanicInfo;
use core::time::Duration;

use tightwire_parco::wire::{Le, Str, U16, Varint};
use tightwire_parco::{Decode, Encode, Entries, Limits, Options, Seq, Timestamp, ZonedTimestamp};
use tightwire_parco::{decode, decode_exact, decode_into, encode_to_slice, encoded_len};

unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    abort()
}

/// Unwind tables of `core` refer to it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Message<'a> {
    id: u32,
    #[parco(be)]
    port: u16,
    #[parco(header = u16)]
    name: &'a str,
    body: &'a [u8],
    values: [i16; 3],
    pair: (u8, bool),
    note: Option<&'a str>,
    result: Result<u8, char>,
    address: Ipv4Addr,
    timeout: Duration,
    at: Timestamp,
    zoned: ZonedTimestamp<&'a str>,
    kind: Kind<'a>,
    #[parco(with = Varint)]
    count: u64,
}

#[derive(Debug, PartialEq, Encode, Decode)]
enum Kind<'a> {
    Empty,
    Text { text: &'a str },
    Number(f64),
}

#[derive(Decode)]
struct View<'a> {
    words: Seq<'a, Str<Varint>, &'a str>,
    pairs: Entries<'a, Str<Varint>, U16<Le>, &'a str, u16>,
}

const MESSAGE: Message<'_> = Message {
    id: 7,
    port: 80,
    name: "ana",
    body: &[1; 200],
    values: [1, -1, 300],
    pair: (9, true),
    note: Some("note"),
    result: Err('ü'),
    address: Ipv4Addr::LOCALHOST,
    timeout: Duration::from_millis(1500),
    at: Timestamp::UNIX_EPOCH,
    zoned: ZonedTimestamp { at: Timestamp::UNIX_EPOCH, zone: "Asia/Kolkata" },
    kind: Kind::Text { text: "some text that is longer than the inline copies of the writer: 64 bytes" },
    count: u64::MAX,
};

/// A byte that no write may change.
const GUARD: u8 = 0xa5;

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let mut array = [GUARD; 600];
    let len = encode_to_slice(&MESSAGE, &mut array).unwrap();
    assert_eq!(Ok(len), encoded_len(&MESSAGE).map_err(|_| ()));
    let encoded = array;
    let encoded = &encoded[..len];
    assert!(array[len..].iter().all(|byte| *byte == GUARD));
    assert_eq!(decode_exact::<Message<'_>>(encoded).unwrap(), MESSAGE);

    // Each shorter slice is too small, and nothing is written behind it.
    for size in 0..=len {
        let mut array = [GUARD; 600];
        match encode_to_slice(&MESSAGE, &mut array[..size]) {
            Ok(written) => assert!(size == len && written == len && array[..len] == *encoded),
            Err(error) => assert!(size < len && error.is_buffer_full() && error.offset() == Some(size)),
        }
        assert!(array[size..].iter().all(|byte| *byte == GUARD));
    }

    for size in 0..len {
        let error = decode_exact::<Message<'_>>(&encoded[..size]).unwrap_err();
        assert!(error.is_unexpected_end() && error.path().is_empty());
    }
    let error = decode_exact::<bool>(&[2]).unwrap_err();
    assert!(error.is_invalid_bool() && error.offset() == Some(0));

    let (view, rest) = decode::<View<'_>>(b"\x02\x01a\x02bc\x01\x01k\x07\x00\xff").unwrap();
    assert!(view.words.iter().eq(["a", "bc"]) && view.pairs.get("k") == Some(7) && rest == [0xff]);

    let mut value = [0u32; 2];
    decode_into(&[1, 0, 0, 0, 2, 0, 0, 0], &mut value).unwrap();
    assert_eq!(value, [1, 2]);

    let options = Options::new().limits(Limits::new().max_bytes(3));
    assert!(options.decode_exact::<&str>(b"\x04long").unwrap_err().is_limit());
    for kind in [Kind::Empty, Kind::Number(0.5)] {
        let len = encode_to_slice(&kind, &mut array).unwrap();
        assert_eq!(decode_exact::<Kind<'_>>(&array[..len]).unwrap(), kind);
    }
    0
}
