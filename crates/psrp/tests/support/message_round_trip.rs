//! Decodes a message of the vectors into its type and encodes it again.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::Value;
use psrp::clixml::{Writer, from_slice};
use psrp::message::{MessageType, Payload};
use psrp::value::{Base, Members, Object};

/// Removes insignificant differences: the implementation that made the vectors names `System.Object` as the type of
/// some property bags, gives commands a text, and names all flags of a number, where .NET names the largest.
fn plain(value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let names: Vec<_> = object.type_names().into_iter().flatten().map(ToString::to_string).collect();
    let is_bag = names.is_empty() || names == ["System.Object"];
    let mut out = Object::builder();
    if !is_bag {
        out = out.type_names(names);
    }
    if let Some(text) = object.to_string_text()
        && !is_bag
        && !object.is_a("System.Enum")
    {
        out = out.to_string(text.clone());
    }
    match object.base() {
        Base::Value(inner) => out = out.wrap(plain(inner)),
        Base::List(kind, items) => out = out.list(*kind, items.iter().map(plain)),
        Base::Dictionary(entries) => {
            out = out.dictionary(entries.iter().map(|(key, value)| (plain(key), plain(value))));
        }
        _ => {}
    }
    let members = |members: &Members| -> Vec<_> {
        members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
    };
    for (name, value) in members(object.adapted()) {
        out = out.adapted(name, value);
    }
    for (name, value) in members(object.extended()) {
        out = out.extended(name, value);
    }
    out.build().into()
}

fn value_of(data: &str) -> Option<Value> {
    (!data.is_empty()).then(|| from_slice(data.as_bytes()).expect("the data are CLIXML"))
}

/// Moves the attribute `N` of objects before `RefId`, as PowerShell writes them.
fn name_first(data: &str) -> String {
    let mut parts = data.split("<Obj RefId=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (id, rest) = part.split_once('"').expect("the end of the number");
        let name = rest.strip_prefix(" N=").map(|name| name.split_inclusive('"').take(2).collect::<String>());
        match name {
            Some(name) => out += &format!("<Obj N={name} RefId=\"{id}\"{}", &rest[3 + name.len()..]),
            None => out += &format!("<Obj RefId=\"{id}\"{rest}"),
        }
    }
    out
}

/// Decodes data as the payload of a type, and checks that encoding preserves its meaning. Returns whether the bytes
/// were compared as well: in the vectors, an enumeration's text follows its number, which differs.
pub fn check(message_type: MessageType, data: &str) -> bool {
    // The vectors use the type of the specification; PowerShell's client accepts only another one.
    let [wide, narrow] =
        ["I64", "I32"].map(|tag| format!("<{tag} N=\"SetMinMaxRunspacesResponse\">5</{tag}>"));
    let data = &*data.replace(&wide, &narrow);
    let payload = Payload::decode(message_type, data.as_bytes()).expect("the data are of the type");
    assert_eq!(payload.message_type(), message_type);
    assert_eq!(payload.to_value().as_ref().map(plain), value_of(data).as_ref().map(plain));

    let mut writer = Writer::new();
    let written = payload.encode(&mut writer).expect("what was read can be written");
    let is_comparable = !data.contains("<ToString>");
    if is_comparable {
        assert_eq!(str::from_utf8(written), Ok(&*name_first(data)));
    }
    assert_eq!(Payload::decode(message_type, written).expect("what was written can be read"), payload);

    let with_mark = [b"\xEF\xBB\xBF", data.as_bytes()].concat();
    assert_eq!(Payload::decode(message_type, &with_mark).expect("a mark means nothing"), payload);
    is_comparable
}

/// Parses a message type such as `0x00010002`.
pub fn message_type(id: &serde_json::Value) -> MessageType {
    let digits = id.as_str().and_then(|id| id.strip_prefix("0x")).expect("a hexadecimal number");
    MessageType::from_id(u32::from_str_radix(digits, 16).expect("a hexadecimal number"))
}
