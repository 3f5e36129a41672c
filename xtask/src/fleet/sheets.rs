//! Tables of the report.

use super::estimate::{BUILD_EVERY_S, BUILDERS, FULL, MISSES, PACKAGES, PEAK};
use super::outcome::Outcome;
use crate::load::table::{memory, time};
use crate::report::{Column, Line, Sheet};

fn sheet(
    title: &str,
    notes: Vec<String>,
    texts: &[&str],
    numbers: &[&str],
    lines: Vec<Vec<String>>,
) -> Sheet {
    let (texts, numbers) =
        (texts.iter().map(|name| Column::text(name)), numbers.iter().map(|name| Column::number(name)));
    Sheet::new(title, notes, texts.chain(numbers).collect(), lines.into_iter().map(Line::plain).collect())
}

/// Returns all tables that are not empty.
pub(crate) fn sheets(outcome: &Outcome) -> Vec<Sheet> {
    let mut sheets =
        vec![scenarios(outcome), hot(outcome), passes(outcome), estimate(outcome), soak(outcome)];
    sheets.retain(|sheet| !sheet.lines.is_empty());
    sheets
}

fn scenarios(outcome: &Outcome) -> Sheet {
    let note = format!(
        "{}, commit {}, {} ({} cores), bucket on {}; {}.",
        outcome.date,
        outcome.commit.as_deref().unwrap_or("unknown"),
        outcome.machine.cpu,
        outcome.machine.cores,
        outcome.server,
        if outcome.is_whole {
            "100 clients, 200 files"
        } else {
            "fewer clients and files than in a whole run"
        }
    );
    let lines = outcome.scenarios.iter().map(|(name, passed)| {
        vec![name.replace('_', " "), if *passed { "passed" } else { "FAILED" }.to_owned()]
    });
    sheet("Fleet: scenarios", vec![note], &["Scenario", "Verdict"], &[], lines.collect())
}

fn hot(outcome: &Outcome) -> Sheet {
    let lines = outcome.scaling.hot.iter().map(|row| {
        vec![
            row.what.clone(),
            row.instances.to_string(),
            format!("{:.0}", row.requests_per_s),
            time(row.p99_us),
            time(row.cpu_us),
            format!("{:.3}", row.bucket_operations_per_request),
            row.errors.to_string(),
        ]
    });
    let note =
        "All instances, their load generators and the S3 server share the machine: beyond its cores more \
                instances bring nothing here. The p99 is that of the slowest instance."
            .to_owned();
    let numbers = ["Instances", "Requests/s", "p99", "CPU/request", "Bucket operations/request", "Failed"];
    sheet("Fleet: what every instance has", vec![note], &["What"], &numbers, lines.collect())
}

fn passes(outcome: &Outcome) -> Sheet {
    let lines = outcome.scaling.passes.iter().map(|pass| {
        vec![
            if pass.is_cold { "nobody" } else { "the bucket" }.to_owned(),
            pass.instances.to_string(),
            pass.requests.to_string(),
            format!("{:.0}", pass.requests as f64 / pass.seconds),
            time(pass.p99_us),
            time(pass.cpu_us),
            format!("{:.2}", pass.upstream_gets_per_file),
            format!("{:.2}", pass.bucket_operations_per_request),
            pass.failed.to_string(),
        ]
    });
    let bytes = outcome.scaling.passes.first().map_or(0.0, |pass| pass.mean_bytes);
    let note = format!(
        "Every file is asked for once by each instance, {} files of {:.0} KB in the mean; connections are not kept.",
        outcome.scaling.passes.first().map_or(0, |pass| pass.files),
        bytes / 1e3
    );
    let numbers = [
        "Instances",
        "Requests",
        "Requests/s",
        "p99",
        "CPU/request",
        "Upstream GETs/file",
        "Bucket operations/request",
        "Failed",
    ];
    sheet("Fleet: what no instance has", vec![note], &["Who has the files"], &numbers, lines.collect())
}

fn estimate(outcome: &Outcome) -> Sheet {
    let lines = outcome.estimate.iter().flat_map(|found| {
        [
            ("requests a second", format!("{:.0}", found.requests_per_s)),
            ("cores of such a machine", format!("{:.1}", found.cores)),
            ("Gbit/s to the builders", format!("{:.1}", found.gigabits_per_s)),
            ("bucket operations a second", format!("{:.0}", found.bucket_operations_per_s)),
            ("downloads from upstream for each file", format!("{:.2}", found.upstream_gets_per_file)),
        ]
        .map(|(name, value)| vec![name.to_owned(), value])
    });
    let note = format!(
        "On paper, not measured: {BUILDERS:.0} builders that each build every {:.0} minutes and ask for the page and a file of \
         1 MiB of {PACKAGES:.0} packages; {:.0} % of the files come from the bucket; at a peak of {PEAK:.0} times the mean, \
         with cores {:.0} % full. What a request costs is measured, above, on loopback and without TLS.",
        BUILD_EVERY_S / 60.0,
        MISSES * 100.0,
        FULL * 100.0
    );
    sheet("Fleet: toward 1,000 builders", vec![note], &["What"], &["Needed"], lines.collect())
}

fn soak(outcome: &Outcome) -> Sheet {
    let Some(soak) = &outcome.soak else { return sheet("", Vec::new(), &[], &[], Vec::new()) };
    let lines = soak.series.iter().map(|series| {
        let is_memory = series.what == "memory";
        let shown = |value: f64| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "memory is never negative"
            )]
            if is_memory { memory(value as u64) } else { format!("{value:.0}") }
        };
        let slope =
            if is_memory { series.slope_per_hour / f64::from(1 << 20) } else { series.slope_per_hour };
        vec![
            format!("{} of {}", series.what, series.instance),
            shown(series.first),
            shown(series.min),
            shown(series.mean),
            shown(series.max),
            format!("{slope:+.1}{}", if is_memory { " M" } else { "" }),
            if series.is_flat { "flat" } else { "GROWS" }.to_owned(),
        ]
    });
    let note = format!(
        "{:.1} minutes of pages, files, pages that are asked for again and projects that there are not; tiers with room for \
         less than a third of the files; the bucket stood still {} times, in which {} pages could not be removed for all. {} requests, {} failed; {} downloads from upstream, \
         {:.0} bucket operations. Slopes are those after the first third.",
        soak.seconds / 60.0,
        soak.bucket_pauses,
        soak.refused_purges,
        soak.requests,
        soak.failed,
        soak.upstream_gets,
        soak.bucket_operations
    );
    let numbers = ["First", "Min", "Mean", "Max", "Slope/hour", "Verdict"];
    sheet("Fleet: soak", vec![note], &["What"], &numbers, lines.collect())
}
