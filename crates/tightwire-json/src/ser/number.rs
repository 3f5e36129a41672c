//! Formatting of numbers.

/// Appends an integer.
#[inline]
pub(super) fn push_integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a finite float as Go's `encoding/json` does: the shortest digits that round-trip, without an empty fraction,
/// and with a signed exponent if `exponential`.
///
/// `text` is the number in any decimal notation, with the shortest digits.
pub(super) fn push_go_float(out: &mut Vec<u8>, text: &str, exponential: bool) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // A float has at most 17 significant digits, and zmij writes only a few zeros around them.
    let mut digits = [b'0'; 64];
    let mut len = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if let Some(slot) = digits.get_mut(len) {
            *slot = digit;
            len += 1;
        }
    }
    let leading = digits[..len].iter().take_while(|digit| **digit == b'0').count();
    let trailing = digits[leading..len].iter().rev().take_while(|digit| **digit == b'0').count();
    // The value is 0.DIGITS * 10^point.
    let point = whole.len() as i32 - leading as i32 + exponent.parse::<i32>().unwrap_or(0);
    let digits = &digits[leading..len - trailing];
    if negative {
        out.push(b'-');
    }
    let Some((first, more)) = digits.split_first() else {
        out.push(b'0');
        return;
    };
    if exponential {
        out.push(*first);
        if !more.is_empty() {
            out.push(b'.');
            out.extend_from_slice(more);
        }
        let exponent = point - 1;
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        push_integer(out, exponent.unsigned_abs());
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        out.extend_from_slice(digits);
    } else {
        let point = point.unsigned_abs() as usize;
        let (whole, fraction) = digits.split_at(point.min(digits.len()));
        out.extend_from_slice(whole);
        out.extend(std::iter::repeat_n(b'0', point - whole.len()));
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ser::style::{Go, Style};

    #[test]
    fn floats_are_formatted_as_by_go() {
        // Expected values from Go 1.26.
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (100.0, "100"),
            (95.5, "95.5"),
            (-1.25, "-1.25"),
            (1e-6, "0.000001"),
            (9.5e-7, "9.5e-7"),
            (1e-7, "1e-7"),
            (1.5e-10, "1.5e-10"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.234e300, "1.234e+300"),
            (123456789.125, "123456789.125"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            let mut out = Vec::new();
            Go::push_f64(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn go_floats_round_trip(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut out = Vec::new();
            Go::push_f64(&mut out, value);
            let text = String::from_utf8(out).unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
        }
    }
}
