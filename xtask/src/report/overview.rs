//! Overview of all ratios in one drawing: a lane per suite, a mark per row.

use super::svg::{Drawing, Scale};
use super::{Ratio, Report, Standing, units};
use crate::join::Outcome;
use crate::stats::geometric_mean;

const WIDTH: f64 = 400.0;
const MARGIN: f64 = 16.0;
const TOP: f64 = 24.0;
const AXIS: f64 = 40.0;
const RADIUS: f64 = 3.6;
/// Height of a lane's title above its marks.
const NAME: f64 = 19.0;
/// Colours of the drawing as a separate file, for example in a README.
const ALONE: &str = include_str!("overview.css");

/// Draws the overview for the page. `None` if no row has a peer.
pub(crate) fn draw(report: &Report) -> Option<String> {
    let rows: Vec<(&Standing, &Ratio)> = report
        .overview
        .standings
        .iter()
        .filter_map(|standing| Some((standing, standing.ratio.as_ref()?)))
        .collect();
    let scale = Scale::of(rows.iter().map(|(_, ratio)| ratio.median).chain([1.0]), MARGIN, WIDTH - MARGIN)?;
    (!rows.is_empty()).then(|| {
        let mut lanes: Vec<(&str, Vec<(&Standing, &Ratio)>)> = Vec::new();
        for row in rows {
            let suite = row.0.key.split('/').next().unwrap_or_default();
            match lanes.iter_mut().find(|(name, _)| *name == suite) {
                Some((_, rows)) => rows.push(row),
                None => lanes.push((suite, vec![row])),
            }
        }
        drawing(&lanes, &scale)
    })
}

/// Draws the overview as a separate file with its own colours, for light and dark mode.
pub(crate) fn draw_alone(report: &Report) -> Option<String> {
    Some(draw(report)?.replacen(">\n", &format!(">\n<style>\n{ALONE}</style>\n"), 1))
}

fn drawing(lanes: &[(&str, Vec<(&Standing, &Ratio)>)], scale: &Scale) -> String {
    let stacked: Vec<Vec<(f64, f64, &Standing, &Ratio)>> =
        lanes.iter().map(|(_, rows)| stack(rows, scale)).collect();
    let deepest =
        |marks: &[(f64, f64, &Standing, &Ratio)]| marks.iter().map(|mark| mark.1).fold(0.0, f64::max);
    let heights: Vec<f64> = stacked.iter().map(|marks| NAME + deepest(marks) + 4.0 * RADIUS).collect();
    let bottom = TOP + heights.iter().sum::<f64>();
    let mut drawing =
        Drawing::new("Ratios of the strongest other's time to ours, row by row", WIDTH, bottom + AXIS);
    drawing.axis(scale, TOP, bottom, |ratio| format!("{}x", units::tick(ratio)));
    let one = scale.place(1.0);
    drawing.line("one", (one, TOP - 6.0), (one, bottom));
    drawing.text("tick", one, TOP - 10.0, "as fast as the strongest other");
    let mut top = TOP;
    for (((name, rows), marks), height) in lanes.iter().zip(&stacked).zip(&heights) {
        let ratios: Vec<f64> = rows.iter().map(|(_, ratio)| ratio.median).collect();
        let mean = geometric_mean(&ratios).map_or_else(String::new, units::ratio);
        let count = if rows.len() == 1 { "1 row".to_owned() } else { format!("{} rows", rows.len()) };
        drawing.line("grid", (MARGIN, top), (WIDTH - MARGIN, top));
        drawing.text("label", MARGIN, top + 13.0, &format!("{name}: {count}, geometric mean {mean}x"));
        for (x, y, standing, ratio) in marks {
            let class = match Outcome::of(ratio) {
                Outcome::Faster => "ours",
                Outcome::Slower => "peer",
                Outcome::Even | Outcome::Undecided => "limit",
            };
            let words = format!("{}: {}x, {}", standing.key, units::ratio(ratio.median), ratio.against);
            drawing.mark(class, *x, top + NAME + RADIUS + y, RADIUS, &words);
        }
        top += height;
    }
    drawing.text(
        "tick",
        WIDTH / 2.0,
        bottom + 31.0,
        "strongest other's time / ours: right of the line ours is faster",
    );
    drawing.finish()
}

/// Returns the positions of a lane's marks, stacked where they would overlap.
fn stack<'r>(rows: &[(&'r Standing, &'r Ratio)], scale: &Scale) -> Vec<(f64, f64, &'r Standing, &'r Ratio)> {
    let mut placed: Vec<(f64, f64, &Standing, &Ratio)> = Vec::new();
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    let step = 2.0 * RADIUS;
    for (standing, ratio) in sorted {
        let x = scale.place(ratio.median);
        let is_free =
            |y: &f64| !placed.iter().any(|(px, py, ..)| (px - x).abs() < step && (py - y).abs() < step / 2.0);
        let y = (0..).map(|row| f64::from(row) * step).find(is_free).unwrap_or_default();
        placed.push((x, y, standing, ratio));
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn every_ratio_has_a_mark_in_its_lane() {
        let svg = draw(&fixture::report()).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("sse: 1 row, geometric mean 2.00x"), "{svg}");
        assert!(svg.contains("client/client_do_simple: 0.95x, reqwest"), "{svg}");
        assert!(svg.contains("class=\"peer\"") && svg.contains("class=\"one\""));
    }

    #[test]
    fn separate_file_defines_its_colours() {
        let svg = draw_alone(&fixture::report()).unwrap();
        assert!(svg.contains("prefers-color-scheme: dark") && svg.matches("<style>").count() == 1);
        assert!(draw_alone(&Report::empty()).is_none());
    }

    #[test]
    fn marks_do_not_overlap() {
        let report = fixture::report();
        let row = &report.overview.standings[0];
        let rows: Vec<_> = (0..5).map(|_| (row, row.ratio.as_ref().unwrap())).collect();
        let scale = Scale::of([1.0, 4.0].into_iter(), 0.0, 100.0).unwrap();
        let places = stack(&rows, &scale);
        assert!(
            places
                .iter()
                .enumerate()
                .all(|(index, one)| places[index + 1..].iter().all(|two| one.1 != two.1))
        );
    }
}
