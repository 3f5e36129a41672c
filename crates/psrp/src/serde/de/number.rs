//! Numbers of any width, where they fit.

use serde::de::Visitor;

use crate::Value;
use crate::serde::fault::{Result, mismatch};
use crate::value::Decimal;

/// Two to the power of 63, which is exact as a double.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// A decimal number without fraction.
fn whole(number: Decimal) -> Option<i128> {
    let divisor = 10_u128.pow(u32::from(number.scale()));
    let mantissa = number.mantissa();
    if !mantissa.is_multiple_of(divisor) {
        return None;
    }
    // 96 bits, so there is always room for the sign.
    let value = (mantissa / divisor) as i128;
    Some(if number.is_negative() { -value } else { value })
}

/// Any integer, and any other number that is one.
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
    // Minus zero would lose its sign; 2 to the power of 64 is the first that no integer holds.
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

/// As [`visit_integer`], for types that also hold the integers of a decimal number.
pub(super) fn visit_wide<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value> {
    match *value.base() {
        Value::Decimal(number) => match whole(number) {
            Some(number) => visitor.visit_i128(number),
            None => Err(mismatch(value, &visitor)),
        },
        _ => visit_integer(value, visitor),
    }
}

/// Any number, rounded where the type is narrower.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_zeros_is_whole() {
        assert_eq!(whole(Decimal::new(true, 1500, 2).unwrap()), Some(-15));
        assert_eq!(whole(Decimal::new(false, 1501, 2).unwrap()), None);
        assert_eq!(whole(Decimal::new(false, (1 << 96) - 1, 0).unwrap()), Some((1 << 96) - 1));
        assert_eq!(whole(Decimal::new(false, 0, 28).unwrap()), Some(0));
    }
}
