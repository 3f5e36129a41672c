//! Encoding of values.

use std::sync::Arc;

use psrp::clixml::{Stream, WriteOptions, Writer, to_vec};
use psrp::crypto::Cipher;
use psrp::value::{ContainerKind, Cycle, Members, SecureString};
use psrp::{Error, Object, Value};
use zeroize::Zeroizing;

use crate::vector_checks::cipher;

pub(crate) const START: &str =
    "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">";

fn written(value: impl Into<Value>) -> String {
    String::from_utf8(to_vec(&value.into()).unwrap()).unwrap()
}

fn document(writer: &mut Writer, items: &[Value]) -> String {
    let bytes = writer.write_document(items.iter().map(|item| (None, item))).unwrap();
    let text = str::from_utf8(bytes).unwrap();
    text.strip_prefix(START).and_then(|text| text.strip_suffix("</Objs>")).unwrap().to_owned()
}

fn bag(name: &str, value: impl Into<Value>) -> Object {
    Object::builder().extended(name, value).build()
}

/// Returns nested values; the innermost is a number.
fn nested(levels: usize) -> Value {
    (1..levels)
        .fold(Value::from(1), |inner, _| Object::builder().list(ContainerKind::List, [inner]).build().into())
}

#[test]
fn items_are_written_with_their_streams() {
    let mut writer = Writer::new();
    let (text, list, empty, progress) =
        (Value::from("x"), Value::from(bag("a", 1)), Value::from(""), Value::from(bag("b", 2)));
    let bytes = writer
        .write_document([
            (Some(Stream::Error), &text),
            (None, &text),
            (Some(Stream::Progress), &list),
            (Some(Stream::Verbose), &Value::Nil),
            (Some(Stream::Output), &empty),
            (Some(Stream::Debug), &list),
            (Some(Stream::Information), &progress),
        ])
        .unwrap();
    let expected = format!(
        "{START}<S S=\"Error\">x</S><S>x</S>\
         <Obj S=\"Progress\" RefId=\"0\"><MS><I32 N=\"a\">1</I32></MS></Obj><Nil S=\"Verbose\" />\
         <S S=\"Output\" /><Ref S=\"Debug\" RefId=\"0\" />\
         <Obj S=\"Information\" RefId=\"1\"><MS><I32 N=\"b\">2</I32></MS></Obj></Objs>"
    );
    assert_eq!(str::from_utf8(bytes).unwrap(), expected);
    assert_eq!(writer.write_document([]).unwrap(), format!("{START}</Objs>").as_bytes());
}

#[test]
fn references_do_not_cross_documents() {
    let shared = Value::from(bag("a", 1));
    let mut writer = Writer::new();
    let first = document(&mut writer, &[shared.clone(), shared.clone()]);
    assert_eq!(first, "<Obj RefId=\"0\"><MS><I32 N=\"a\">1</I32></MS></Obj><Ref RefId=\"0\" />");
    assert_eq!(document(&mut writer, &[shared.clone(), shared.clone()]), first);
    assert_eq!(writer.write(&shared).unwrap(), written(shared.clone()).as_bytes());
    let named = Value::from(Object::list([1]));
    assert_eq!(writer.write(&named).unwrap(), written(named.clone()).as_bytes());
    assert_eq!(writer.write(&named).unwrap(), written(named).as_bytes());
}

#[test]
fn references_depend_on_identity_not_equality() {
    let pair =
        |a: &Object, b: &Object| Object::builder().list(ContainerKind::List, [a.clone(), b.clone()]).build();
    let (one, other) = (bag("a", 1), bag("a", 1));
    assert!(written(pair(&one, &one)).contains("<Ref RefId=\"1\" />"));
    assert!(written(pair(&one, &other)).contains("<Obj RefId=\"2\"><MS><I32 N=\"a\">1</I32></MS></Obj>"));
}

#[test]
fn lists_of_type_names_are_compared_as_a_whole() {
    let typed = |names: &[&str]| Value::from(Object::builder().type_names(names.iter().copied()).build());
    let items = [typed(&["A", "B"]), typed(&["A"]), typed(&["A", "B"]), typed(&["A", "C"]), typed(&["A"])];
    assert_eq!(
        document(&mut Writer::new(), &items),
        "<Obj RefId=\"0\"><TN RefId=\"0\"><T>A</T><T>B</T></TN></Obj>\
         <Obj RefId=\"1\"><TN RefId=\"1\"><T>A</T></TN></Obj>\
         <Obj RefId=\"2\"><TNRef RefId=\"0\" /></Obj>\
         <Obj RefId=\"3\"><TN RefId=\"2\"><T>A</T><T>C</T></TN></Obj>\
         <Obj RefId=\"4\"><TNRef RefId=\"1\" /></Obj>"
    );
    let none = Object::builder().type_names([""; 0]).build();
    assert_eq!(written(none), "<Obj RefId=\"0\" />");
}

#[test]
fn containers_have_members_and_member_sets_nest() {
    let set: Members = [("x", 1)].into_iter().collect();
    let list = Object::builder()
        .list(ContainerKind::List, [1])
        .adapted("a", 2)
        .extended("s", Value::MemberSet(Box::new(set)))
        .extended("e", Value::MemberSet(Box::default()))
        .build();
    assert_eq!(
        written(list),
        "<Obj RefId=\"0\"><LST><I32>1</I32></LST><Props><I32 N=\"a\">2</I32></Props>\
         <MS><MS N=\"s\"><I32 N=\"x\">1</I32></MS><MS N=\"e\" /></MS></Obj>"
    );
}

#[test]
fn objects_refer_to_themselves_and_enclosing_objects() {
    let node = Object::new_cyclic(|me| {
        Object::builder()
            .extended("child", bag("parent", Value::Cycle(me.clone())))
            .extended("me", Value::Cycle(me))
    });
    assert_eq!(
        written(node),
        "<Obj RefId=\"0\"><MS><Obj N=\"child\" RefId=\"1\"><MS><Ref N=\"parent\" RefId=\"0\" /></MS></Obj>\
         <Ref N=\"me\" RefId=\"0\" /></MS></Obj>"
    );
}

#[test]
fn a_part_of_a_cycle_is_written_with_its_target() {
    let node = Object::new_cyclic(|me| Object::builder().extended("child", bag("parent", Value::Cycle(me))));
    let child = node.get("child").unwrap();
    assert_eq!(
        written(child.clone()),
        "<Obj RefId=\"0\"><MS><Obj N=\"parent\" RefId=\"1\"><MS><Ref N=\"child\" RefId=\"0\" /></MS></Obj></MS></Obj>"
    );
}

#[test]
fn a_cycle_to_a_dropped_object_is_rejected() {
    let mut preserved = None::<Cycle>;
    let node = Object::new_cyclic(|me| {
        preserved = Some(me.clone());
        Object::builder().extended("me", Value::Cycle(me))
    });
    let cycle = Value::Cycle(preserved.unwrap());
    assert!(to_vec(&cycle).is_ok());
    drop(node);
    assert!(to_vec(&cycle).unwrap_err().is_unwritable());
}

#[test]
fn values_without_an_encoding_are_rejected() {
    let set = || Value::MemberSet(Box::default());
    for value in [
        Object::dictionary([(Value::Nil, 1)]).into(),
        set(),
        Object::list([set()]).into(),
        Object::builder().wrap(set()).build().into(),
        Value::from(Object::dictionary([(1, set())])),
    ] {
        assert!(to_vec(&value).unwrap_err().is_unwritable(), "{value:?}");
    }
}

#[test]
fn a_writer_is_usable_after_an_error() {
    let mut writer = Writer::new();
    let good = Value::from(Object::list([1]));
    let expected = writer.write(&good).unwrap().to_vec();
    let bad = Value::from(Object::list([good.clone(), Value::MemberSet(Box::default())]));
    assert!(writer.write(&bad).is_err());
    assert_eq!(writer.take(), b"");
    assert_eq!(writer.write(&good).unwrap(), expected);
    assert!(writer.continue_document([(None, &good), (None, &bad)]).is_err());
    let whole = format!("{START}{}</Objs>", str::from_utf8(&expected).unwrap());
    assert_eq!(writer.continue_document([(None, &good)]).unwrap(), whole.as_bytes());
}

#[test]
fn the_depth_of_sets_and_the_maximum_are_limited() {
    let mut writer = Writer::with_options(WriteOptions::new().max_depth(2));
    let set: Members = [("x", 1)].into_iter().collect();
    let set = Value::from(bag("s", Value::MemberSet(Box::new(set))));
    assert!(writer.write(&set).unwrap_err().is_limit());

    let mut writer = Writer::with_options(WriteOptions::new().max_depth(usize::MAX));
    assert!(writer.write(&nested(512)).is_ok());
    assert!(writer.write(&nested(513)).unwrap_err().is_limit());

    let mut writer = Writer::with_options(WriteOptions::new().max_depth(2).replace_too_deep("too deep"));
    assert_eq!(
        str::from_utf8(writer.write(&bag("a", bag("b", bag("c", 1))).into()).unwrap()).unwrap(),
        "<Obj RefId=\"0\"><MS><Obj N=\"a\" RefId=\"1\"><MS><S N=\"b\">too deep</S></MS></Obj></MS></Obj>"
    );
}

#[test]
fn shared_objects_are_written_once() {
    let mut value = Value::from(bag("x", 1));
    for _ in 0..40 {
        value = Object::list([value.clone(), value]).into();
    }
    assert!(written(value).len() < 8_000);
}

#[test]
fn secrets_need_a_cipher() {
    struct Broken;

    impl Cipher for Broken {
        fn encrypt(&self, _: &[u8]) -> Result<Vec<u8>, Error> {
            Err(Error::crypto())
        }

        fn decrypt(&self, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
            Err(Error::crypto())
        }
    }

    let secret = Value::from(SecureString::new("hello"));
    let error = to_vec(&secret).unwrap_err();
    assert!(error.is_no_key());
    let mut writer = Writer::with_options(WriteOptions::new().cipher(Arc::new(Broken)));
    assert!(writer.write(&secret).unwrap_err().is_crypto());
    let mut writer = Writer::with_options(WriteOptions::new().cipher(cipher()));
    assert_eq!(writer.write(&secret).unwrap(), b"<SS>w3SqeYcFGGDEdJOgch7jJg==</SS>");
    assert_eq!(written(SecureString::from_encrypted([1, 2, 3])), "<SS>AQID</SS>");
}

#[test]
fn a_continued_document_refers_to_its_earlier_parts() {
    let object = Value::from(Object::builder().type_names(["A"]).build());
    let mut writer = Writer::new();
    let whole = writer.continue_document([(None, &object)]).unwrap().to_vec();
    assert_eq!(
        str::from_utf8(&whole).unwrap(),
        format!("{START}<Obj RefId=\"0\"><TN RefId=\"0\"><T>A</T></TN></Obj></Objs>")
    );
    let again = writer.continue_document([(None, &object)]).unwrap();
    assert_eq!(str::from_utf8(again).unwrap(), format!("{START}<Ref RefId=\"0\" /></Objs>"));
    drop(object);
    // A new object is never confused with a dropped one, even at the same address.
    for number in 1..100 {
        let other = Value::from(Object::builder().type_names(["A"]).build());
        let part = writer.continue_document([(None, &other)]).unwrap();
        assert_eq!(
            str::from_utf8(part).unwrap(),
            format!("{START}<Obj RefId=\"{number}\"><TNRef RefId=\"0\" /></Obj></Objs>")
        );
    }
    assert_eq!(writer.write(&Value::Nil).unwrap(), b"<Nil />");
    let object = Value::from(Object::builder().type_names(["A"]).build());
    assert_eq!(writer.continue_document([(None, &object)]).unwrap(), whole);
}

#[test]
fn writers_are_send_and_sync() {
    fn moves<T: Send + Sync + 'static>(_: &T) {}

    moves(&Writer::new());
    moves(&WriteOptions::new());
    moves(&Value::Nil);
}
