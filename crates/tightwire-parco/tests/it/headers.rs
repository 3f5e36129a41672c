//! Numbers as lengths, and varints.
#![cfg(feature = "std")]

use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{
    Be, Bincode2, GoInt, GoUint, Header, I8, I16, I32, I64, Le, Postcard, U8, U16, U32, U64, Varint, Wire,
};
use tightwire_parco::{Error, Fault, Get, Input, Levels, Mode, Options, Put, Reader, WireExt as _, Writer};

/// A length as a value.
struct Length<H>(H);

impl<H: Header> Wire for Length<H> {
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        H::length(input).map(|_| ())
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        self.0.schema(context)
    }
}

impl<H: Header> Put<usize> for Length<H> {
    fn put(&self, len: &usize, writer: &mut Writer<'_>) -> Result<(), Fault> {
        H::put_length(*len, writer)
    }

    fn size(&self, len: &usize, _: Levels) -> Result<usize, Fault> {
        Ok(H::width(*len as u64))
    }
}

impl<H: Header> Get<'_, usize> for Length<H> {
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<usize, Fault> {
        H::length(reader)
    }
}

#[test]
fn headers_accept_up_to_their_maximum() {
    fn check<H: Header>() {
        let (wire, max) = (Length(H::NEW), usize::try_from(H::MAX).unwrap());
        let bytes = wire.to_vec(&max).unwrap();
        assert_eq!(bytes.len(), H::width(H::MAX));
        assert_eq!(wire.decode_exact::<usize>(&bytes).unwrap(), max);
        assert_eq!(H::check(max + 1).unwrap_err().to_string(), "a length does not fit its header");
        assert!(wire.to_vec(&(max + 1)).unwrap_err().is_overflow());
    }
    check::<U8>();
    check::<I8>();
    check::<U16<Le>>();
    check::<U16<Be>>();
    check::<I16<Le>>();
    check::<I16<Be>>();
    check::<U32<Le>>();
    check::<U32<Be>>();
    check::<I32<Le>>();
    check::<I32<Be>>();
    check::<U64<Le>>();
    check::<U64<Be>>();
    check::<I64<Le>>();
    check::<I64<Be>>();
    check::<GoInt<Le>>();
    check::<GoUint<Be>>();
    check::<U64<Bincode2<Be>>>();
    check::<U64<Postcard>>();
    check::<Varint>();
}

#[test]
fn negative_lengths_are_rejected() {
    let error = Length(I16::<Be>::default()).decode_exact::<usize>(&[0xff, 0xff]).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(error.offset(), Some(0));
}

/// The table is that of the bits of the number: 0, 1, and all ones, for each width.
#[test]
fn varints_have_one_to_ten_bytes() {
    let decode = |bytes: &[u8], mode| Varint.decode_exact_with::<u64>(Options::new().mode(mode), bytes);
    let fails = |bytes: &[u8], mode, is_expected: fn(&Error) -> bool| {
        let error = decode(bytes, mode).unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert_eq!(error.offset(), Some(0));
    };
    let numbers = (0..64).flat_map(|bits| [(1 << bits) - 1, 1 << bits]).chain([u64::MAX]);
    for number in numbers {
        let mut bytes = Varint.to_vec(&number).unwrap();
        assert_eq!(Varint.encoded_len(&number).unwrap(), bytes.len());
        let bits = (64 - number.leading_zeros()).max(1) as usize;
        assert_eq!(bytes.len(), bits.div_ceil(7));
        assert_eq!(decode(&bytes, Mode::Strict).unwrap(), number);
        for len in 0..bytes.len() {
            fails(&bytes[..len], Mode::Strict, Error::is_unexpected_end);
        }
        if bytes.len() < 10 {
            *bytes.last_mut().unwrap() |= 0x80;
            bytes.push(0);
            fails(&bytes, Mode::Strict, |error| {
                error.to_string().starts_with("a varint is longer than necessary")
            });
            assert_eq!(decode(&bytes, Mode::Compat).unwrap(), number);
        }
    }
    for mode in [Mode::Strict, Mode::Compat] {
        for end in [&[2][..], &[0x81, 0]] {
            fails(&[&[0xff; 9][..], end].concat(), mode, Error::is_overflow);
        }
    }
}
