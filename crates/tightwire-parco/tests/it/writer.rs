//! Compares the writer with a safe reference: a vector that is extended by slices.
#![cfg(all(feature = "std", feature = "derive"))]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use proptest::prelude::*;
use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{
    Be, F32, F64, GoInt, Header as _, I8, I16, I32, I64, Le, StaticWire, U8, U16, U32, U64, Varint, Wire,
};
use tightwire_parco::{
    Encode, EncodeAs, Error, Fault, Input, Levels, Options, Put, Segment, WireExt as _, Writer,
};

/// Bytes on the stack for a message that is encoded to a new vector.
const STACK: usize = 1024;

/// A wire type that writes what a function writes, and claims this size.
struct Call<F>(usize, F);

impl<F> Wire for Call<F> {
    fn walk<I: Input>(&self, _: &mut I) -> Result<(), Fault> {
        Err(Fault::UNKNOWN_TYPE)
    }

    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::Skip(0)
    }
}

impl<F: Fn(&mut Writer<'_>) -> Result<(), Fault>> Put<()> for Call<F> {
    fn put(&self, (): &(), writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.1(writer)
    }

    fn size(&self, (): &(), _: Levels) -> Result<usize, Fault> {
        Ok(self.0)
    }
}

fn append(vec: &mut Vec<u8>, put: impl Fn(&mut Writer<'_>) -> Result<(), Fault>) -> Result<(), Error> {
    Call(0, put).encode(&(), vec)
}

fn to_slice(slice: &mut [u8], put: impl Fn(&mut Writer<'_>) -> Result<(), Fault>) -> Result<usize, Error> {
    Call(0, put).encode_to_slice(&(), slice)
}

fn to_vec(put: impl Fn(&mut Writer<'_>) -> Result<(), Fault>) -> Vec<u8> {
    Call(0, put).to_vec(&()).unwrap()
}

/// A call of a writer method.
#[derive(Clone, Debug)]
enum Step {
    Array1([u8; 1]),
    Array3([u8; 3]),
    Array8([u8; 8]),
    Array16([u8; 16]),
    Bytes(Vec<u8>),
    Prefixed([u8; 8], usize, Vec<u8>),
    Zeros(usize),
    Reserve(usize),
    /// Numbers of the type with this index, made of these bits.
    Numbers(usize, Vec<u64>),
    /// The length of these steps before them.
    Sized(Group),
}

#[derive(Clone, Debug, Encode)]
#[parco(evolve)]
struct Group {
    #[parco(with = Steps)]
    steps: Vec<Step>,
}

struct Steps;

impl Wire for Steps {
    fn walk<I: Input>(&self, _: &mut I) -> Result<(), Fault> {
        Err(Fault::UNKNOWN_TYPE)
    }

    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::Skip(0)
    }
}

impl StaticWire for Steps {
    const NEW: Self = Self;
}

impl Put<Vec<Step>> for Steps {
    fn put(&self, steps: &Vec<Step>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        write(steps, writer)
    }

    fn size(&self, steps: &Vec<Step>, _: Levels) -> Result<usize, Fault> {
        Ok(reference(steps).len())
    }
}

/// A number type: writes a slice of numbers with the writer and to the reference.
type Kind = (fn(&[u64], &mut Writer<'_>) -> Result<(), Fault>, fn(&[u64], &mut Vec<u8>));

macro_rules! kinds {
    ($($wire:ty: $type:ty = |$bits:ident| $value:expr, $bytes:ident;)*) => {
        [$((
            |all, writer| {
                let values: Vec<$type> = all.iter().map(|$bits| $value).collect();
                <$wire>::NEW.put_all(&values, writer)
            },
            |all, reference| all.iter().for_each(|$bits| reference.extend_from_slice(&<$type>::$bytes($value))),
        )),*]
    };
}

const KINDS: [Kind; 20] = kinds! {
    U8: u8 = |bits| *bits as u8, to_le_bytes;
    I8: i8 = |bits| *bits as i8, to_le_bytes;
    U16<Le>: u16 = |bits| *bits as u16, to_le_bytes;
    U16<Be>: u16 = |bits| *bits as u16, to_be_bytes;
    I16<Le>: i16 = |bits| *bits as i16, to_le_bytes;
    I16<Be>: i16 = |bits| *bits as i16, to_be_bytes;
    U32<Le>: u32 = |bits| *bits as u32, to_le_bytes;
    U32<Be>: u32 = |bits| *bits as u32, to_be_bytes;
    I32<Le>: i32 = |bits| *bits as i32, to_le_bytes;
    I32<Be>: i32 = |bits| *bits as i32, to_be_bytes;
    U64<Le>: u64 = |bits| *bits, to_le_bytes;
    U64<Be>: u64 = |bits| *bits, to_be_bytes;
    I64<Le>: i64 = |bits| *bits as i64, to_le_bytes;
    I64<Be>: i64 = |bits| *bits as i64, to_be_bytes;
    GoInt<Le>: i64 = |bits| *bits as i64, to_le_bytes;
    GoInt<Be>: i64 = |bits| *bits as i64, to_be_bytes;
    F32<Le>: f32 = |bits| f32::from_bits(*bits as u32), to_le_bytes;
    F32<Be>: f32 = |bits| f32::from_bits(*bits as u32), to_be_bytes;
    F64<Le>: f64 = |bits| f64::from_bits(*bits), to_le_bytes;
    F64<Be>: f64 = |bits| f64::from_bits(*bits), to_be_bytes;
};

impl Step {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Array1(bytes) => writer.array(*bytes),
            Self::Array3(bytes) => writer.array(*bytes),
            Self::Array8(bytes) => writer.array(*bytes),
            Self::Array16(bytes) => writer.array(*bytes),
            Self::Bytes(bytes) => writer.bytes(bytes),
            Self::Prefixed(header, width, bytes) => writer.prefixed(*header, *width, bytes),
            Self::Zeros(count) => writer.zeros(*count),
            Self::Reserve(count) => writer.reserve(*count),
            Self::Numbers(kind, bits) => KINDS[*kind].0(bits, writer).expect("numbers have a place"),
            Self::Sized(group) => {
                <Group as EncodeAs>::Wire::NEW.put(group, writer).expect("no step fails");
            }
        }
    }

    fn reference(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Array1(array) => bytes.extend_from_slice(array),
            Self::Array3(array) => bytes.extend_from_slice(array),
            Self::Array8(array) => bytes.extend_from_slice(array),
            Self::Array16(array) => bytes.extend_from_slice(array),
            Self::Bytes(slice) => bytes.extend_from_slice(slice),
            Self::Prefixed(header, width, slice) => {
                bytes.extend_from_slice(&header[..*width]);
                bytes.extend_from_slice(slice);
            }
            Self::Zeros(count) => bytes.resize(bytes.len() + count, 0),
            Self::Reserve(_) => {}
            Self::Numbers(kind, bits) => KINDS[*kind].1(bits, bytes),
            Self::Sized(group) => {
                let inner = reference(&group.steps);
                let (header, width) = (Varint::header(inner.len() as u64), Varint::width(inner.len() as u64));
                bytes.extend_from_slice(&header[..width]);
                bytes.extend(inner);
            }
        }
    }
}

fn reference(steps: &[Step]) -> Vec<u8> {
    let mut bytes = Vec::new();
    steps.iter().for_each(|step| step.reference(&mut bytes));
    bytes
}

fn write(steps: &[Step], writer: &mut Writer<'_>) -> Result<(), Fault> {
    let (start, mut reference) = (writer.written(), Vec::new());
    for step in steps {
        step.write(writer);
        step.reference(&mut reference);
        assert_eq!(writer.written() - start, reference.len());
    }
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    // All lengths with their own branch in the copy of short slices, and longer ones.
    let bytes = || prop_oneof![8 => prop::collection::vec(any::<u8>(), 0..=70), 1 => prop::collection::vec(any::<u8>(), 0..=400)];
    prop_oneof![
        1 => any::<[u8; 1]>().prop_map(Step::Array1),
        1 => any::<[u8; 3]>().prop_map(Step::Array3),
        1 => any::<[u8; 8]>().prop_map(Step::Array8),
        1 => any::<[u8; 16]>().prop_map(Step::Array16),
        3 => bytes().prop_map(Step::Bytes),
        4 => (any::<[u8; 8]>(), 0..=8_usize, bytes())
            .prop_map(|(header, width, bytes)| Step::Prefixed(header, width, bytes)),
        1 => (0..100_usize).prop_map(Step::Zeros),
        1 => (0..300_usize).prop_map(Step::Reserve),
        4 => (0..KINDS.len(), prop::collection::vec(any::<u64>(), 0..=40))
            .prop_map(|(kind, bits)| Step::Numbers(kind, bits)),
    ]
    .prop_recursive(4, 24, 6, |step| prop::collection::vec(step, 0..6).prop_map(sized))
}

fn sized(steps: Vec<Step>) -> Step {
    Step::Sized(Group { steps })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..12)
}

/// Checks that a slice receives the message, or is too small.
fn check_slice(steps: &[Step], expected: &[u8], size: usize) {
    let mut slice = vec![0xaa; size];
    match to_slice(&mut slice, |writer| write(steps, writer)) {
        Ok(written) => assert_eq!(slice[..written], *expected),
        Err(error) => {
            assert!(error.is_buffer_full() && size < expected.len(), "{error}");
            assert_eq!(error.offset(), Some(size));
        }
    }
}

/// Creates a vector with contents and at least this much spare capacity.
fn vector(contents: &[u8], spare: usize) -> Vec<u8> {
    let mut vec = Vec::with_capacity(contents.len() + spare);
    vec.extend_from_slice(contents);
    vec
}

fn contents() -> impl Strategy<Value = (Vec<u8>, usize)> {
    (prop::collection::vec(any::<u8>(), 0..20), prop_oneof![Just(0), 0..600_usize])
}

proptest! {
    #[test]
    fn vector_matches_the_reference(steps in steps(), (before, spare) in contents()) {
        let mut vec = vector(&before, spare);
        append(&mut vec, |writer| write(&steps, writer)).unwrap();
        prop_assert_eq!(vec, [before, reference(&steps)].concat());
    }

    #[test]
    fn new_vector_matches_the_reference(steps in steps(), len in 0..=STACK) {
        let steps = [vec![Step::Zeros(len)], steps].concat();
        prop_assert_eq!(to_vec(|writer| write(&steps, writer)), reference(&steps));
    }

    #[test]
    fn slices_of_any_size_match_the_reference(steps in steps(), share in 0..=24_usize) {
        let expected = reference(&steps);
        // From nothing to more than enough.
        let size = (expected.len() + 20) * share / 24;
        check_slice(&steps, &expected, size);
    }

    /// A fault leaves the vector unchanged and reports the number of bytes written before it.
    #[test]
    fn fault_leaves_the_vector_unchanged(steps in steps(), (before, spare) in contents()) {
        let failing = |writer: &mut Writer<'_>| {
            write(&steps, writer)?;
            let fault = writer.locate(Fault::UNKNOWN_TYPE, Segment::Index(3));
            Err(writer.locate(fault, Segment::Field("list")))
        };
        let check = |error: Error| {
            assert!(error.is_unknown_type());
            assert_eq!(error.offset(), Some(reference(&steps).len()));
            assert_eq!(error.path(), [Segment::Field("list"), Segment::Index(3)]);
        };
        let mut vec = vector(&before, spare);
        check(append(&mut vec, failing).unwrap_err());
        prop_assert_eq!(&vec, &before);
        check(to_slice(&mut [0; 40], failing).err().unwrap());
    }

    #[test]
    fn panic_leaves_the_vector_unchanged(steps in steps(), (before, spare) in contents()) {
        let panicking = |writer: &mut Writer<'_>| {
            write(&steps, writer)?;
            // Like `panic!`, without a message on the terminal.
            resume_unwind(Box::new("from a value"))
        };
        let mut vec = vector(&before, spare);
        catch_unwind(AssertUnwindSafe(|| append(&mut vec, panicking))).unwrap_err();
        prop_assert_eq!(&vec, &before);
        catch_unwind(|| to_slice(&mut [0; 40], panicking).is_ok()).unwrap_err();
        // The vector is still usable.
        append(&mut vec, |writer| write(&steps, writer)).unwrap();
        prop_assert_eq!(vec, [before, reference(&steps)].concat());
    }
}

#[test]
fn every_length_is_copied_with_every_header_width() {
    for len in 0..=70 {
        let bytes: Vec<u8> = (1..=len).collect();
        let steps: Vec<Step> =
            (0..=8).map(|width| Step::Prefixed(*b"headers!", width, bytes.clone())).collect();
        let mut vec = Vec::new();
        append(&mut vec, |writer| write(&steps, writer)).unwrap();
        assert_eq!(vec, reference(&steps), "{len}");
    }
}

/// A new vector starts on the stack and moves to the heap at any point of a message.
#[test]
fn new_vectors_match_the_reference() {
    for len in
        [0, 1, 8, STACK - 60, STACK - 20, STACK - 10, STACK - 9, STACK - 8, STACK - 7, STACK, STACK + 1, 9000]
    {
        let steps = [
            Step::Bytes(vec![1; len]),
            Step::Prefixed([7; 8], 2, b"text".into()),
            Step::Array1(*b"x"),
            Step::Numbers(3, vec![1, 2, 3]),
        ];
        let found = to_vec(|writer| write(&steps, writer));
        assert_eq!(found, reference(&steps), "{len}");
    }
}

#[test]
fn slices_of_every_size_match_the_reference() {
    let steps = [
        Step::Array3(*b"abc"),
        Step::Prefixed([7; 8], 3, b"some text".into()),
        Step::Numbers(3, vec![1, 2, 3]),
        Step::Bytes(vec![9; 20]),
    ];
    let expected = reference(&steps);
    for size in 0..=expected.len() + 10 {
        check_slice(&steps, &expected, size);
    }
}

/// Reserving more than the maximum size of an allocation panics and leaves the vector unchanged.
#[test]
fn reserving_more_than_isize_max_panics() {
    for spare in [0, 64] {
        let mut vec = vector(b"before", spare);
        let asking = |writer: &mut Writer<'_>| {
            writer.array([1; 16]);
            for additional in [usize::MAX, isize::MAX as usize] {
                let asked = catch_unwind(AssertUnwindSafe(|| writer.reserve(additional)));
                assert!(asked.is_err());
            }
            Ok(())
        };
        append(&mut vec, asking).unwrap();
        assert_eq!(vec, [b"before".as_slice(), &[1; 16]].concat());
    }
    let huge = |writer: &mut Writer<'_>| {
        writer.reserve(usize::MAX);
        Ok(())
    };
    assert!(catch_unwind(|| to_slice(&mut [0; 4], huge).is_ok()).is_err());
}

#[test]
fn header_wider_than_eight_bytes_panics() {
    let wide = |writer: &mut Writer<'_>| {
        writer.prefixed([0; 8], 9, &[]);
        Ok(())
    };
    assert!(catch_unwind(|| append(&mut Vec::new(), wide).is_ok()).is_err());
}

mod buffers {
    use bytes::{BufMut, BytesMut};
    use tightwire_parco::Reserve;

    use super::*;

    fn append_to_buf(
        buf: &mut impl Reserve,
        size: usize,
        put: impl Fn(&mut Writer<'_>) -> Result<(), Fault>,
    ) -> Result<(), Error> {
        Call(size, put).encode_to_buf_with(Options::new(), &(), buf)
    }

    proptest! {
        #[test]
        fn growable_buffers_match_the_reference(steps in steps(), (before, spare) in contents()) {
            let expected = [before.clone(), reference(&steps)].concat();
            let mut buffer = BytesMut::with_capacity(before.len() + spare);
            buffer.extend_from_slice(&before);
            append_to_buf(&mut buffer, steps.len(), |writer| write(&steps, writer)).unwrap();
            prop_assert_eq!(&buffer[..], &expected);
            let mut vec = vector(&before, spare);
            append_to_buf(&mut vec, expected.len(), |writer| write(&steps, writer)).unwrap();
            prop_assert_eq!(vec, expected);
        }

        /// A buffer that cannot grow contains the whole message or is unchanged.
        #[test]
        fn fixed_buffers_receive_all_or_nothing(steps in steps(), share in 0..=24_usize, cut in 0..=24_usize) {
            let expected = reference(&steps);
            let size = (expected.len() + 20) * share / 24;
            let put = |writer: &mut Writer<'_>| write(&steps, writer);
            let fits = expected.len() <= size;
            let check = |result: Result<(), Error>| match result {
                Ok(()) => assert!(fits),
                Err(error) => {
                    assert!(!fits && error.is_buffer_full(), "{error}");
                    assert_eq!(error.offset(), Some(size));
                }
            };

            let mut region = vec![0xaa; size];
            let mut slice = &mut region[..];
            check(append_to_buf(&mut slice, expected.len(), put));
            let left = slice.len();
            prop_assert_eq!(left, if fits { size - expected.len() } else { size });
            if fits {
                prop_assert_eq!(&region[..expected.len()], &expected);
            } else {
                // The message was built elsewhere, or over bytes that are not marked as written.
                prop_assert_eq!(left, region.len());
            }

            let mut limited = BytesMut::new().limit(size);
            check(append_to_buf(&mut limited, expected.len(), put));
            prop_assert_eq!(&limited.into_inner()[..], if fits { &expected[..] } else { &[] });

            let (mut one, mut other) = (vec![0; size * cut / 24], vec![0; size - size * cut / 24]);
            let mut chain = one.as_mut_slice().chain_mut(other.as_mut_slice());
            check(append_to_buf(&mut chain, expected.len(), put));
            prop_assert_eq!(chain.remaining_mut(), left);
            if fits {
                let all = [one, other].concat();
                prop_assert_eq!(&all[..expected.len()], &expected);
            }
        }

        #[test]
        fn fault_leaves_the_buffer_unchanged(steps in steps(), (before, spare) in contents()) {
            let mut buffer = BytesMut::with_capacity(before.len() + spare);
            buffer.extend_from_slice(&before);
            let failing = |writer: &mut Writer<'_>| write(&steps, writer).and(Err(Fault::OVERFLOW));
            let error = append_to_buf(&mut buffer, steps.len(), failing).unwrap_err();
            prop_assert!(error.is_overflow());
            prop_assert_eq!(error.offset(), Some(reference(&steps).len()));
            prop_assert_eq!(&buffer[..], &before);
            let panicking =
                |writer: &mut Writer<'_>| write(&steps, writer).and_then(|()| resume_unwind(Box::new(())));
            catch_unwind(AssertUnwindSafe(|| append_to_buf(&mut buffer, steps.len(), panicking))).unwrap_err();
            prop_assert_eq!(&buffer[..], &before);
        }
    }
}

/// Lengths of every width, alone, in a chain and next to each other.
#[test]
fn lengths_of_every_width_are_inserted() {
    for len in [0, 1, 126, 127, 128, 129, 16_381, 16_383, 16_384, 2_097_151, 2_097_152] {
        let mut chain = sized(vec![Step::Zeros(len)]);
        for _ in 0..4 {
            chain = sized(vec![Step::Array1([7]), chain.clone(), sized(Vec::new()), Step::Array3([8; 3])]);
        }
        let pair = sized(vec![chain.clone(), Step::Array8([9; 8]), chain.clone()]);
        let steps = [Step::Array1([1]), chain, pair, Step::Array1([2])];
        let mut vec = vec![5];
        append(&mut vec, |writer| write(&steps, writer)).unwrap();
        assert_eq!(vec, [vec![5], reference(&steps)].concat(), "{len}");
    }
}
