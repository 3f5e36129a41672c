//! Texts of primitive elements.

use proptest::prelude::*;
use psrp::clixml::{from_slice, to_vec};
use psrp::{Error, PsString, Value};
use uuid::Uuid;

/// Reads an element with this text.
fn read(tag: &str, text: &str) -> Result<Value, Error> {
    from_slice(format!("<{tag}>{text}</{tag}>").as_bytes())
}

fn assert_invalid(tag: &str, texts: &[&str]) {
    for text in texts {
        assert!(read(tag, text).unwrap_err().is_invalid_text(), "{text:?}");
    }
}

/// Returns the text of the element that is written for a value.
fn written<T: Into<Value>>(value: T) -> String {
    let element = String::from_utf8(to_vec(&value.into()).unwrap()).unwrap();
    let (_, text) = element.split_once('>').unwrap();
    text.rsplit_once("</").unwrap().0.to_owned()
}

#[test]
fn integers_are_exact() {
    assert_eq!(read("U64", "18446744073709551615").unwrap(), Value::UInt64(u64::MAX));
    assert_eq!(read("I64", "-9223372036854775808").unwrap(), Value::Int64(i64::MIN));
    assert_eq!(read("I32", "+007").unwrap(), Value::Int32(7));
    assert_eq!(read("By", "-0").unwrap(), Value::Byte(0));
    assert_eq!(read("SB", "0000000000000000000000000000001").unwrap(), Value::SByte(1));
    let invalid = ["18446744073709551616", "99999999999999999999999", "", "-", "+-1", "1 2", "1e1", "0x1"];
    assert_invalid("U64", &invalid);
    assert_invalid("I64", &["9223372036854775808"]);
    assert_invalid("By", &["-1"]);
}

#[test]
fn floating_point_numbers_have_all_notations_of_dotnet() {
    for (text, expected) in [
        ("1e5", 1e5),
        ("1E+5", 1e5),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("inf", f64::INFINITY),
        ("+INF", f64::INFINITY),
        ("-Infinity", f64::NEG_INFINITY),
        ("1e999", f64::INFINITY),
        ("-0", -0.0),
    ] {
        assert_eq!(read("Db", text).unwrap(), Value::Double(expected), "{text}");
    }
    assert!(read("Sg", "nan").unwrap().as_f64().unwrap().is_nan());
    let invalid = ["", "-", ".", "e5", "1e", "0x1", "1_0", "--1", "infinit", "1 2", "1,5", "\u{661}"];
    assert_invalid("Db", &invalid);
}

#[test]
fn doubles_are_written_like_dotnet() {
    for (number, expected) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.001, "0.001"),
        (1e-4, "0.0001"),
        (1.25e-4, "0.000125"),
        (1e-5, "1E-05"),
        (1.25e-5, "1.25E-05"),
        (1e14, "100000000000000"),
        (1.5e16, "15000000000000000"),
        (1e17, "1E+17"),
        (1.5e17, "1.5E+17"),
        (1234567890123456.0, "1234567890123456"),
        (12345678901234568.0, "12345678901234568"),
        (123456.789, "123456.789"),
        (1e100, "1E+100"),
        (1e-300, "1E-300"),
        (f64::MAX, "1.7976931348623157E+308"),
        (5e-324, "5E-324"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "INF"),
        (f64::NEG_INFINITY, "-INF"),
    ] {
        assert_eq!(written(number), expected);
    }
}

#[test]
fn singles_switch_to_exponents_at_nine_digits() {
    for (number, expected) in [
        (16_777_216.0, "16777216"),
        (1e6, "1000000"),
        (1e8, "100000000"),
        (1e9, "1E+09"),
        (2_147_483_648.0, "2.1474836E+09"),
        (0.333_333_34, "0.33333334"),
        (f32::MAX, "3.4028235E+38"),
        (1e-45, "1E-45"),
        (f32::NEG_INFINITY, "-INF"),
    ] {
        assert_eq!(written::<f32>(number), expected);
    }
}

proptest! {
    #[test]
    fn written_numbers_round_trip(bits: u64, single: u32, exponent in -8..20) {
        for number in [f64::from_bits(bits), 0.1 * bits as f64 * 10_f64.powi(exponent - 19)] {
            let read = written(number).parse::<f64>().unwrap();
            prop_assert!(number.is_nan() && read.is_nan() || read.to_bits() == number.to_bits());
        }
        for number in [f32::from_bits(single), 0.1 * single as f32 * 10_f32.powi(exponent - 9)] {
            let read = written(number).parse::<f32>().unwrap();
            prop_assert!(number.is_nan() && read.is_nan() || read.to_bits() == number.to_bits());
        }
    }
}

#[test]
fn guids_have_four_formats() {
    let expected = Uuid::from_u128(0xa1b2c3d4_e5f6_4718_8293_a4b5c6d7e8f9);
    for text in [
        "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9",
        " A1B2C3D4-E5F6-4718-8293-A4B5C6D7E8F9 ",
        "a1b2c3d4e5f647188293a4b5c6d7e8f9",
        "{a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}",
        "(a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9)",
    ] {
        assert_eq!(read("G", text).unwrap(), Value::Guid(expected), "{text}");
    }
    let invalid = [
        "",
        "xyz",
        "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f",
        "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8fg",
        "{a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9)",
        "{a1b2c3d4e5f647188293a4b5c6d7e8f9}",
        "{0xa1b2c3d4,0xe5f6,0x4718,{0x82,0x93,0xa4,0xb5,0xc6,0xd7,0xe8,0xf9}}",
        "urn:uuid:a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9",
        "{",
        "{}",
        "(a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}",
        "\u{e4}1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f",
    ];
    assert_invalid("G", &invalid);
}

#[test]
fn base64_is_accepted_and_rejected_like_in_dotnet() {
    for (text, bytes) in [
        ("", &b""[..]),
        ("AAEC", b"\0\x01\x02"),
        ("AAE=", b"\0\x01"),
        ("AA==", b"\0"),
        (" A\tA\r\nE C ", b"\0\x01\x02"),
        ("A A = =", b"\0"),
        // Unused bits of the last character.
        ("AB==", b"\0"),
        ("+/+/", b"\xfb\xff\xbf"),
    ] {
        assert_eq!(read("BA", text).unwrap(), Value::from(bytes), "{text:?}");
    }
    let invalid = [
        "A",
        "AA",
        "AAE",
        "A===",
        "====",
        "AA=A",
        "AA==AAAA",
        "-_-_",
        "AAE\u{a0}",
        "AAE\x0b",
        "AAE\x0c",
        "AA\0=",
    ];
    assert_invalid("BA", &invalid);
}

#[test]
fn bytes_of_any_length_round_trip() {
    let bytes: Vec<u8> = (0..=255).rev().collect();
    for len in 1..100 {
        for start in 0..64 {
            let bytes = &bytes[start..start + len];
            let text = written(bytes);
            assert_eq!(text.len(), len.div_ceil(3) * 4);
            assert_eq!(read("BA", &text).unwrap(), Value::from(bytes));
        }
    }
    assert_eq!(written(&b"test data"[..]), "dGVzdCBkYXRh");
    assert_eq!(written(&b"t"[..]), "dA==");
}

#[test]
fn references_are_resolved() {
    assert_eq!(read("S", "&lt;x&#x41;&#66;&#x1F600;&#0;").unwrap(), "<xAB\u{1F600}\0");
    for name in ["", "#", "#x", "#+1", "#x+1", "#xG", "#1114112", "#x110000", "#99999999999", "nbsp"] {
        assert!(read("S", &format!("&{name};")).unwrap_err().is_syntax(), "{name}");
    }
}

#[test]
fn surrogates_are_preserved_and_joined() {
    for (text, units) in [
        ("a&#xD83D;&#xDE00;b", &[97, 0xD83D, 0xDE00, 98][..]),
        ("a&#xD83D;b", &[97, 0xD83D, 98]),
        ("&#xD83D;_xDE00_", &[0xD83D, 0xDE00]),
        ("_x41&#xD83D;_x0042_", &[0x5F, 0x78, 0x34, 0x31, 0xD83D, 0x42]),
    ] {
        assert_eq!(read("S", text).unwrap(), Value::from(PsString::from_utf16(units)));
    }
}
