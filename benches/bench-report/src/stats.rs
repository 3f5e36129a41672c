//! Statistics of the reports.

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Returns the median; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Returns a confidence interval of the median, of at least 95 % if there are six values or more, otherwise the range.
///
/// The bounds are two of the values: the median lies between the k-th smallest and the k-th largest one, unless at
/// least n - k + 1 of n values are on the same side of it, which a binomial distribution describes. With ten values, the
/// bounds are the second smallest and the second largest one, and the confidence is 97.9 %.
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    let count = sorted.len();
    let mut left_out = 0;
    // Probability that at most `left_out` values are below the median.
    let mut term = 0.5_f64.powi(i32::try_from(count).ok()?);
    let mut probability = term;
    while 2 * (left_out + 1) < count {
        term *= (count - left_out) as f64 / (left_out + 1) as f64;
        probability += term;
        if 2.0 * probability > 0.05 {
            break;
        }
        left_out += 1;
    }
    Some((*sorted.get(left_out)?, *sorted.get(count - 1 - left_out)?))
}

/// Returns the smallest and the largest value; `None` without values.
pub fn bounds(values: &[f64]) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    sorted.first().copied().zip(sorted.last().copied())
}

/// Rounds to four significant digits, which is more than a time has.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_is_nothing() {
        assert_eq!((median(&[]), interval(&[]), bounds(&[])), (None, None, None));
    }

    #[test]
    fn of_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(bounds(&[2.0, 1.0, 1.5]), Some((1.0, 2.0)));
    }

    #[test]
    fn intervals_leave_out_as_many_values_as_the_confidence_allows() {
        let values = |count: u32| (1..=count).map(f64::from).collect::<Vec<_>>();
        assert_eq!(interval(&values(1)), Some((1.0, 1.0)));
        assert_eq!(interval(&values(5)), Some((1.0, 5.0)));
        assert_eq!(interval(&values(8)), Some((1.0, 8.0)), "0.8 % at most");
        assert_eq!(interval(&values(9)), Some((2.0, 8.0)));
        assert_eq!(interval(&values(10)), Some((2.0, 9.0)));
        assert_eq!(interval(&values(20)), Some((6.0, 15.0)));
    }
}
