//! Conversion of numbers of any width, if they fit.

use serde::de::Visitor;

use crate::Value;
use crate::serde::error::{Result, mismatch};
use crate::value::Decimal;

/// 2^63, which a double represents exactly.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Converts a decimal number without fraction to an integer.
fn whole(number: Decimal) -> Option<i128> {
    let divisor = 10_u128.pow(u32::from(number.scale()));
    let mantissa = number.mantissa();
    if !mantissa.is_multiple_of(divisor) {
        return None;
    }
    // The mantissa has 96 bits, so the sign always fits.
    let value = (mantissa / divisor) as i128;
    Some(if number.is_negative() { -value } else { value })
}

/// Visits an integer, or another number without fraction.
pub(super) fn visit_integer<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value> {
    match *value.base() {
        Value::SByte(number) => visitor.visit_i8(number),
        Value::Byte(number) => visitor.visit_u8(number),
        Value::Int16(number) => visitor.visit_i16(number),
        Value::UInt16(number) => visitor.visit_u16(number),
        Value::Int32(number) => visitor.visit_i32(number),
        Value::UInt32(number) => visitor.visit_u32(number),
        Value::Int64(number) => visitor.visit_i64(number),
        Value::UInt64(number) => visitor.visit_u64(number),
        Value::Single(number) => visit_whole(value, number.into(), visitor),
        Value::Double(number) => visit_whole(value, number, visitor),
        Value::Decimal(number) => match whole(number) {
            Some(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => visitor.visit_i64(number),
                (_, Ok(number)) => visitor.visit_u64(number),
                _ => Err(mismatch(value, &visitor)),
            },
            None => Err(mismatch(value, &visitor)),
        },
        _ => Err(mismatch(value, &visitor)),
    }
}

fn visit_whole<'de, V: Visitor<'de>>(value: &Value, number: f64, visitor: V) -> Result<V::Value> {
    // Minus zero would lose its sign. 2^64 is the first number that does not fit any integer type.
    if number.fract() != 0.0 || (number == 0.0 && number.is_sign_negative()) {
        Err(mismatch(value, &visitor))
    } else if (-TWO_63..TWO_63).contains(&number) {
        visitor.visit_i64(number as i64)
    } else if (TWO_63..2.0 * TWO_63).contains(&number) {
        visitor.visit_u64(number as u64)
    } else {
        Err(mismatch(value, &visitor))
    }
}

/// Like [`visit_integer`], for types that can hold every integer of a decimal number.
pub(super) fn visit_wide<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value> {
    match *value.base() {
        Value::Decimal(number) => match whole(number) {
            Some(number) => visitor.visit_i128(number),
            None => Err(mismatch(value, &visitor)),
        },
        _ => visit_integer(value, visitor),
    }
}

/// Visits any number, rounded if the type is narrower.
pub(super) fn visit_float<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value> {
    match *value.base() {
        Value::Single(number) => visitor.visit_f32(number),
        Value::Double(number) => visitor.visit_f64(number),
        Value::Decimal(number) => match number.to_string().parse::<f64>() {
            Ok(number) => visitor.visit_f64(number),
            Err(_) => Err(mismatch(value, &visitor)),
        },
        _ => visit_integer(value, visitor),
    }
}

pub(super) fn visit_bool<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value> {
    match *value.base() {
        Value::Bool(flag) => visitor.visit_bool(flag),
        _ => Err(mismatch(value, &visitor)),
    }
}
