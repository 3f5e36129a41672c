//! Decimal to binary: the nearest `f64` of `mantissa * 10^exponent`.
//!
//! The mantissa is multiplied by the power of ten as a number of 128 bits, and the product is rounded unless the
//! bits that are missing could change the result. That test makes a proof for each power unnecessary: whatever is
//! near the middle between two floats, and whatever lies beyond the table, is left to the standard library.

/// The powers of five in the table: their reciprocals take no more than 128 bits in the divisions below, and the
/// powers themselves are exact.
const FIRST: i64 = -54;
const LAST: i64 = 55;
const COUNT: usize = (LAST - FIRST + 1) as usize;

/// `5^exponent` as `bits / 2^scale`: the bits are cut off after 128, the first of which is one.
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

/// The first 128 bits of `1 / divisor`, by long division.
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

/// The float next to `mantissa * 10^exponent`, or `None` if this needs more than 128 bits.
#[inline]
pub(super) fn nearest(mantissa: u64, exponent: i64) -> Option<f64> {
    /// Bits that a float cannot hold.
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
    // Cutting off the power and cutting off `low` make the product too small by less than one each, so that the true
    // one lies in `product..product + 2`. Its first bit may be zero; then that is twice as much behind the shift.
    let lost = product.leading_zeros();
    let product = product << lost;
    let rest = product & ((1 << CUT) - 1);
    if rest + 4 > 1 << CUT || (rest <= HALF && HALF <= rest + 4) {
        return None;
    }
    // 53 bits, or 2^53 after rounding up: the carry then goes into the exponent, as it should.
    let rounded = (product >> CUT) as u64 + u64::from(rest > HALF);
    let binary = i64::from(CUT) + 64 - i64::from(lost) - i64::from(shift) - power.scale + exponent;
    // With these powers the exponent is that of a normal number.
    let biased = u64::try_from(binary + 1023 + 52).ok()?;
    Some(f64::from_bits((biased << 52) + (rounded - (1 << 52))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agrees(mantissa: u64, exponent: i64) -> bool {
        let expected: f64 = format!("{mantissa}e{exponent}").parse().unwrap();
        let found = nearest(mantissa, exponent);
        assert!(found.is_none_or(|found| found.to_bits() == expected.to_bits()), "{mantissa}e{exponent}");
        found.is_some()
    }

    #[test]
    fn every_power() {
        for exponent in FIRST - 2..=LAST + 2 {
            for mantissa in
                [1, 2, 3, 7, 9_007_199_254_740_993, 123_456_789_012_345_678, u64::MAX, u64::MAX - 1]
            {
                let found = agrees(mantissa, exponent);
                assert!(!found || (FIRST..=LAST).contains(&exponent));
            }
        }
        assert_eq!(nearest(0, 3), Some(0.0));
        assert_eq!(nearest(0, 300), Some(0.0));
    }

    #[test]
    fn the_middle_is_left_to_others() {
        // 2^53 + 1 is halfway between two floats.
        assert_eq!(nearest(9_007_199_254_740_993, 0), None);
        assert_eq!(nearest(90_071_992_547_409_930, -1), None);
    }

    #[test]
    fn hardly_anything_is_left_over() {
        let mut state = 1_u64;
        let done = (0..20_000).filter(|index| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            agrees(state, index % 40 - 20)
        });
        assert!(done.count() > 19_500);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn equals_the_standard_library(mantissa: u64, shift in 0_u32..64, exponent in FIRST..=LAST) {
            agrees(mantissa >> shift, exponent);
        }
    }
}
