//! Horizontal bar charts and line charts as SVG. Colours are classes of the style sheet.

use std::fmt::Write;

use crate::quantity;

/// Width of a drawing. It is shown at this size on a phone and twice as wide on a desktop screen.
const WIDTH: f64 = 360.0;
/// Space for the labels of bars, and for the values after them.
const LABELS: f64 = 112.0;
const VALUES: f64 = 56.0;
const BAR: f64 = 12.0;
const STEP: f64 = 17.0;
/// Height of the label of a cluster.
const HEADING: f64 = 22.0;
/// Maximum length of a bar, as a multiple of ours. Longer bars are truncated, and their value shows that.
const LONGEST: f64 = 8.0;
/// Maximum length of a heading; longer ones would exceed the drawing.
const MAX_LABEL: usize = 48;
/// Style sheet to embed in a drawing that is a separate file.
const ALONE: &str = include_str!("chart.css");

#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// CSS class.
    pub(crate) class: &'static str,
    pub(crate) label: String,
    /// Length, as a multiple of ours.
    pub(crate) value: f64,
}

/// Bars with a common heading.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) label: String,
    pub(crate) bars: Vec<Bar>,
}

/// Draws clusters of bars below each other. `None` if there are none. `title` is the accessible description.
pub(crate) fn bars(title: &str, clusters: &[Cluster]) -> Option<String> {
    let values = clusters.iter().flat_map(|cluster| &cluster.bars).map(|bar| bar.value);
    let longest = values.reduce(f64::max)?.min(LONGEST);
    let scale = (WIDTH - LABELS - VALUES) / longest;
    let (mut body, mut top) = (String::new(), STEP);
    text(&mut body, "value", 4.0, BAR, "Time relative to ours; shorter is faster");
    for cluster in clusters {
        top += HEADING;
        text(&mut body, "label", 4.0, top - 7.0, &shortened(&cluster.label));
        for bar in &cluster.bars {
            let is_cut = bar.value > LONGEST;
            let width = bar.value.min(LONGEST) * scale;
            text(&mut body, "name", LABELS - 6.0, top + BAR - 2.0, &bar.label);
            let _ = writeln!(
                body,
                "<rect class=\"{}\" x=\"{LABELS}\" y=\"{top:.0}\" width=\"{width:.1}\" height=\"{BAR}\"/>",
                bar.class
            );
            let value = format!("{}{}x", if is_cut { "» " } else { "" }, quantity::ratio(bar.value));
            text(&mut body, "value", LABELS + width + 4.0, top + BAR - 2.0, &value);
            top += STEP;
        }
    }
    Some(drawing(title, top + 4.0, &body))
}

/// Draws values from left to right, with labels of the first and the last position below. Absent values leave a gap.
pub(crate) fn line(title: &str, values: &[Option<f64>], labels: (&str, &str)) -> Option<String> {
    const HEIGHT: f64 = 96.0;
    let known = || values.iter().flatten().copied();
    let (low, high) = (known().reduce(f64::min)?.min(1.0) * 0.95, known().reduce(f64::max)?.max(1.0) * 1.05);
    let place = |index: usize, value: f64| {
        let x = 36.0 + (WIDTH - 48.0) * index as f64 / (values.len() - 1).max(1) as f64;
        (x, 12.0 + HEIGHT * (1.0 - (value - low) / (high - low)))
    };
    let mut body = String::new();
    for mark in [low / 0.95, 1.0, high / 1.05] {
        let (_, y) = place(0, mark);
        let class = if mark == 1.0 { "one" } else { "grid" };
        let _ =
            writeln!(body, "<line class=\"{class}\" x1=\"36\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        text(&mut body, "name", 32.0, y + 4.0, &format!("{}x", quantity::ratio(mark)));
    }
    let points: Vec<(f64, f64)> =
        values.iter().enumerate().filter_map(|(index, value)| Some(place(index, (*value)?))).collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(body, "<polyline class=\"ours\" points=\"{}\"/>", path.join(" "));
    for (x, y) in points {
        let _ = writeln!(body, "<circle class=\"ours\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
    }
    text(&mut body, "value", 36.0, HEIGHT + 28.0, labels.0);
    text(&mut body, "name", WIDTH, HEIGHT + 28.0, labels.1);
    Some(drawing(title, HEIGHT + 34.0, &body))
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

fn shortened(label: &str) -> String {
    match label.chars().count() > MAX_LABEL {
        true => label.chars().take(MAX_LABEL - 1).chain(['…']).collect(),
        false => label.to_owned(),
    }
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

    #[test]
    fn bars_are_proportional_and_cut_at_the_edge() {
        let bar = |class, value| Bar { class, label: format!("{class}<"), value };
        let clusters = [Cluster {
            label: "long ".repeat(20),
            bars: vec![bar("ours", 1.0), bar("rust", 2.0), bar("python", 80.0)],
        }];
        let svg = bars("a \"b\"", &clusters).unwrap();
        let full = WIDTH - LABELS - VALUES;
        for width in [full / LONGEST, full / LONGEST * 2.0, full] {
            assert!(svg.contains(&format!("width=\"{width:.1}\"")), "{svg}");
        }
        assert!(svg.contains("» 80.0x") && svg.contains("rust&lt;") && svg.contains('…'), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;b&quot;\"") && !svg.contains("<style>"));
        assert!(alone(&svg).contains("prefers-color-scheme: dark"));
        assert!(bars("", &[]).is_none(), "nothing to show");
    }

    #[test]
    fn lines_leave_out_absent_values() {
        let svg = line("t", &[Some(1.5), None, Some(2.0)], ("a", "b")).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains(">1.00x<") && svg.contains(">2.00x<"), "{svg}");
        assert!(line("t", &[None], ("a", "b")).is_none());
    }
}
