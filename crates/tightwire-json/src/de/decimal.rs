//! Conversion of `mantissa * 10^exponent` to the nearest `f64`, measured by the benchmark rows
//! `json/canada_*_decode`.
//!
//! The mantissa is multiplied by a 128-bit approximation of the power of ten, and the product is rounded. If the bits
//! that the approximation lacks could change the result, or if the exponent is outside the table, the caller converts
//! the number with the standard library. Because every product is tested for this, the correctness does not depend on
//! a proof for each power of ten.

/// First and last exponent of the table of powers of five. In this range the powers are exact in 128 bits, and so
/// are the divisors of their reciprocals.
const FIRST: i64 = -54;
const LAST: i64 = 55;
const COUNT: usize = (LAST - FIRST + 1) as usize;

/// `5^exponent` as `bits / 2^scale`, truncated to 128 bits. The most significant bit is set.
#[derive(Clone, Copy)]
struct Power {
    bits: u128,
    scale: i64,
}

static POWERS: [Power; COUNT] = powers();

const fn powers() -> [Power; COUNT] {
    let mut powers = [Power { bits: 0, scale: 0 }; COUNT];
    let mut index = 0;
    while index < COUNT {
        let exponent = FIRST + index as i64;
        powers[index] = if exponent < 0 {
            reciprocal(5_u128.pow((-exponent) as u32))
        } else {
            let power = 5_u128.pow(exponent as u32);
            Power { bits: power << power.leading_zeros(), scale: power.leading_zeros() as i64 }
        };
        index += 1;
    }
    powers
}

/// Returns the first 128 bits of `1 / divisor`, by long division.
const fn reciprocal(divisor: u128) -> Power {
    let width = 128 - divisor.leading_zeros();
    let mut rest = 1 << (width - 1);
    let mut bits = 0;
    let mut step = 0;
    while step < 128 {
        rest <<= 1;
        bits <<= 1;
        if rest >= divisor {
            rest -= divisor;
            bits |= 1;
        }
        step += 1;
    }
    Power { bits, scale: 127 + width as i64 }
}

/// Returns the float nearest to `mantissa * 10^exponent`, or `None` if 128 bits are not enough to decide.
#[inline]
pub(super) fn nearest(mantissa: u64, exponent: i64) -> Option<f64> {
    /// Bits of the product that do not fit into the mantissa of a float.
    const CUT: u32 = 128 - 53;
    const HALF: u128 = 1 << (CUT - 1);

    if mantissa == 0 {
        return Some(0.0);
    }
    let power = POWERS.get(usize::try_from(exponent - FIRST).ok()?)?;
    let shift = mantissa.leading_zeros();
    let factor = u128::from(mantissa << shift);
    let low = factor * (power.bits & u128::from(u64::MAX));
    let product = factor * (power.bits >> 64) + (low >> 64);
    // Truncating the power and `low` makes the product too small by less than one each: the exact product is in
    // `product..product + 2`. If the first bit is zero, the shift below doubles this error.
    let lost = product.leading_zeros();
    let product = product << lost;
    let rest = product & ((1 << CUT) - 1);
    if rest + 4 > 1 << CUT || (rest <= HALF && HALF <= rest + 4) {
        return None;
    }
    // 53 bits, or 2^53 after rounding up; the addition below then carries into the exponent, which is correct.
    let rounded = (product >> CUT) as u64 + u64::from(rest > HALF);
    let binary = i64::from(CUT) + 64 - i64::from(lost) - i64::from(shift) - power.scale + exponent;
    // With the powers of the table, the result is always a normal number.
    let biased = u64::try_from(binary + 1023 + 52).ok()?;
    Some(f64::from_bits((biased << 52) + (rounded - (1 << 52))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agrees(mantissa: u64, exponent: i64) -> bool {
        let expected: f64 = format!("{mantissa}e{exponent}").parse().unwrap();
        let actual = nearest(mantissa, exponent);
        assert!(actual.is_none_or(|actual| actual.to_bits() == expected.to_bits()), "{mantissa}e{exponent}");
        actual.is_some()
    }

    #[test]
    fn every_power_of_the_table_agrees_with_the_standard_library() {
        for exponent in FIRST - 2..=LAST + 2 {
            for mantissa in
                [1, 2, 3, 7, 9_007_199_254_740_993, 123_456_789_012_345_678, u64::MAX, u64::MAX - 1]
            {
                let converted = agrees(mantissa, exponent);
                assert!(!converted || (FIRST..=LAST).contains(&exponent));
            }
        }
        assert_eq!(nearest(0, 3), Some(0.0));
        assert_eq!(nearest(0, 300), Some(0.0));
    }

    #[test]
    fn a_value_halfway_between_two_floats_is_not_decided() {
        // 2^53 + 1 is halfway between two floats.
        assert_eq!(nearest(9_007_199_254_740_993, 0), None);
        assert_eq!(nearest(90_071_992_547_409_930, -1), None);
    }

    #[test]
    fn nearly_all_numbers_are_converted() {
        let mut state = 1_u64;
        let converted = (0..20_000).filter(|index| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            agrees(state, index % 40 - 20)
        });
        assert!(converted.count() > 19_500);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn random_numbers_agree_with_the_standard_library(mantissa: u64, shift in 0_u32..64, exponent in FIRST..=LAST) {
            agrees(mantissa >> shift, exponent);
        }
    }
}
