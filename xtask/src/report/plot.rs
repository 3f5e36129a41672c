//! SVG plots. Colours are CSS variables of the page, so that one drawing serves light and dark.

use anyhow::{Result, anyhow};
use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::*;

use super::{Role, Row, units};

const WIDTH: u32 = 440;
/// Height of one entry: its text above its mark.
const ENTRY: u32 = 38;
const TITLE: u32 = 34;
const AXIS: u32 = 52;
/// More labels would touch each other.
const MAX_TICKS: usize = 7;
const FONT: &str = "sans-serif";

/// Stand-ins for CSS variables: plotters draws in fixed colours, which are replaced in its output.
const INK: RGBColor = RGBColor(1, 2, 1);
const GRID: RGBColor = RGBColor(1, 2, 2);
const OURS: RGBColor = RGBColor(1, 2, 3);
const PEER: RGBColor = RGBColor(1, 2, 4);
const ORIGINAL: RGBColor = RGBColor(1, 2, 5);
const LIMIT: RGBColor = RGBColor(1, 2, 6);
const VARIABLES: [(RGBColor, &str); 6] =
    [(INK, "ink"), (GRID, "grid"), (OURS, "ours"), (PEER, "peer"), (ORIGINAL, "original"), (LIMIT, "limit")];

/// One mark with its range.
#[derive(Debug)]
struct Entry {
    label: String,
    value: f64,
    low: f64,
    high: f64,
    colour: RGBColor,
}

/// The times of all implementations of one row; `None` where nothing was timed.
pub(crate) fn times(rows: &[&Row]) -> Option<Result<String>> {
    let mut entries: Vec<Entry> = rows
        .iter()
        .filter_map(|row| {
            let time = row.time_ns.as_ref()?;
            let mark = if row.role == Role::Ours { "ours: " } else { "" };
            let once = if time.sampled { "" } else { " (once)" };
            Some(Entry {
                label: format!("{mark}{}, {}{once}", row.implementation, units::time(time.min)),
                value: time.min,
                low: time.min,
                high: time.max,
                colour: colour(row.role),
            })
        })
        .collect();
    entries.sort_by(|a, b| a.value.total_cmp(&b.value));
    let title = format!("{}: time per operation", rows.first()?.key());
    (!entries.is_empty()).then(|| {
        draw(&title, "time per operation (log scale), smallest to largest round", &entries, units::time, None)
    })
}

/// The ratios of one variant of ours to the best peer, row by row; `None` where it has none.
pub(crate) fn ratios(variant: &str, rows: &[&Row]) -> Option<Result<String>> {
    let entries: Vec<Entry> = rows
        .iter()
        .filter(|row| row.role == Role::Ours && row.implementation == variant)
        .filter_map(|row| {
            let ratio = row.ratio_vs.as_ref()?.best_peer.as_ref()?;
            Some(Entry {
                label: format!("{}: {}x, {}", row.row, units::ratio(ratio.median), ratio.against),
                value: ratio.median,
                low: ratio.min,
                high: ratio.max,
                colour: if ratio.min > 1.0 { OURS } else { PEER },
            })
        })
        .collect();
    let title = format!("{}: best peer / ours, {variant}", rows.first()?.system);
    let axis = "ratio of times (log scale), above 1 ours is faster";
    (!entries.is_empty()).then(|| draw(&title, axis, &entries, units::ratio, Some(1.0)))
}

fn colour(role: Role) -> RGBColor {
    match role {
        Role::Ours => OURS,
        Role::Peer => PEER,
        Role::Original | Role::OriginalStandin => ORIGINAL,
        Role::Limit => LIMIT,
    }
}

/// Draws entries from top to bottom on a logarithmic axis.
fn draw(
    title: &str,
    axis: &str,
    entries: &[Entry],
    format: fn(f64) -> String,
    reference: Option<f64>,
) -> Result<String> {
    let mut svg = String::new();
    draw_into(&mut svg, title, axis, entries, format, reference)
        .map_err(|error| anyhow!("cannot draw {title}: {error}"))?;
    for (colour, variable) in VARIABLES {
        let RGBColor(red, green, blue) = colour;
        svg = svg.replace(&format!("#{red:02X}{green:02X}{blue:02X}"), &format!("var(--{variable})"));
    }
    // The caption beside the drawing carries the title for readers of the page's structure.
    Ok(svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{}\" ", super::html::escaped(title)),
        1,
    ))
}

fn draw_into(
    svg: &mut String,
    title: &str,
    axis: &str,
    entries: &[Entry],
    format: fn(f64) -> String,
    reference: Option<f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let lows = entries.iter().map(|entry| entry.low).chain(reference);
    let highs = entries.iter().map(|entry| entry.high).chain(reference);
    let (low, high) = (lows.fold(f64::INFINITY, f64::min) / 1.3, highs.fold(0.0, f64::max) * 1.3);
    let count = u32::try_from(entries.len())?;
    let root = SVGBackend::with_string(svg, (WIDTH, TITLE + ENTRY * count + AXIS)).into_drawing_area();
    let text = |size: i32| (FONT, size).into_font().color(&INK);
    let mut chart = ChartBuilder::on(&root)
        .margin_left(12)
        .margin_right(12)
        .caption(title, text(15))
        .x_label_area_size(AXIS)
        .build_cartesian_2d(
            (low..high).log_scale().with_key_points(ticks(low, high)),
            0.0..f64::from(count),
        )?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_labels(MAX_TICKS)
        .x_label_formatter(&|value| format(*value))
        .x_desc(axis)
        .label_style(text(12))
        .axis_desc_style(text(12))
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .draw()?;
    if let Some(reference) = reference {
        let line = vec![(reference, 0.0), (reference, f64::from(count))];
        chart.draw_series([PathElement::new(line, INK.stroke_width(1))])?;
    }
    for (index, entry) in (0_u32..).zip(entries) {
        // The vertical axis grows upwards, and entries are read downwards.
        let top = f64::from(count - index);
        chart.draw_series([Text::new(entry.label.clone(), (low, top - 0.15), text(13))])?;
        let height = top - 0.72;
        let range = vec![(entry.low, height), (entry.high, height)];
        chart.draw_series([PathElement::new(range, entry.colour.stroke_width(3))])?;
        chart.draw_series([Circle::new((entry.value, height), 5, entry.colour.filled())])?;
    }
    root.present()?;
    Ok(())
}

/// Round numbers from `low` to `high`: 1, 2 and 5 in every decade, or whole decades over a long range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let steps = |steps: &[f64]| -> Vec<f64> {
        decades
            .clone()
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
            .filter(|tick| (low..=high).contains(tick))
            .collect()
    };
    [[1.0, 2.0, 5.0].as_slice(), &[1.0]]
        .into_iter()
        .map(steps)
        .find(|ticks| ticks.len() <= MAX_TICKS)
        .unwrap_or_else(|| steps(&[1.0]).into_iter().step_by(2).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(label: &str, value: f64) -> Entry {
        Entry { label: label.to_owned(), value, low: value, high: value * 1.2, colour: OURS }
    }

    #[test]
    fn a_plot_has_title_labels_units_and_page_colours() {
        let entries = [entry("ours: a < b", 21.0), entry("peer", 11_294.0)];
        let svg = draw("sse/x: time per operation", "time (log scale)", &entries, units::time, None).unwrap();
        for expected in
            ["sse/x: time per operation", "time (log scale)", "ours: a &lt; b", "peer", "var(--ours)", "µs"]
        {
            assert!(svg.contains(expected), "{expected} is missing:\n{svg}");
        }
        assert!(!svg.contains("#0102"), "every colour belongs to the page");
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(18.0, 120.0), [20.0, 50.0, 100.0]);
        assert_eq!(ticks(15.0, 2e6).len(), 5);
        assert_eq!(ticks(0.5, 1.4), [0.5, 1.0]);
        assert!(ticks(1.0, 1e12).len() <= MAX_TICKS);
    }

    #[test]
    fn equal_values_still_make_an_axis() {
        let svg = draw("t", "a", &[entry("one", 1.0)], units::ratio, Some(1.0)).unwrap();
        assert!(svg.contains("one"));
    }
}
