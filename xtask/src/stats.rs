//! Statistics of the reports.

/// Returns the median; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(crate) fn minimum(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

pub(crate) fn maximum(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

/// Returns the geometric mean, in which ratios of 2 and 1/2 cancel out.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_is_nothing() {
        assert_eq!((median(&[]), mean(&[]), geometric_mean(&[]), minimum(&[])), (None, None, None, None));
    }

    #[test]
    fn of_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((minimum(&[2.0, 1.0]), maximum(&[2.0, 1.0])), (Some(1.0), Some(2.0)));
        assert!((geometric_mean(&[2.0, 0.5, 8.0]).unwrap() - 2.0).abs() < 1e-12);
    }
}
