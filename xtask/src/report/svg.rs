//! Elements shared by all drawings: a logarithmic axis, text, and marks. Colours are classes of the page's style sheet.

use std::fmt::Write;

use super::html::escaped;

/// Maximum number of axis labels that do not overlap.
const MAX_TICKS: usize = 7;

/// Maps values from `low` to `high` to coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

impl Scale {
    /// Creates a scale for these values, with some margin at both ends. `None` if no value can be shown.
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone, left: f64, right: f64) -> Option<Self> {
        let shown = values.filter(|value| value.is_finite() && *value > 0.0);
        let low = shown.clone().reduce(f64::min)? / 1.25;
        let high = shown.reduce(f64::max)? * 1.25;
        Some(Self { low, high, left, right })
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// Returns round numbers: 1, 2 and 5 in every decade, or whole decades for a large range.
    fn ticks(&self) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let steps = |steps: &[f64]| -> Vec<f64> {
            decades
                .clone()
                .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
                .filter(|tick| (self.low..=self.high).contains(tick))
                .collect()
        };
        [[1.0, 2.0, 5.0].as_slice(), &[1.0]]
            .into_iter()
            .map(steps)
            .find(|ticks| ticks.len() <= MAX_TICKS)
            .unwrap_or_else(|| steps(&[1.0]).into_iter().step_by(2).collect())
    }
}

/// A drawing under construction.
#[derive(Debug)]
pub(super) struct Drawing {
    body: String,
    width: f64,
    height: f64,
    label: String,
}

impl Drawing {
    /// `label` is the accessible description.
    pub(super) fn new(label: &str, width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height, label: label.to_owned() }
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.add(format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text)));
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// Draws a mark with a tooltip.
    pub(super) fn mark(&mut self, class: &str, x: f64, y: f64, radius: f64, words: &str) {
        self.add(format_args!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            escaped(words)
        ));
    }

    /// Draws grid lines from `top` to `bottom` with their values below.
    pub(super) fn axis(&mut self, scale: &Scale, top: f64, bottom: f64, format: impl Fn(f64) -> String) {
        for tick in scale.ticks() {
            let x = scale.place(tick);
            self.line("grid", (x, top), (x, bottom));
            self.text("tick", x, bottom + 14.0, &format(tick));
        }
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{element}");
    }

    pub(super) fn finish(self) -> String {
        let Self { body, width, height, label } = self;
        let label = escaped(&label);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{label}\">\n{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(low: f64, high: f64) -> Scale {
        Scale::of([low * 1.25, high / 1.25].into_iter(), 0.0, 100.0).unwrap()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(scale(18.0, 120.0).ticks(), [20.0, 50.0, 100.0]);
        assert_eq!(scale(15.0, 2e6).ticks().len(), 5);
        assert!(scale(1.0, 1e12).ticks().len() <= MAX_TICKS);
    }

    #[test]
    fn positions_are_logarithmic_and_in_bounds() {
        let scale = scale(1.0, 100.0);
        assert!((scale.place(10.0) - 50.0).abs() < 1e-9);
        assert_eq!((scale.place(1e-3), scale.place(1e9)), (0.0, 100.0));
        assert!(Scale::of([0.0, f64::NAN].into_iter(), 0.0, 1.0).is_none(), "nothing to show");
        assert!(Scale::of([7.0].into_iter(), 0.0, 1.0).is_some(), "a single value makes an axis");
    }

    #[test]
    fn labels_are_escaped() {
        let mut drawing = Drawing::new("a \"b\"", 10.0, 10.0);
        drawing.mark("ours", 1.0, 2.0, 3.0, "a<b");
        let svg = drawing.finish();
        assert!(svg.contains("a&lt;b") && svg.contains("aria-label=\"a &quot;b&quot;\""), "{svg}");
    }
}
