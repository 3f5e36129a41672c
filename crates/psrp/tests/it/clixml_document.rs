//! Documents in files and byte streams.

use std::fs;
use std::io::{self, Write};

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::clixml::{
    Document, DocumentWriter, Limits, ReadOptions, Reader, Stream, WriteOptions, export, import,
};
use psrp::value::SecureString;
use psrp::{Error, Object, Value};

use crate::clixml_write::START;
use crate::support::values::any_value;

fn values(document: &Document) -> Result<Vec<Value>, Error> {
    document.items().map(|item| item.map(|(_, value)| value)).collect()
}

fn text(document: DocumentWriter<Vec<u8>>) -> String {
    let text = String::from_utf8(document.finish().unwrap()).unwrap();
    text.strip_prefix(START).and_then(|text| text.strip_suffix("</Objs>")).unwrap().to_owned()
}

/// Output of Windows PowerShell's `Export-Clixml`: UTF-16, line breaks and indentation.
#[test]
fn utf8_and_utf16_files_are_read() {
    let text = format!("{START}\r\n  <S>caf\u{e9} \u{65e5}</S>\r\n  <I32>7</I32>\r\n</Objs>");
    let expected = [Value::from("caf\u{e9} \u{65e5}"), Value::from(7)];
    let with_mark = format!("\u{FEFF}{text}");
    let declared = format!("\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-16\"?>{text}");
    let utf16 =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    for bytes in [
        text.clone().into_bytes(),
        with_mark.clone().into_bytes(),
        utf16(&with_mark, u16::to_le_bytes),
        utf16(&with_mark, u16::to_be_bytes),
        utf16(&text, u16::to_le_bytes),
        utf16(&text, u16::to_be_bytes),
        utf16(&declared, u16::to_le_bytes),
    ] {
        let document = Document::from_reader(&*bytes, ReadOptions::new()).unwrap();
        assert_eq!(values(&document).unwrap(), expected);
        let document = Document::from_bytes(bytes, ReadOptions::new()).unwrap();
        assert_eq!(values(&document).unwrap(), expected);
    }
}

#[test]
fn invalid_encodings_are_rejected() {
    for (bytes, offset) in [(&[0xFF, 0xFE, b'<', 0, b'S'][..], 4), (&[0xFF, 0xFE, 0x3D, 0xD8, b'<', 0], 2)] {
        let error = Document::from_bytes(bytes.to_vec(), ReadOptions::new()).unwrap_err();
        assert!(error.is_syntax());
        assert_eq!(error.offset(), Some(offset));
    }
    let document = Document::from_bytes(b"<S>\xFF</S>".to_vec(), ReadOptions::new()).unwrap();
    assert!(values(&document).unwrap_err().is_syntax());
    let document = Document::from_bytes(Vec::new(), ReadOptions::new()).unwrap();
    assert!(values(&document).is_err());
}

#[test]
fn size_is_limited_while_reading() {
    let options = ReadOptions::new().limits(Limits::new().max_size(100));
    let endless = io::repeat(b' ');
    assert!(Document::from_reader(endless, options.clone()).unwrap_err().is_limit());
    let text = format!("<S>{}</S>", "x".repeat(100));
    let document = Document::from_reader(text.as_bytes(), options.clone()).unwrap();
    assert!(values(&document).unwrap_err().is_limit());
}

#[test]
fn files_are_written_and_read() {
    let path = std::env::temp_dir().join(format!("psrp-document-{}.xml", std::process::id()));
    let written = [Value::from(Object::list(["a"])), Value::Nil, Value::from(1)];
    export(&path, &written).unwrap();
    let read = import(&path);
    fs::remove_file(&path).unwrap();
    assert_eq!(read.unwrap(), written);
    export(&path, &[Value::from("x".repeat(20 << 20))]).unwrap();
    let large = import(&path);
    let file = fs::File::create(&path).unwrap();
    file.set_len(200 << 20).unwrap();
    let too_large = import(&path).unwrap_err();
    fs::remove_file(&path).unwrap();
    assert_eq!(large.unwrap().len(), 1);
    assert!(too_large.is_limit());
    let missing = import(&path).unwrap_err();
    assert!(missing.is_io());
    assert!(std::error::Error::source(&missing).is_some());
}

#[test]
fn items_are_written_one_by_one() {
    let mut document = DocumentWriter::new(Vec::new());
    let shared = Object::builder().type_names(["A"]).build();
    document.write(Some(Stream::Output), &shared.clone().into()).unwrap();
    document.write(None, &Object::builder().extended("a", shared).build().into()).unwrap();
    for _ in 0..2 {
        // Each is a new object, probably at the address of the previous one.
        document.write(None, &Object::builder().extended("n", 1).build().into()).unwrap();
    }
    assert_eq!(
        text(document),
        "<Obj S=\"Output\" RefId=\"0\"><TN RefId=\"0\"><T>A</T></TN></Obj>\
         <Obj RefId=\"1\"><MS><Ref N=\"a\" RefId=\"0\" /></MS></Obj>\
         <Obj RefId=\"2\"><MS><I32 N=\"n\">1</I32></MS></Obj>\
         <Obj RefId=\"3\"><MS><I32 N=\"n\">1</I32></MS></Obj>"
    );
}

#[test]
fn a_document_continues_after_a_failed_item() {
    let mut document = DocumentWriter::with_options(Vec::new(), WriteOptions::new().max_depth(3));
    let shared = Object::builder().type_names(["A"]).build();
    let fine = Value::from(Object::builder().extended("s", shared.clone()).build());
    document.write(None, &fine).unwrap();
    let secret =
        Value::from(Object::builder().extended("s", shared).extended("p", SecureString::new("x")).build());
    assert!(document.write(None, &secret).unwrap_err().is_no_key());
    document.write(None, &fine).unwrap();
    let text = document.finish().unwrap();
    let read = Reader::new(&text).map(|item| item.map(|(_, value)| value)).collect::<Result<Vec<_>, _>>();
    assert_eq!(read.unwrap(), [fine.clone(), fine]);
}

#[test]
fn large_documents_are_flushed_in_parts() {
    /// A writer that fails beyond this many bytes.
    struct LimitedWriter {
        left: usize,
        parts: usize,
    }

    impl Write for LimitedWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.parts += 1;
            self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let item = Value::from("x".repeat(1000));
    let mut document = DocumentWriter::new(LimitedWriter { left: 200_000, parts: 0 });
    for _ in 0..100 {
        document.write(None, &item).unwrap();
    }
    assert_eq!(document.finish().unwrap().parts, 4);

    let mut document = DocumentWriter::new(LimitedWriter { left: 50_000, parts: 0 });
    let failed = (0..100).find_map(|_| document.write(None, &item).err()).unwrap();
    assert!(failed.is_io());
}

proptest! {
    #[test]
    fn documents_survive_a_round_trip(items in vec(any_value(), 0..4), twice: bool) {
        let mut document = DocumentWriter::new(Vec::new());
        let items = if twice { [items.clone(), items].concat() } else { items };
        for item in &items {
            document.write(None, item).unwrap();
        }
        let written = document.finish().unwrap();
        let read = Document::from_bytes(written.clone(), ReadOptions::new()).unwrap();
        let read = values(&read).unwrap();
        prop_assert_eq!(&read, &items);
        let mut again = DocumentWriter::new(Vec::new());
        for item in &read {
            again.write(None, item).unwrap();
        }
        let (again, written) = (again.finish().unwrap(), String::from_utf8_lossy(&written).into_owned());
        prop_assert_eq!(String::from_utf8_lossy(&again), written);
    }
}
