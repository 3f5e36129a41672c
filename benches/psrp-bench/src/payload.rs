//! Values of the published rows, and checks of the documents that go-psrpcore writes for them.

use psrp::{Object, Value};
use uuid::Uuid;

/// A fixed identifier.
pub const IDENTITY: Uuid = Uuid::from_u128(0x1234_5678_1234_1234_1234_1234_5678_9012);

/// Type name of most objects.
const CUSTOM: &str = "System.Management.Automation.PSCustomObject";

/// Returns the value of a row that serializes or deserializes one.
pub fn of_row(row: &str) -> Option<Value> {
    Some(match row {
        "serialize_small_object" | "deserialize_small_object" => small(),
        "serialize_medium_object" => numbered("Property", 10),
        "serialize_large_object" => numbered("Property", 50),
        "serialize_with_references" => references(),
        "serialize_string" => "test string value".into(),
        "serialize_int32" => 12345.into(),
        "serialize_hashtable" => hashtable(),
        "deserialize_ps_object" => object_with_text(),
        _ => return None,
    })
}

/// Returns an object of the type `System.String` with one property.
pub fn small() -> Value {
    Object::builder().type_names(["System.String"]).adapted("Value", "test").build().into()
}

/// Returns an object with the properties `prefix0`, `prefix1`, ... in bytewise order, as in go-psrpcore.
pub fn numbered(prefix: &str, count: usize) -> Value {
    let mut numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    numbers.sort();
    let object = Object::builder().type_names([CUSTOM]);
    let object = numbers
        .iter()
        .fold(object, |object, number| object.adapted(format!("{prefix}{number}"), format!("Value{number}")));
    object.build().into()
}

/// Returns an object that has the same object in three properties.
pub fn references() -> Value {
    let inner = Object::builder().type_names(["InnerObject"]).adapted("Inner", "value").build();
    let outer = Object::builder().type_names(["OuterObject"]);
    ["Ref1", "Ref2", "Ref3"]
        .iter()
        .fold(outer, |outer, &name| outer.adapted(name, inner.clone()))
        .build()
        .into()
}

/// Returns a hashtable with values of four types.
pub fn hashtable() -> Value {
    Object::dictionary([
        ("Key1", Value::from("Value1")),
        ("Key2", Value::Int32(123)),
        ("Key3", Value::Bool(true)),
        ("Key4", Value::Bytes(b"data".as_slice().into())),
    ])
    .into()
}

/// Returns an object with two type names, a text form, and three properties.
pub fn object_with_text() -> Value {
    Object::builder()
        .type_names(["System.String", "System.Object"])
        .to_string("test object")
        .adapted("baz", 123)
        .adapted("foo", "bar")
        .adapted("qux", true)
        .build()
        .into()
}

/// Returns the number of properties as the result of a decoding row. The caller checks the whole value once.
pub fn members(value: &Value) -> u64 {
    value.as_object().map_or(0, |object| object.adapted().len() as u64)
}

#[cfg(test)]
mod tests {
    use psrp::clixml::Writer;

    use super::*;

    /// Lengths written by go-psrpcore. PowerShell writes one more space in each of the two references.
    #[test]
    fn documents_have_the_published_lengths() {
        let wrapped = [(small(), 183), (numbered("Property", 10), 462), (numbered("Property", 50), 1622)];
        let wrapped = wrapped.into_iter().chain([(references(), 314 + 2), (object_with_text(), 273)]);
        for (value, length) in wrapped {
            assert_eq!(Writer::new().write_document([(None, &value)]).unwrap().len(), length, "{value:?}");
        }
        let bare = [(small(), 96), (numbered("Prop", 20), 585), (hashtable(), 313)];
        for (value, length) in bare {
            assert_eq!(Writer::new().write(&value).unwrap().len(), length, "{value:?}");
        }
    }
}
