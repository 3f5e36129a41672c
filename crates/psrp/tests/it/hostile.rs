//! Resources that a malicious peer can consume, layer by layer: the result is an error or bounded memory, in linear
//! time. Time is not asserted; with superlinear growth these tests would not finish.

use std::fmt::Write;

use proptest::prelude::*;
use psrp::clixml::{ConsoleEvent, ConsoleFilter, Limits, ReadOptions, Reader, from_slice, to_vec};
use psrp::fragment::{Assembler, Fragment, FragmentHeader};
use psrp::message::{MessageType, Payload};
use psrp::outofproc::{PacketReader, ReaderOptions, Role};
use psrp::{Error, Object, Value};
use test_support::counting::usage;

use crate::limits::start;
use crate::support::values::any_value;

/// Decodes a document like in a message, and checks that memory is bounded by a multiple of its size.
fn read(xml: &str) -> Result<Value, Error> {
    let (usage, decoded) = usage(|| from_slice(xml.as_bytes()));
    assert!(usage.bytes <= xml.len() * PER_BYTE + 4096, "{usage:?} for {} bytes", xml.len());
    decoded
}

/// Maximum bytes allocated per byte of input. An empty object has six bytes in a document and allocates 160; vectors of
/// values grow by doubling.
const PER_BYTE: usize = 64;

#[test]
fn entities_do_not_expand() {
    let mut bomb = String::from("<!DOCTYPE Objs [<!ENTITY e0 \"eeeeeeeeee\">");
    for level in 1..30 {
        let below = level - 1;
        write!(bomb, "<!ENTITY e{level} \"{}\">", format!("&e{below};").repeat(10)).unwrap();
    }
    bomb.push_str("]><Objs><S>&e29;</S></Objs>");
    assert!(read(&bomb).unwrap_err().is_syntax());
    assert!(read("<S>&e29;</S>").unwrap_err().is_syntax());
    assert!(read("<!DOCTYPE S SYSTEM \"file:///etc/hostname\"><S>x</S>").unwrap_err().is_syntax());
    // Character references are not longer than their expansion.
    let text = "&#65;".repeat(1_000_000);
    assert_eq!(read(&format!("<S>{text}</S>")).unwrap().as_str().unwrap().len(), 1_000_000);
}

#[test]
fn type_name_references_are_shared() {
    let mut xml = String::from("<Obj RefId=\"0\"><TN RefId=\"0\">");
    for number in 0..10_000 {
        write!(xml, "<T>T{number}</T>").unwrap();
    }
    let references = 250_000;
    xml.push_str("</TN><LST>");
    for _ in 0..references {
        xml.push_str("<Obj><TNRef RefId=\"0\"/></Obj>");
    }
    xml.push_str("</LST></Obj>");
    let value = read(&xml).unwrap();
    let items = value.items().unwrap();
    assert_eq!(items.len(), references);
    assert_eq!(items[references - 1].as_object().unwrap().type_names().unwrap().into_iter().count(), 10_000);
}

#[test]
fn attributes_allocate_nothing() {
    let mut xml = String::from("<S");
    for number in 0..500_000 {
        write!(xml, " a{number}=\"\"").unwrap();
    }
    xml.push_str(">x</S>");
    let (usage, value) = usage(|| from_slice(xml.as_bytes()));
    assert_eq!(value.unwrap(), "x");
    assert!(usage.bytes < 10_000, "{usage:?}");
    assert!(read(&format!("<S {}>x</S>", "N=\"a\" ".repeat(100_000))).unwrap_err().is_syntax());
}

#[test]
fn many_members_and_keys_are_linear() {
    let members: String = (0..200_000).map(|_| "<Nil N=\"same\"/>").collect();
    let value = read(&format!("<Obj><MS>{members}</MS></Obj>")).unwrap();
    assert_eq!(value["same"], Value::Nil);
    let entries = "<En><I32 N=\"Key\">1</I32><Nil N=\"Value\"/></En>".repeat(100_000);
    assert!(read(&format!("<Obj><DCT>{entries}</DCT></Obj>")).is_ok());
}

#[test]
fn unterminated_markup_is_scanned_once() {
    for start in ["<!--", "<![CDATA[", "<?", "<S a=\"", "<S>", "&", "<S>&"] {
        for fill in ["-", "<", "&", " ", "x", "]]", "?", "\""] {
            let xml = format!("{start}{}", fill.repeat(1_000_000 / fill.len()));
            assert!(read(&xml).is_err(), "{start} {fill}");
        }
    }
}

#[test]
fn announced_fragment_lengths_allocate_nothing() {
    // Within the limit, but not available.
    let claimed = start(10_000_000);
    let (use_of_one, got) =
        usage(|| Assembler::new().next(&mut &claimed[..]).map(|message| message.is_some()));
    assert!(matches!(got, Ok(false)));
    assert!(use_of_one.bytes < 64 * 1024, "{use_of_one:?}");
    for length in [10 << 20, i32::MAX as usize, u32::MAX as usize] {
        let bytes = start(length + FragmentHeader::LEN);
        let (usage, result) = usage(|| Assembler::new().next(&mut &bytes[..]).map(drop));
        // The top bit is ignored: the last two lengths are equal.
        assert!(result.unwrap_err().is_limit(), "{length}");
        assert!(usage.bytes < 64 * 1024, "{usage:?}");
    }
    assert!(Fragment::decode(&claimed).unwrap_err().is_unexpected_end());
}

#[test]
fn unterminated_lines_are_rejected() {
    for (role, start) in [
        (Role::Server, "<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>"),
        (Role::Client, "<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>"),
        (Role::Server, "<Close "),
    ] {
        let mut reader = PacketReader::new(role);
        let chunk = vec![b'A'; 4096];
        let (usage, (bytes, failure)) = usage(|| {
            reader.next(&mut start.as_bytes()).unwrap();
            let mut bytes = 0;
            loop {
                if let Err(error) = reader.next(&mut &chunk[..]) {
                    break (bytes, error);
                }
                bytes += chunk.len();
                assert!(bytes < 100 << 20, "it reads on");
            }
        });
        assert!(failure.is_limit() || failure.is_invalid_header(), "{failure}");
        assert!(bytes <= ReaderOptions::DEFAULT_MAX_LINE, "{bytes}");
        assert!(usage.bytes < 4 * ReaderOptions::DEFAULT_MAX_LINE + 64 * 1024, "{usage:?}");
    }
}

#[test]
fn console_output_is_scanned_once() {
    // In small chunks, in each state that buffers input.
    for start in [
        "#< CLIXML\r\n",
        "#< CLIXML\r\n<Objs></Objs>",
        "#< CLIXML\r\n<Objs ",
        "#< CLIXML\r\n<Objs><S>",
        "#< CLIXML\r\n<Objs/>\n<Ob",
    ] {
        let mut filter =
            ConsoleFilter::with_options(ReadOptions::new().limits(Limits::new().max_size(2_000_000)));
        let (mut text, mut records) = (0, 0);
        let mut see = |event: ConsoleEvent<'_>| match event {
            ConsoleEvent::Text(part) => text += part.len(),
            ConsoleEvent::Record(..) => records += 1,
            _ => {}
        };
        filter.push(start.as_bytes(), &mut see);
        for _ in 0..1_000_000 {
            filter.push(b"   ", &mut see);
        }
        filter.finish(&mut see);
        let document =
            if start.contains("</Objs>") || start.contains("/>") { start.find('>').unwrap() } else { 0 };
        assert!(text >= 3_000_000 - document, "{start}: {text}");
        assert_eq!(records, 0);
    }
}

#[test]
fn malformed_messages_are_rejected() {
    let nested = format!("{}{}", "<Obj><MS><Obj N=\"c\">".repeat(20_000), "</Obj></MS></Obj>".repeat(20_000));
    for message_type in MessageType::ALL {
        let (usage, decoded) = usage(|| Payload::decode(*message_type, nested.as_bytes()));
        assert!(decoded.is_err(), "{message_type:?}");
        assert!(usage.bytes < nested.len(), "{usage:?}");
    }
}

#[test]
fn concatenated_documents_share_the_limits() {
    let xml = "<Objs><Nil/></Objs>".repeat(10);
    let options = ReadOptions::new().limits(Limits::new().max_nodes(5));
    let read = Reader::with_options(xml.as_bytes(), options).collect::<Result<Vec<_>, _>>();
    assert!(read.unwrap_err().is_limit());
}

#[test]
fn nesting_is_limited() {
    for (start, end) in [
        ("<Obj><MS><Obj N='c'>", "</Obj></MS></Obj>"),
        ("<Obj><LST>", "</LST></Obj>"),
        ("<Obj>", "</Obj>"),
        ("<Obj><MS><MS N='a'>", "</MS></MS></Obj>"),
        ("<Obj><DCT><En><Obj N='Key'/><Obj N='Value'>", "</Obj></En></DCT></Obj>"),
    ] {
        let xml = format!("{}{}", start.repeat(20_000), end.repeat(20_000));
        let error = read(&xml).unwrap_err();
        assert!(error.is_limit() || error.is_structure(), "{start}: {error}");
    }
    // Skipped elements may be nested deeper.
    let unknown = format!("<Obj>{}{}</Obj>", "<X>".repeat(20_000), "</X>".repeat(20_000));
    read(&unknown).unwrap();
}

#[test]
fn prefixes_of_a_document_are_errors() {
    let value = Value::from(Object::list([Value::from("a&_x0041_"), Object::custom([("n", 1)]).into()]));
    let xml = to_vec(&value).unwrap();
    assert_eq!(from_slice(&xml).unwrap(), value);
    for length in 0..xml.len() {
        let error = from_slice(&xml[..length]).unwrap_err();
        assert!(error.offset().is_some_and(|offset| offset <= length as u64), "{length}: {error}");
    }
}

proptest! {
    /// Leaf elements are read by two code paths. A comment in front of each element and other quotes force one of them.
    #[test]
    fn both_code_paths_read_the_same_value(value in any_value()) {
        let xml = String::from_utf8(to_vec(&value).unwrap()).unwrap();
        let commented = xml.replace('<', "<!-- --><").replace("<!-- --></", "</");
        prop_assert_eq!(from_slice(commented.as_bytes()).unwrap(), value.clone());
        let spaced = xml.replace("\">", "\" >").replace("\" RefId", "\"\tRefId");
        prop_assert_eq!(from_slice(spaced.as_bytes()).unwrap(), value);
    }

    #[test]
    fn any_text_is_read_or_rejected(xml: String, parts in proptest::collection::vec(
        prop_oneof![
            Just("<Obj RefId=\"0\">"), Just("<Obj>"), Just("</Obj>"), Just("<MS>"), Just("</MS>"), Just("<Props>"),
            Just("</Props>"), Just("<LST>"), Just("</LST>"), Just("<DCT>"), Just("</DCT>"), Just("<En>"),
            Just("</En>"), Just("<S N=\"Key\">k</S>"), Just("<I32 N=\"Value\">1</I32>"), Just("<Ref N=\"a\" RefId=\"0\"/>"),
            Just("<TN RefId=\"0\"><T>A</T></TN>"), Just("<TNRef RefId=\"0\"/>"), Just("<ToString>t</ToString>"),
            Just("<MS N=\"m\">"), Just("<Objs>"), Just("</Objs>"), Just("<Nil/>"), Just(" "), Just("x"), Just("<X>"),
            Just("</X>"), Just("&amp;"), Just("<![CDATA[ ]]>"), Just("<!-- -->"),
        ],
        0..30,
    )) {
        let parts = parts.concat();
        for xml in [xml, parts] {
            for item in Reader::new(xml.as_bytes()) {
                match item {
                    Ok((_, value)) => prop_assert_eq!(&value, &value.clone()),
                    Err(error) => prop_assert!(error.offset().is_some_and(|offset| offset <= xml.len() as u64)),
                }
            }
        }
    }
}
