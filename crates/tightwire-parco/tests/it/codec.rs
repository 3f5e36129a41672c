//! Messages on asynchronous streams.
#![cfg(all(feature = "codec", feature = "derive"))]

use std::io;

use bytes::{BufMut, BytesMut};
use futures_util::{SinkExt, StreamExt as _};
use tightwire_parco::schema::Fingerprint;
use tightwire_parco::{FrameCodec, Limits, Options, StreamCodec, to_vec};
use tokio_util::codec::length_delimited::{Builder, LengthDelimitedCodec};
use tokio_util::codec::{Decoder, Encoder, Framed, FramedRead};

use crate::support::messages::Inner;

fn inner(text: &str) -> Inner {
    Inner { number: 7, text: text.into(), flag: true }
}

fn error_of(error: &io::Error) -> &tightwire_parco::Error {
    error.get_ref().unwrap().downcast_ref().unwrap()
}

#[test]
fn incomplete_messages_are_not_consumed() {
    let mut codec = StreamCodec::<Vec<String>>::new();
    let bytes = to_vec(&vec!["one", "two"]).unwrap();
    let mut buffer = BytesMut::new();
    for byte in &bytes[..bytes.len() - 1] {
        buffer.put_u8(*byte);
        let before = buffer.clone();
        assert!(codec.decode(&mut buffer).unwrap().is_none());
        assert_eq!(buffer, before);
    }
    buffer.put_u8(b'o');
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), ["one", "two"]);
}

/// The codec does not look at the buffer again before the missing bytes have arrived, even if the bytes so far are
/// already malformed.
#[test]
fn decoding_waits_for_the_missing_bytes() {
    let mut codec = StreamCodec::<Vec<bool>>::new();
    let mut buffer = BytesMut::from(&[4][..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    buffer.extend_from_slice(&[1, 9, 1]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    buffer.put_u8(0);
    let error = codec.decode(&mut buffer).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error_of(&error).is_invalid_bool());
    assert_eq!(error_of(&error).offset(), Some(2));
}

#[test]
fn buffer_grows_for_missing_bytes_in_limited_steps() {
    let mut codec = StreamCodec::<String>::new();
    let mut buffer = BytesMut::from(&[0x90, 0x4e][..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    assert!(buffer.capacity() >= 10_002);

    let mut codec = StreamCodec::<Wide>::new();
    let mut buffer = BytesMut::from(&(100_u32 << 20).to_be_bytes()[..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    assert!(buffer.capacity() <= 1 << 20, "{}", buffer.capacity());
}

#[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
struct Wide {
    #[parco(header = u32be)]
    text: String,
}

/// Counts near the end of the address space do not overflow the number of required bytes.
#[test]
fn huge_counts_fail_at_the_limit() {
    #[derive(Debug, tightwire_parco::Encode, tightwire_parco::Decode)]
    struct Absurd {
        #[parco(header = u64)]
        numbers: Vec<u64>,
    }
    for allocation in [1 << 30, usize::MAX - 1] {
        let limits = Limits::default().max_elements(usize::MAX).max_allocation(allocation);
        let mut codec = StreamCodec::<Absurd>::with_options(Options::new().limits(limits));
        let mut buffer = BytesMut::from(&(u64::MAX / 2).to_le_bytes()[..]);
        let error = codec.decode(&mut buffer).unwrap_err();
        assert!(error_of(&error).is_limit());
    }
}

#[test]
fn end_of_stream_inside_a_message_is_an_error() {
    let bytes = to_vec(&inner("hey")).unwrap();
    for len in 1..bytes.len() {
        let mut codec = StreamCodec::<Inner>::new();
        let mut buffer = BytesMut::from(&bytes[..len]);
        assert!(codec.decode(&mut buffer).unwrap().is_none());
        let error = codec.decode_eof(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error_of(&error).is_unexpected_end());
    }
    // Several complete messages may still be buffered.
    let mut codec = StreamCodec::<Inner>::new();
    let mut buffer = BytesMut::from(&[bytes.as_slice(), &bytes].concat()[..]);
    assert!(codec.decode_eof(&mut buffer).unwrap().is_some());
    assert!(codec.decode_eof(&mut buffer).unwrap().is_some());
    assert!(codec.decode_eof(&mut buffer).unwrap().is_none());
}

/// At the end of the buffer the message may continue; only the end of the stream ends it.
#[test]
fn optional_trailing_fields_wait_for_the_end_of_the_stream() {
    #[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
    struct Late {
        first: u8,
        #[parco(default_on_eof)]
        added: u16,
    }
    let mut codec = StreamCodec::<Late>::new();
    let mut buffer = BytesMut::new();
    for byte in [1, 2] {
        buffer.put_u8(byte);
        assert!(codec.decode(&mut buffer).unwrap().is_none());
    }
    buffer.extend_from_slice(&[3, 4]);
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some(Late { first: 1, added: 0x0302 }));
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    assert_eq!(codec.decode_eof(&mut buffer).unwrap(), Some(Late { first: 4, added: 0 }));
    assert_eq!(codec.decode_eof(&mut buffer).unwrap(), None);
}

/// A stream of frames continues after a bad frame, and after the `None` that tokio-util returns after an error.
#[tokio::test]
async fn stream_of_frames_continues_after_a_bad_frame() {
    let bytes = b"\x04\x03he\xff\x04\x03hey";
    let frames = LengthDelimitedCodec::builder().length_field_type::<u8>().new_codec();
    let mut stream = FramedRead::new(&bytes[..], FrameCodec::<String>::new(frames));
    assert!(error_of(&stream.next().await.unwrap().unwrap_err()).is_invalid_utf8());
    assert!(stream.next().await.is_none());
    assert_eq!(stream.next().await.unwrap().unwrap(), "hey");
    assert!(stream.next().await.is_none());
}

#[test]
fn incomplete_message_is_buffered_up_to_the_limit() {
    let options = Options::new().limits(Limits::default().max_allocation(100));
    let mut codec = StreamCodec::<String>::with_options(options);
    let mut buffer = BytesMut::from(&[99][..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    let mut codec = StreamCodec::<String>::with_options(options);
    let mut buffer = BytesMut::from(&[100][..]);
    assert!(error_of(&codec.decode(&mut buffer).unwrap_err()).is_limit());
}

#[test]
fn failed_encoding_leaves_the_buffer_unchanged() {
    let mut buffer = BytesMut::from("before");
    let long = inner(&"x".repeat(65_536));
    let error = StreamCodec::<Inner>::new().encode(&long, &mut buffer).unwrap_err();
    assert!(error_of(&error).is_overflow());
    assert_eq!(&buffer[..], b"before");
    let error = FrameCodec::<Inner>::new(LengthDelimitedCodec::new()).encode(long, &mut buffer).unwrap_err();
    assert!(error_of(&error).is_overflow());
    assert_eq!(&buffer[..], b"before");
}

/// Lengths of one, two and four bytes in both orders, and their bytes for a frame of four bytes.
fn frames() -> Vec<(Builder, Vec<u8>)> {
    let mut all = Vec::new();
    for (width, little) in [(1, true), (2, true), (2, false), (4, true), (4, false)] {
        let mut builder = LengthDelimitedCodec::builder();
        builder.length_field_length(width);
        let mut head = vec![0; width];
        if little {
            builder.little_endian();
            head[0] = 4;
        } else {
            builder.big_endian();
            head[width - 1] = 4;
        }
        all.push((builder, head));
    }
    all
}

#[test]
fn frames_with_every_kind_of_length_round_trip() {
    for (builder, head) in frames() {
        let mut codec = FrameCodec::<String>::new(builder.new_codec());
        let mut buffer = BytesMut::new();
        codec.encode("hey".to_owned(), &mut buffer).unwrap();
        codec.encode(&"you".to_owned(), &mut buffer).unwrap();
        let expected = [&head[..], b"\x03hey", &head, b"\x03you"].concat();
        assert_eq!(&buffer[..], &expected);
        let mut partly = BytesMut::new();
        let mut found = Vec::new();
        for byte in expected {
            partly.put_u8(byte);
            found.extend(codec.decode(&mut partly).unwrap());
        }
        assert_eq!(found, ["hey", "you"]);
    }
}

/// A bad frame is consumed when it is reported, and the next one can be decoded.
#[test]
fn bad_frame_is_skipped() {
    type Predicate = fn(&tightwire_parco::Error) -> bool;
    let bodies: [(&[u8], Predicate); 4] = [
        (b"\x03he\xff", tightwire_parco::Error::is_invalid_utf8),
        (b"\x04hey", tightwire_parco::Error::is_unexpected_end),
        (b"\x02hey", tightwire_parco::Error::is_trailing_bytes),
        (b"\0\0\0\0", tightwire_parco::Error::is_trailing_bytes),
    ];
    for (builder, head) in frames() {
        let mut codec = FrameCodec::<String>::new(builder.new_codec());
        for (body, is_expected) in bodies {
            let mut buffer = BytesMut::from(&[&head[..], body, &head, b"\x03hey"].concat()[..]);
            let error = codec.decode(&mut buffer).unwrap_err();
            assert!(is_expected(error_of(&error)), "{error}");
            assert_eq!(codec.decode(&mut buffer).unwrap().as_deref(), Some("hey"));
            assert!(codec.decode_eof(&mut buffer).unwrap().is_none());
        }
    }
}

/// A message that is too long for the length field of a frame is rejected, not truncated.
#[test]
fn messages_too_long_for_the_frame_length_are_rejected() {
    let frames = LengthDelimitedCodec::builder().length_field_type::<u8>().new_codec();
    let mut codec = FrameCodec::<String>::new(frames);
    let mut buffer = BytesMut::new();
    codec.encode("x".repeat(253), &mut buffer).unwrap();
    assert_eq!(buffer.len(), 256);
    let error = codec.encode("x".repeat(254), &mut buffer).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(buffer.len(), 256);
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().len(), 253);

    let frames = LengthDelimitedCodec::builder().max_frame_length(10).new_codec();
    let mut codec = FrameCodec::<String>::new(frames);
    let mut buffer = BytesMut::from(&[0, 0, 0, 11][..]);
    assert_eq!(codec.decode(&mut buffer).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

/// Sends messages in both directions over a pipe that is smaller than a message.
async fn exchange<C>(codec: impl Fn() -> C)
where
    C: Decoder<Item = Inner, Error = io::Error> + for<'a> Encoder<&'a Inner, Error = io::Error>,
{
    let (left, right) = tokio::io::duplex(7);
    let mut left = Framed::new(left, codec());
    let mut right = Framed::new(right, codec());
    let messages = [inner("hey"), inner(&"x".repeat(300)), inner("")];
    let ask = async {
        for message in &messages {
            left.send(message).await.unwrap();
        }
        SinkExt::<&Inner>::flush(&mut left).await.unwrap();
        left.next().await.unwrap().unwrap()
    };
    let reply = async {
        let mut found = Vec::new();
        while found.len() < messages.len() {
            found.push(right.next().await.unwrap().unwrap());
        }
        right.send(&found[1]).await.unwrap();
        found
    };
    let (answer, found) = tokio::join!(ask, reply);
    assert_eq!((&found[..], answer), (&messages[..], messages[1].clone()));
    SinkExt::<&Inner>::close(&mut left).await.unwrap();
    drop(left);
    assert!(right.next().await.is_none());
}

#[tokio::test]
async fn codecs_exchange_messages_over_a_pipe() {
    exchange(StreamCodec::<Inner>::new).await;
    let frames = || LengthDelimitedCodec::builder().length_field_type::<u16>().little_endian().new_codec();
    exchange(|| FrameCodec::<Inner>::new(frames())).await;
}

#[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
#[parco(evolve)]
struct Growing {
    first: u8,
    #[parco(default_on_eof)]
    added: u16,
}

/// The length tells whether fields are missing, so the message is complete before the stream ends.
#[test]
fn evolve_structs_do_not_wait_for_the_end_of_the_stream() {
    let mut codec = StreamCodec::<Growing>::new();
    let mut buffer = BytesMut::new();
    let mut found = Vec::new();
    // Versions with one, two and three fields, and a malformed one in between.
    for byte in [1, 1, 3, 2, 7, 0, 5, 3, 8, 0, 0xaa, 0xbb] {
        buffer.put_u8(byte);
        found.extend(codec.decode(&mut buffer).unwrap());
    }
    let expected = [(1, 0), (2, 7), (3, 8)].map(|(first, added)| Growing { first, added });
    assert_eq!(found, expected);
    // More input cannot complete a field that the struct ends in.
    buffer.extend_from_slice(&[2, 1, 1, 1, 1]);
    let error = codec.decode(&mut buffer).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error_of(&error).is_invalid_value());
}

#[test]
fn frames_start_with_the_fingerprint() {
    let frames = || LengthDelimitedCodec::builder().length_field_type::<u8>().new_codec();
    let fingerprint = Fingerprint::from(0x0807_0605_0403_0201);
    let mut codec = FrameCodec::<String>::new(frames()).with_fingerprint(fingerprint);
    let mut buffer = BytesMut::new();
    codec.encode("hey".to_owned(), &mut buffer).unwrap();
    assert_eq!(&buffer[..], b"\x0c\x01\x02\x03\x04\x05\x06\x07\x08\x03hey");
    let good = buffer.clone();
    assert_eq!(codec.decode(&mut buffer).unwrap().as_deref(), Some("hey"));

    type Predicate = fn(&tightwire_parco::Error) -> bool;
    let bad: [(&[u8], Predicate); 4] = [
        // Another schema, a truncated fingerprint, and malformed messages with the right one.
        (b"\x09\x01\x02\x03\x04\x05\x06\x07\x09\x00", tightwire_parco::Error::is_schema_mismatch),
        (b"\x07\x01\x02\x03\x04\x05\x06\x07", tightwire_parco::Error::is_unexpected_end),
        (b"\x0a\x01\x02\x03\x04\x05\x06\x07\x08\x01\xff", tightwire_parco::Error::is_invalid_utf8),
        (b"\x08\x01\x02\x03\x04\x05\x06\x07\x08", tightwire_parco::Error::is_unexpected_end),
    ];
    for (frame, is_expected) in bad {
        let mut buffer = BytesMut::from(&[frame, &good].concat()[..]);
        let error = codec.decode(&mut buffer).unwrap_err();
        assert!(is_expected(error_of(&error)), "{error}");
        // The next frame is decoded.
        assert_eq!(codec.decode(&mut buffer).unwrap().as_deref(), Some("hey"));
    }
}

#[test]
fn streams_start_with_the_fingerprint() {
    let fingerprint = Fingerprint::from(0x0807_0605_0403_0201);
    let codec = || StreamCodec::<String>::new().with_fingerprint(fingerprint);
    let mut writer = codec();
    let mut buffer = BytesMut::new();
    // A message that fails writes no fingerprint.
    let shallow = Options::new().limits(Limits::default().max_depth(0));
    let mut failing = StreamCodec::<Growing>::with_options(shallow).with_fingerprint(fingerprint);
    assert!(error_of(&failing.encode(Growing { first: 1, added: 2 }, &mut buffer).unwrap_err()).is_limit());
    assert!(buffer.is_empty());
    writer.encode("a".to_owned(), &mut buffer).unwrap();
    writer.encode("b".to_owned(), &mut buffer).unwrap();
    assert_eq!(&buffer[..], b"\x01\x02\x03\x04\x05\x06\x07\x08\x01a\x01b");

    // The blocking types have the same format.
    let mut encoder = tightwire_parco::Encoder::new(Vec::new()).with_fingerprint(fingerprint);
    encoder.encode("a").unwrap();
    encoder.encode("b").unwrap();
    assert_eq!(encoder.into_inner(), &buffer[..]);
    let mut decoder = tightwire_parco::Decoder::new(&buffer[..]).with_fingerprint(fingerprint);
    assert_eq!(decoder.decode::<&str>().unwrap(), Some("a"));
    assert_eq!(decoder.decode::<&str>().unwrap(), Some("b"));
    assert_eq!(decoder.decode::<&str>().unwrap(), None);

    let mut reader = codec();
    let mut partly = BytesMut::new();
    let mut found = Vec::new();
    for byte in &buffer {
        partly.put_u8(*byte);
        found.extend(reader.decode(&mut partly).unwrap());
    }
    assert_eq!(found, ["a", "b"]);

    // Each prefix of the fingerprint is truncated, except for the empty stream.
    for len in 0..8 {
        let mut prefix = BytesMut::from(&buffer[..len]);
        let streamed =
            tightwire_parco::Decoder::new(&buffer[..len]).with_fingerprint(fingerprint).decode::<String>();
        let result = codec().decode_eof(&mut prefix);
        if len == 0 {
            assert!(result.unwrap().is_none() && streamed.unwrap().is_none());
        } else {
            assert!(error_of(&result.unwrap_err()).is_unexpected_end());
            assert!(streamed.unwrap_err().is_unexpected_end());
        }
    }
    let other = Fingerprint::from(1);
    let error = codec().with_fingerprint(other).decode(&mut buffer.clone()).unwrap_err();
    assert!(error_of(&error).is_schema_mismatch() && !error_of(&error).is_invalid_value());
    let mut decoder = tightwire_parco::Decoder::new(&buffer[..]).with_fingerprint(other);
    let error = decoder.decode::<String>().unwrap_err();
    assert_eq!(error.to_string(), "the fingerprint is that of another schema (byte 0)");
}
