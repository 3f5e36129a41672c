//! Drawings as SVG: ratios of many rows, and lines over size or time. Colours are classes of the style sheet.

use std::fmt::Write;

use crate::quantity;
use crate::table::cut;

/// Width of a drawing. It is shown at this size on a phone and up to twice as wide on a desktop screen.
const WIDTH: f64 = 360.0;
/// Style sheet to embed in a drawing that is a separate file.
const ALONE: &str = include_str!("chart.css");
/// Ratios at the left and the right edge; others are drawn there.
const EDGES: (f64, f64) = (0.25, 32.0);
const RADIUS: f64 = 2.2;
/// Heights of a heading, of a row with a name, and of a lane of dots.
const HEADING: f64 = 17.0;
const ROW: f64 = 13.0;
const LANE: f64 = 5.5;
/// Characters that fit into a line.
const MAX_HEADING: usize = 43;
/// Maximum width of a character of a row.
const CHARACTER: f64 = 6.1;

/// The result of one row.
#[derive(Clone, Debug)]
pub(crate) struct Dot {
    /// Row and class with the other implementation.
    pub(crate) label: String,
    /// Row with the other implementation.
    pub(crate) short: String,
    pub(crate) low: f64,
    pub(crate) value: f64,
    pub(crate) high: f64,
    /// CSS class: the label of the outcome.
    pub(crate) class: &'static str,
}

/// Rows with a common heading.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    pub(crate) title: String,
    /// Text at the end of the heading.
    pub(crate) note: String,
    pub(crate) dots: Vec<Dot>,
}

/// Draws ratios with their intervals on a common logarithmic scale: the dots of `named`, with their labels, above the
/// strips. `None` without strips.
pub(crate) fn ratios(title: &str, named: &Strip, strips: &[Strip]) -> Option<String> {
    if strips.is_empty() {
        return None;
    }
    let mut body = String::new();
    let mut top = legend(&mut body);
    if !named.dots.is_empty() {
        heading(&mut body, named, &mut top);
        for dot in &named.dots {
            draw(&mut body, dot, top + ROW / 2.0);
            let right = x(1.0).max(x(dot.high)) + 6.0;
            let room = ((WIDTH - right) / CHARACTER) as usize;
            let value = quantity::ratio(dot.value);
            text(&mut body, "row", right, top + 10.0, &cut(&format!("{value} {}", dot.short), room));
            top += ROW;
        }
    }
    for strip in strips {
        heading(&mut body, strip, &mut top);
        let mut dots: Vec<&Dot> = strip.dots.iter().collect();
        dots.sort_by(|a, b| a.value.total_cmp(&b.value));
        // Each dot is in the first lane in which it covers no other.
        let mut lanes: Vec<f64> = Vec::new();
        for dot in dots {
            let (left, right) =
                (x(dot.low).min(x(dot.value) - RADIUS), x(dot.high).max(x(dot.value) + RADIUS));
            let lane = lanes.iter().position(|end| *end + 1.0 < left).unwrap_or(lanes.len());
            if lane == lanes.len() {
                lanes.push(right);
            }
            lanes[lane] = right;
            draw(&mut body, dot, top + LANE * (lane as f64 + 0.5));
        }
        top += LANE * lanes.len() as f64;
    }
    let mut grid = String::new();
    for power in -2..=5 {
        let ratio = 2_f64.powi(power);
        let class = if power == 0 { "one" } else { "grid" };
        line(&mut grid, class, (x(ratio), 30.0), (x(ratio), top + 4.0));
        for y in [27.0, top + 14.0] {
            text(&mut grid, "note middle", x(ratio), y, &format!("{ratio}x"));
        }
    }
    Some(drawing(title, top + 20.0, &(grid + &body)))
}

/// Returns the place of a ratio.
fn x(ratio: f64) -> f64 {
    let (low, high) = EDGES;
    let part = (ratio.clamp(low, high) / low).ln() / (high / low).ln();
    14.0 + (WIDTH - 28.0) * part
}

fn legend(body: &mut String) -> f64 {
    let mut left = 6.0;
    for class in ["slower", "even", "faster", "undecided", "rough"] {
        let _ = writeln!(body, "<circle class=\"{class}\" cx=\"{left:.1}\" cy=\"9\" r=\"{RADIUS}\"/>");
        text(body, "note", left + 5.0, 12.5, class);
        left += 16.0 + CHARACTER * class.len() as f64;
    }
    text(body, "note end", WIDTH - 4.0, 12.5, "median");
    30.0
}

fn heading(body: &mut String, strip: &Strip, top: &mut f64) {
    *top += HEADING;
    text(body, "label", 4.0, *top - 4.0, &cut(&strip.title, MAX_HEADING));
    text(body, "note end", WIDTH - 4.0, *top - 4.0, &strip.note);
}

fn draw(body: &mut String, dot: &Dot, y: f64) {
    if dot.class != "rough" {
        line(body, dot.class, (x(dot.low), y), (x(dot.high), y));
    }
    let _ = writeln!(
        body,
        "<circle class=\"{}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"><title>{}: {} ({} to {})</title></circle>",
        dot.class,
        x(dot.value),
        escaped(&dot.label),
        quantity::ratio(dot.value),
        quantity::ratio(dot.low),
        quantity::ratio(dot.high),
    );
}

/// One of several drawings of lines.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Text below the title.
    pub(crate) note: String,
    /// Labels of the first and the last position.
    pub(crate) ends: (String, String),
    /// Points with positions from 0 to 1, by CSS class (`ours` or `other`).
    pub(crate) series: Vec<(&'static str, Vec<(f64, f64)>)>,
    /// Formats a value.
    pub(crate) format: fn(f64) -> String,
}

/// Draws panels of lines, two beside each other, with vertical axes that begin at zero. `None` if there are none.
pub(crate) fn lines(title: &str, panels: &[Panel]) -> Option<String> {
    const HEIGHT: f64 = 70.0;
    const REST: f64 = 54.0;
    let width = WIDTH / 2.0 - 12.0;
    let mut body = String::new();
    for (index, panel) in panels.iter().enumerate() {
        let (left, top) = (8.0 + (index % 2) as f64 * (width + 8.0), (index / 2) as f64 * (HEIGHT + REST));
        let values = panel.series.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
        let high = values.reduce(f64::max)?.max(f64::MIN_POSITIVE) * 1.05;
        let place = |(x, value): (f64, f64)| (left + width * x, top + 30.0 + HEIGHT * (1.0 - value / high));
        text(&mut body, "label", left, top + 12.0, &cut(&panel.title, 24));
        for mark in [0.0, high / 1.05] {
            line(&mut body, "grid", place((0.0, mark)), place((1.0, mark)));
        }
        text(&mut body, "note", left, top + 24.0, &cut(&panel.note, 18));
        text(&mut body, "note end", left + width, top + 24.0, &(panel.format)(high / 1.05));
        for (class, points) in &panel.series {
            let points: Vec<(f64, f64)> = points.iter().map(|point| place(*point)).collect();
            let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(body, "<polyline class=\"{class}\" points=\"{}\"/>", path.join(" "));
            for (x, y) in points {
                let _ = writeln!(body, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\"/>");
            }
        }
        text(&mut body, "note", left, top + HEIGHT + 42.0, &panel.ends.0);
        text(&mut body, "note end", left + width, top + HEIGHT + 42.0, &panel.ends.1);
    }
    let rows = panels.len().div_ceil(2) as f64;
    (!panels.is_empty()).then(|| drawing(title, rows * (HEIGHT + REST), &body))
}

fn drawing(title: &str, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" \
         aria-label=\"{}\">\n{body}</svg>\n",
        escaped(title)
    )
}

/// Adds colours for light and dark mode, for a drawing as a separate file.
pub(crate) fn alone(svg: &str) -> String {
    svg.replacen(">\n", &format!(">\n<style>\n{ALONE}</style>\n"), 1)
}

fn line(out: &mut String, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(
        out,
        "<line class=\"{class}\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn text(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
}

/// Escapes text for content and quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(value: f64) -> Dot {
        Dot {
            label: "c".to_owned(),
            short: "a<b".to_owned(),
            low: value * 0.99,
            value,
            high: value * 1.01,
            class: "faster",
        }
    }

    #[test]
    fn dots_are_on_a_logarithmic_scale_without_overlap() {
        assert!((x(0.5) - x(0.25) - (x(32.0) - x(16.0))).abs() < 1e-9);
        assert_eq!((x(0.1), x(4525.0)), (x(0.25), x(32.0)), "others are at the edges");
        let strip = |dots| Strip { title: "t".to_owned(), note: "n".to_owned(), dots };
        let svg =
            ratios("a \"b\"", &strip(vec![dot(0.5)]), &[strip(vec![dot(2.0), dot(2.0), dot(8.0)])]).unwrap();
        assert!(
            svg.contains("aria-label=\"a &quot;b&quot;\"") && svg.contains(">0.500 a&lt;b</text>"),
            "{svg}"
        );
        let heights: Vec<&str> = svg
            .lines()
            .filter(|line| line.contains("<title>"))
            .map(|line| line.split('"').nth(5).unwrap())
            .collect();
        assert!(
            heights[1] != heights[2] && heights[1] == heights[3],
            "equal ratios are below each other: {heights:?}"
        );
        assert!(!svg.contains("<style>") && alone(&svg).contains("prefers-color-scheme: dark"));
        assert!(ratios("", &strip(vec![]), &[]).is_none());
    }

    #[test]
    fn lines_begin_at_zero() {
        let panel = Panel {
            title: "t".to_owned(),
            note: "n".to_owned(),
            ends: ("a".to_owned(), "b".to_owned()),
            series: vec![("ours", vec![(0.0, 1.5), (1.0, 3.0)])],
            format: quantity::ratio,
        };
        let svg = lines("t", &[panel.clone(), panel]).unwrap();
        assert_eq!((svg.matches("<polyline").count(), svg.matches(">3.00<").count()), (2, 2));
        assert!(lines("t", &[]).is_none());
    }
}
