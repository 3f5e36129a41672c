//! Conversion of `mantissa * 10^exponent` to the nearest `f64`, measured by the benchmark rows
//! `json/canada_*_decode`.
//!
//! The mantissa is multiplied by the upper half of a 128-bit approximation of the power of ten, and by all of it if the
//! product is almost halfway between two floats; then the product is rounded. If the bits that the approximation lacks
//! could change the result, or if the exponent is outside the table, the caller converts
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
#[inline(always)]
pub(super) fn nearest(mantissa: u64, exponent: i64) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let power = POWERS.get(usize::try_from(exponent - FIRST).ok()?)?;
    let shift = mantissa.leading_zeros();
    let factor = mantissa << shift;
    // The upper halves of the power and of the product, which both are truncated: the exact product is in
    // `high..high + 2`.
    let high = ((u128::from(factor) * (power.bits >> 64)) >> 64) as u64;
    let cut = 10 + (high >> 63) as u32;
    let (rest, half) = (high & ((1 << cut) - 1), 1 << (cut - 1));
    let up = if rest.wrapping_sub(half - 1) > 1 { rest > half } else { is_above_half(factor, power)? };
    // 53 bits, or 2^53 after rounding up; the addition below then carries into the exponent, which is correct.
    let rounded = (high >> cut) + u64::from(up);
    let binary = i64::from(cut) + 128 - i64::from(shift) - power.scale + exponent;
    // With the powers of the table, the result is always a normal number.
    let biased = u64::try_from(binary + 1023 + 52).ok()?;
    Some(f64::from_bits((biased << 52) + (rounded - (1 << 52))))
}

/// Returns whether a product is nearer to the float above it than to the one below, if it is almost halfway between them.
#[cold]
#[inline(never)]
fn is_above_half(factor: u64, power: &Power) -> Option<bool> {
    /// Bits of the product that do not fit into the mantissa of a float.
    const CUT: u32 = 128 - 53;
    const HALF: u128 = 1 << (CUT - 1);

    let factor = u128::from(factor);
    let low = factor * (power.bits & u128::from(u64::MAX));
    let product = factor * (power.bits >> 64) + (low >> 64);
    // Truncating the power and `low` makes the product too small by less than one each: the exact product is in
    // `product..product + 2`. If the first bit is zero, the shift below doubles this error.
    let rest = product << product.leading_zeros() & ((1 << CUT) - 1);
    (rest > HALF || rest + 4 < HALF).then_some(rest > HALF)
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
