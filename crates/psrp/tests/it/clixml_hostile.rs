//! Resources that untrusted documents can consume in the reader.

use std::fmt::Write;

use proptest::prelude::*;
use psrp::Value;
use psrp::clixml::{Limits, ReadOptions, Reader, Writer, from_slice, to_vec};

use crate::support::values::any_value;
use test_support::counting::usage;

/// Maximum bytes allocated per byte of input. An empty object has six bytes in a document and allocates 160; vectors of
/// values grow by doubling.
const PER_BYTE: usize = 64;

fn bounded(xml: &str, options: ReadOptions) -> Result<usize, psrp::Error> {
    let (usage, items) =
        usage(|| Reader::with_options(xml.as_bytes(), options).collect::<Result<Vec<_>, _>>());
    assert!(usage.bytes <= xml.len() * PER_BYTE + 4096, "{usage:?} for {} bytes", xml.len());
    items.map(|items| items.len())
}

#[test]
fn memory_is_linear_in_the_input() {
    let nodes = || ReadOptions::new().limits(Limits::new().max_nodes(usize::MAX));
    for (element, count) in [
        ("<Nil/>", 1),
        ("<S/>", 1),
        ("<Obj/>", 1),
        ("<Obj RefId='0'/>", 1),
        ("<Obj><LST/></Obj>", 1),
        ("<Obj><TN/><MS/></Obj>", 1),
        ("<Obj><MS><MS N=''/></MS></Obj>", 1),
        ("<Obj RefId='x'/><Ref RefId='x'/>", 2),
        ("<BA>AAAA</BA>", 1),
    ] {
        let times = 100_000 / element.len();
        assert_eq!(bounded(&element.repeat(times), nodes()).unwrap(), times * count, "{element}");
        let list = format!("<Obj><LST>{}</LST></Obj>", element.repeat(times));
        assert_eq!(bounded(&list, nodes()).unwrap(), 1, "{element}");
    }
    let names = format!("<Obj><TN>{}</TN></Obj>", "<T/>".repeat(20_000));
    assert_eq!(bounded(&names, nodes()).unwrap(), 1);
}

#[test]
fn large_identifiers_allocate_nothing() {
    let mut xml = String::new();
    for id in (3..2_000_000_000).step_by(700_001) {
        write!(xml, "<Obj RefId='{id}'><TN RefId='{id}'/></Obj>").unwrap();
    }
    assert!(bounded(&xml, ReadOptions::new()).unwrap() > 1000);
}

#[test]
fn doubled_references_are_shared() {
    let mut xml = String::from("<Obj RefId='0'><LST><Obj RefId='1'><LST><S>x</S></LST></Obj>");
    for id in 2..400 {
        let below = id - 1;
        write!(xml, "<Obj RefId='{id}'><LST><Ref RefId='{below}'/><Ref RefId='{below}'/></LST></Obj>")
            .unwrap();
    }
    xml.push_str("</LST></Obj>");
    assert_eq!(bounded(&xml, ReadOptions::new()).unwrap(), 1);
    let value = from_slice(xml.as_bytes()).unwrap();
    assert_eq!(value, from_slice(xml.as_bytes()).unwrap());
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
        let error = bounded(&xml, ReadOptions::new()).unwrap_err();
        assert!(error.is_limit() || error.is_structure(), "{start}: {error}");
    }
    // Skipped elements may be nested deeper.
    let unknown = format!("<Obj>{}{}</Obj>", "<X>".repeat(20_000), "</X>".repeat(20_000));
    assert_eq!(bounded(&unknown, ReadOptions::new()).unwrap(), 1);
}

#[test]
fn prefixes_of_a_document_are_errors() {
    let value =
        Value::from(psrp::Object::list([Value::from("a&_x0041_"), psrp::Object::custom([("n", 1)]).into()]));
    let xml = to_vec(&value).unwrap();
    assert_eq!(from_slice(&xml).unwrap(), value);
    for length in 0..xml.len() {
        let error = from_slice(&xml[..length]).unwrap_err();
        assert!(error.offset().is_some_and(|offset| offset <= length as u64), "{length}: {error}");
    }
}

proptest! {
    #[test]
    fn written_values_are_read_back(value in any_value()) {
        let mut writer = Writer::new();
        let xml = writer.write(&value).unwrap().to_vec();
        let read = from_slice(&xml).unwrap();
        prop_assert_eq!(&read, &value, "{}", String::from_utf8_lossy(&xml));
        // Sharing survives, and a writer starts without state.
        let again = writer.write(&read).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(again), String::from_utf8_lossy(&xml));
    }

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
