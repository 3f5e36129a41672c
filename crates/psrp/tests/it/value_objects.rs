//! Strings, members and objects: lookup, equality, `Debug`.

use psrp::value::Members;
use psrp::{Object, PsString, Value};

#[test]
fn a_value_has_32_bytes() {
    assert_eq!(size_of::<Value>(), 32);
    assert_eq!(size_of::<Option<Value>>(), 32);
}

#[test]
fn lone_surrogates_are_preserved() {
    let units = [u16::from(b'a'), 0xD83D, u16::from(b'b')];
    let text = PsString::from_utf16(&units);
    assert_eq!(text.as_str(), None);
    assert_eq!(text.to_utf16(), units);
    assert_eq!(text.to_string(), "a\u{FFFD}b");
    assert_eq!(format!("{text:?}"), r#""a\u{d83d}b""#);
    assert_eq!(text, PsString::from_utf16(&units));
}

#[test]
fn surrogate_pairs_become_utf8() {
    let text = PsString::from_utf16(&[0xD83D, 0xDE00]);
    assert_eq!(text, "\u{1F600}");
}

#[test]
fn a_string_has_24_bytes() {
    assert_eq!(size_of::<PsString>(), 24);
    assert_eq!(size_of::<Option<PsString>>(), 24);
}

#[test]
fn lookup_ignores_case_and_returns_the_last() {
    let members: Members = [("Name", 1), ("NAME", 2)].into_iter().collect();
    assert_eq!(members.get("name"), Some(&Value::Int32(2)));
    assert_eq!(members.len(), 2);
}

#[test]
fn extended_members_have_priority() {
    let object = Object::builder().adapted("a", 1).extended("A", 2).build();
    assert_eq!(object.get("a"), Some(&Value::Int32(2)));
}

/// PowerShell's order: `$table = @{ a = 1 }; Add-Member -InputObject $table a 2; $table.a`.
#[test]
fn entries_rank_between_extended_and_adapted_members() {
    let entries = [("a", 1), ("Count", 2), ("key", 3), ("KEY", 4)];
    let table = Object::builder().adapted("Count", 9).adapted("IsFixedSize", 0).dictionary(entries);
    let table = table.extended("A", 8).build();
    assert_eq!(table.get("a"), Some(&Value::Int32(8)));
    assert_eq!(table.get("isFixedSize"), Some(&Value::Int32(0)));
    for value in [Value::from(table.clone()), Object::builder().wrap(table).build().into()] {
        assert_eq!(value["count"], Value::Int32(2));
        assert_eq!(
            [&value["key"], &value["KEY"], &value["Key"]].map(Value::as_i32),
            [Some(3), Some(4), Some(4)]
        );
    }
}

#[test]
fn a_cycle_does_not_keep_its_object_alive() {
    let object = Object::new_cyclic(|me| Object::builder().extended("me", Value::Cycle(me)));
    let Some(Value::Cycle(cycle)) = object.get("me").cloned() else { panic!("no cycle") };
    assert!(cycle.upgrade().is_some());
    drop(object);
    assert!(cycle.upgrade().is_none());
}

fn nested_pairs(levels: u32) -> Value {
    let mut value = Value::from(Object::list(["x"]));
    for _ in 0..levels {
        value = Object::list([value.clone(), value]).into();
    }
    value
}

#[test]
fn shared_objects_are_compared_once() {
    assert_eq!(nested_pairs(60), nested_pairs(60));
    assert_ne!(nested_pairs(60), nested_pairs(61));
}

#[test]
fn cyclic_objects_are_compared() {
    let make = |text| {
        Object::new_cyclic(|me| Object::builder().extended("n", text).extended("me", Value::Cycle(me)))
    };
    assert_eq!(make("a"), make("a"));
    assert_ne!(make("a"), make("b"));
}

#[test]
fn integers_of_different_width_differ_and_floats_compare_by_bits() {
    assert_ne!(Value::Int32(1), Value::Int64(1));
    assert_eq!(Value::Double(f64::NAN), Value::Double(f64::NAN));
    assert_ne!(Value::Double(0.0), Value::Double(-0.0));
}

#[test]
fn shared_objects_are_shown_once() {
    let mut value = Value::from(Object::list(["x"]));
    for _ in 0..40 {
        value = Object::list([value.clone(), value]).into();
    }
    assert!(format!("{value:?}").len() < 10_000);
    assert_eq!(format!("{value:?}"), format!("{value:?}"));
}
