//! Lines of plots, as paths of SVG.

use std::fmt::Write as _;

/// The size of a plot in its own units.
pub(super) const WIDTH: f64 = 300.0;
pub(super) const HEIGHT: f64 = 80.0;

/// A line through points: how far from the left, and how high, from 0 to 1. It has a gap where there is no height.
pub(super) fn path(points: &[(f64, Option<f64>)]) -> String {
    let mut out = String::new();
    let mut is_drawing = false;
    for (x, y) in points {
        let Some(y) = y else {
            is_drawing = false;
            continue;
        };
        let (x, y) = (x.clamp(0.0, 1.0) * WIDTH, (1.0 - y.clamp(0.0, 1.0)) * HEIGHT);
        if !is_drawing {
            // A point alone is a line to itself.
            let _ = write!(out, "M{x:.1} {y:.1}");
        }
        let _ = write!(out, "L{x:.1} {y:.1}");
        is_drawing = true;
    }
    out
}

/// The height of a time on a scale where each power of ten is as high as the next.
pub(super) fn logarithmic(value: f64, bottom: f64, top: f64) -> f64 {
    (value.max(bottom) / bottom).log10() / (top / bottom).log10()
}

/// The first power of ten that is not less.
pub(super) fn power_of_ten(value: f64) -> f64 {
    10_f64.powf(value.log10().ceil())
}

/// The first power of two that is not less.
pub(super) fn power_of_two(value: f64) -> f64 {
    value.log2().ceil().exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_gaps() {
        let points = [(0.0, Some(0.0)), (0.25, Some(1.0)), (0.5, None), (0.75, Some(0.5)), (2.0, None)];
        assert_eq!(path(&points), "M0.0 80.0L0.0 80.0L75.0 0.0M225.0 40.0L225.0 40.0");
        assert_eq!(path(&[]), "");
    }

    #[test]
    fn scales_end_above_their_values() {
        assert!((power_of_ten(0.02) - 0.1).abs() < 1e-9 && (power_of_two(5.0) - 8.0).abs() < 1e-9);
        assert!((logarithmic(0.001, 0.00001, 0.1) - 0.5).abs() < 1e-9);
        assert!(logarithmic(0.0, 0.00001, 0.1).abs() < 1e-9);
    }
}
