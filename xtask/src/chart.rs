//! Drawings with a logarithmic axis: lanes with labels and marks. Colours are classes of the page's style sheet.

use std::fmt::Write;

const WIDTH: f64 = 400.0;
const MARGIN: f64 = 16.0;
const TOP: f64 = 24.0;
/// Height of the axis with its labels.
const BOTTOM: f64 = 40.0;
const RADIUS: f64 = 4.0;
/// Height of a lane's label above its marks.
const LABEL: f64 = 19.0;
/// Maximum length of a label; longer ones would exceed the drawing.
const LONGEST: usize = 56;
/// Maximum number of axis labels that do not overlap.
const MAX_TICKS: usize = 7;
/// Colours of a drawing as a separate file, for example in a README.
const ALONE: &str = include_str!("chart.css");

/// A value with its CSS class and tooltip.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) class: &'static str,
    pub(crate) value: f64,
    pub(crate) words: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) label: String,
    pub(crate) marks: Vec<Mark>,
}

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    /// Label of a line at the value one, if there is such a line.
    pub(crate) one: Option<&'static str>,
}

/// Maps values from `low` to `high` to coordinates.
#[derive(Clone, Copy, Debug)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// Creates a scale for these values, with some margin at both ends. `None` if no value can be shown.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let shown = values.filter(|value| value.is_finite() && *value > 0.0);
        Some(Self { low: shown.clone().reduce(f64::min)? / 1.25, high: shown.reduce(f64::max)? * 1.25 })
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        MARGIN + share.clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN)
    }

    /// Returns round numbers: 1, 2 and 5 in every decade, or whole decades for a large range.
    fn ticks(&self) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let steps = |steps: &[f64]| -> Vec<f64> {
            let ticks =
                decades.clone().flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
            ticks.filter(|tick| (self.low..=self.high).contains(tick)).collect()
        };
        [[1.0, 2.0, 5.0].as_slice(), &[1.0]]
            .into_iter()
            .map(steps)
            .find(|ticks| ticks.len() <= MAX_TICKS)
            .unwrap_or_else(|| steps(&[1.0]).into_iter().step_by(2).collect())
    }
}

/// Draws lanes below each other. `title` is the accessible description. `None` if no value can be shown.
pub(crate) fn draw(
    title: &str,
    lanes: &[Lane],
    axis: &Axis,
    format: impl Fn(f64) -> String,
) -> Option<String> {
    let values = lanes.iter().flat_map(|lane| &lane.marks).map(|mark| mark.value);
    let scale = Scale::of(values.clone().chain(values.clone().next().and(axis.one).map(|_| 1.0)))?;
    let mut body = String::new();
    let mut top = TOP;
    for lane in lanes {
        let places = stacked(&lane.marks, &scale);
        let deepest = places.iter().map(|place| place.1).fold(0.0, f64::max);
        line(&mut body, "grid", (MARGIN, top), (WIDTH - MARGIN, top));
        let label: String = match lane.label.chars().count() > LONGEST {
            true => lane.label.chars().take(LONGEST - 1).chain(['…']).collect(),
            false => lane.label.clone(),
        };
        text(&mut body, "label", MARGIN, top + 13.0, &label);
        for (mark, (x, y)) in lane.marks.iter().zip(places) {
            let (class, y) = (mark.class, top + LABEL + RADIUS + y);
            let _ = writeln!(
                body,
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"><title>{}</title></circle>",
                escaped(&mark.words)
            );
        }
        top += LABEL + deepest + 4.0 * RADIUS;
    }
    let mut grid = String::new();
    for tick in scale.ticks() {
        let x = scale.place(tick);
        line(&mut grid, "grid", (x, TOP), (x, top));
        text(&mut grid, "tick", x, top + 14.0, &format(tick));
    }
    if let Some(label) = axis.one {
        let x = scale.place(1.0);
        line(&mut grid, "one", (x, TOP - 6.0), (x, top));
        text(&mut grid, "tick", x, TOP - 10.0, label);
    }
    text(&mut grid, "tick", WIDTH / 2.0, top + 31.0, &axis.label);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {:.0}\" role=\"img\" \
         aria-label=\"{}\">\n{grid}{body}</svg>\n",
        top + BOTTOM,
        escaped(title)
    ))
}

/// Adds colours for light and dark mode, for a drawing as a separate file.
pub(crate) fn alone(svg: &str) -> String {
    svg.replacen(">\n", &format!(">\n<style>\n{ALONE}</style>\n"), 1)
}

/// Returns the positions of a lane's marks, stacked where they would overlap.
fn stacked(marks: &[Mark], scale: &Scale) -> Vec<(f64, f64)> {
    let mut places: Vec<(f64, f64)> = Vec::new();
    let step = 2.0 * RADIUS;
    for mark in marks {
        let x = scale.place(mark.value);
        let is_free =
            |y: &f64| !places.iter().any(|(px, py)| (px - x).abs() < step && (py - y).abs() < step / 2.0);
        let y = (0..).map(|row| f64::from(row) * step).find(is_free).unwrap_or_default();
        places.push((x, y));
    }
    places
}

fn text(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
}

fn line(out: &mut String, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(
        out,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

/// Escapes text for content and quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(value: f64) -> Mark {
        Mark { class: "ours", value, words: "a<b".to_owned() }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale { low: 18.0, high: 120.0 }.ticks(), [20.0, 50.0, 100.0]);
        assert_eq!(Scale { low: 15.0, high: 2e6 }.ticks().len(), 5);
        assert!(Scale { low: 1.0, high: 1e12 }.ticks().len() <= MAX_TICKS);
    }

    #[test]
    fn positions_are_logarithmic_and_in_bounds() {
        let scale = Scale { low: 1.0, high: 100.0 };
        assert!((scale.place(10.0) - WIDTH / 2.0).abs() < 1e-9);
        assert_eq!((scale.place(1e-3), scale.place(1e9)), (MARGIN, WIDTH - MARGIN));
        let places = stacked(&[mark(2.0), mark(2.0), mark(50.0)], &scale);
        assert_eq!(places.iter().map(|place| place.1).collect::<Vec<_>>(), [0.0, 2.0 * RADIUS, 0.0]);
    }

    #[test]
    fn drawings_are_escaped_and_have_colours_of_their_own() {
        let axis = Axis { label: "time".to_owned(), one: Some("even") };
        let lanes = [Lane { label: "long ".repeat(20), marks: vec![mark(3.0), mark(0.2)] }];
        let svg = draw("a \"b\"", &lanes, &axis, |value| format!("{value}")).unwrap();
        assert!(svg.contains("a&lt;b") && svg.contains("aria-label=\"a &quot;b&quot;\""), "{svg}");
        assert!(svg.contains("class=\"one\"") && svg.contains('…') && !svg.contains("<style>"));
        assert!(alone(&svg).contains("prefers-color-scheme: dark"));
        assert_eq!(draw("", &[], &axis, |value| format!("{value}")), None, "nothing to show");
    }
}
