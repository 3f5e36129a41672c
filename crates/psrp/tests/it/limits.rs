//! The limits of the table in `lib.rs`: for each one, the default and another value. Input at the limit is accepted,
//! and one beyond it is rejected. Limits of pools are tested in the session tests.

use psrp::clixml::{Limits, ReadOptions, Reader, WriteOptions, Writer};
use psrp::fragment::{Assembler, AssemblerOptions, Fragment, FragmentHeader, Fragmenter};
use psrp::message::{MessageType, Payload};
use psrp::outofproc::{PacketReader, ReaderOptions, Role};
use psrp::record::InformationRecord;
use psrp::{Error, Object, Value};

/// Tests the limit and one beyond it, with the default (`None`) and with a configured limit.
fn edge(default: usize, other: usize, attempt: impl Fn(Option<usize>, usize) -> Result<(), Error>) {
    for (set, limit) in [(None, default), (Some(other), other)] {
        attempt(set, limit).unwrap_or_else(|error| panic!("{limit} is allowed: {error}"));
        let error = attempt(set, limit + 1).unwrap_err();
        assert!(error.is_limit(), "{limit}: {error}");
    }
}

/// Decodes and drops all items.
pub(crate) fn read(xml: &str, limits: Limits) -> Result<(), Error> {
    Reader::with_options(xml.as_bytes(), ReadOptions::new().limits(limits))
        .try_for_each(|item| item.map(drop))
}

/// Header of a start fragment whose total size is `size`.
pub(crate) fn start(size: usize) -> Vec<u8> {
    let fragment = Fragment { object_id: 1, fragment_id: 0, start: true, end: false, blob: (&[][..]).into() };
    let mut bytes = Vec::new();
    fragment.encode(&mut bytes).unwrap();
    let length = u32::try_from(size - FragmentHeader::LEN).unwrap();
    bytes[FragmentHeader::LEN - 4..].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[test]
fn read_documents_are_limited() {
    edge(Limits::DEFAULT_MAX_SIZE, 100, |set, size| {
        let limits = set.map_or(Limits::new(), |size| Limits::new().max_size(size));
        read(&format!("<S>{}</S>", "x".repeat(size - 7)), limits)
    });
    edge(Limits::DEFAULT_MAX_DEPTH, 60, |set, depth| {
        let limits = set.map_or(Limits::new(), |depth| Limits::new().max_depth(depth));
        read(&format!("{}{}", "<Obj>".repeat(depth), "</Obj>".repeat(depth)), limits)
    });
    edge(Limits::DEFAULT_MAX_NODES, 3000, |set, nodes| {
        let limits = set.map_or(Limits::new(), |nodes| Limits::new().max_nodes(nodes));
        read(&"<Nil/>".repeat(nodes), limits.max_size(usize::MAX))
    });
}

#[test]
fn decoded_sizes_are_limited() {
    edge(Limits::DEFAULT_MAX_DECODED_SIZE, 1000, |set, size| {
        let limits = set.map_or(Limits::new(), |size| Limits::new().max_decoded_size(size));
        let text = "x".repeat(size - size_of::<Value>());
        read(&format!("<S>{text}</S>"), limits.max_size(usize::MAX))
    });
}

#[test]
fn written_depth_is_limited() {
    edge(WriteOptions::DEFAULT_MAX_DEPTH, 60, |set, depth| {
        let options = set.map_or(WriteOptions::new(), |depth| WriteOptions::new().max_depth(depth));
        let value = (1..depth).fold(Value::from(1), |inner, _| Object::list([inner]).into());
        Writer::with_options(options).write(&value).map(drop)
    });
}

#[test]
fn copies_of_typed_messages_are_limited() {
    /// Bytes that the record and a member count in addition to the text.
    const MEMBER: usize = 32 + size_of::<InformationRecord>();
    edge(Payload::DEFAULT_MAX_SIZE, 1000, |set, size| {
        let source = "x".repeat(size - MEMBER);
        let record = Object::builder().extended("MessageData", Value::Nil).extended("Source", source);
        let value = Some(Value::from(record.build()));
        match set {
            None => Payload::from_value(MessageType::InformationRecord, value),
            Some(max) => Payload::from_value_within(MessageType::InformationRecord, value, max),
        }
        .map(drop)
    });
}

#[test]
fn sent_fragments_are_limited() {
    let message = vec![7; 100_000];
    for (fragmenter, size) in [
        (Fragmenter::new(), Fragmenter::DEFAULT_FRAGMENT_SIZE),
        (Fragmenter::new().fragment_size(100), 100),
        (Fragmenter::new().fragment_size(0), Fragmenter::MIN_FRAGMENT_SIZE),
    ] {
        let sizes = |mut fragmenter: Fragmenter| {
            let fragments = fragmenter.split(&message);
            fragments.map(|fragment| FragmentHeader::LEN + fragment.blob.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(fragmenter).into_iter().max(), Some(size));
    }
}

#[test]
fn received_messages_are_limited() {
    edge(AssemblerOptions::DEFAULT_MAX_OBJECT_SIZE, 1000, |set, size| {
        let options = set.map_or(AssemblerOptions::new(), |max| AssemblerOptions::new().max_object_size(max));
        // The header alone decides.
        Assembler::with_options(options).next(&mut &start(size)[..]).map(drop)
    });
}

#[test]
fn packet_lines_are_limited() {
    edge(ReaderOptions::DEFAULT_MAX_LINE, 100, |set, length| {
        let options = set.map_or(ReaderOptions::new(), |max| ReaderOptions::new().max_line(max));
        for size in [length, 1000] {
            let mut reader = PacketReader::with_options(Role::Client, options);
            // Not a packet but a banner, which the client skips.
            for chunk in "x".repeat(length).as_bytes().chunks(size) {
                assert_eq!(reader.next(&mut &*chunk)?, None);
            }
        }
        Ok(())
    });
}

#[cfg(feature = "serde")]
#[test]
fn deserialization_is_limited() {
    use psrp::serde::Budget;

    #[derive(serde::Deserialize)]
    struct Nested(#[allow(dead_code, reason = "read for the errors alone")] Vec<Self>);

    edge(usize::try_from(Budget::DEFAULT_MAX_VALUES).unwrap(), 1000, |set, values| {
        let budget = set.map_or(Budget::new(), |max| Budget::new().max_values(max as u64));
        // The list counts as a value.
        let value = Value::from(Object::list(vec![Value::from(1); values - 1]));
        budget.from_value::<Vec<i32>>(&value).map(drop)
    });
    edge(usize::try_from(Budget::DEFAULT_MAX_DEPTH).unwrap(), 10, |set, depth| {
        let budget = set.map_or(Budget::new(), |max| Budget::new().max_depth(u32::try_from(max).unwrap()));
        let value = (1..depth).fold(Object::list::<Value>([]), |inner, _| Object::list([inner]));
        budget.from_value::<Nested>(&value.into()).map(drop)
    });
}
