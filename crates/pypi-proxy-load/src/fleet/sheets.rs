//! Tables of the report.

use super::Outcome;
use super::scaling::{BUILD_EVERY_S, BUILDERS, FULL, MISSES, PACKAGES, PEAK};
use crate::output::{Sheet, memory, time};

/// Returns all tables.
pub(crate) fn sheets(outcome: &Outcome) -> Vec<Sheet> {
    let tables = [scenarios(outcome), hot(outcome), passes(outcome), estimate(outcome)];
    tables.into_iter().chain(soak(outcome)).collect()
}

fn scenarios(outcome: &Outcome) -> Sheet {
    let note = format!(
        "{}, bucket on {}; {}.",
        outcome.about,
        outcome.server.name(),
        if outcome.is_whole {
            "100 clients, 200 files"
        } else {
            "fewer clients and files than in a whole run"
        }
    );
    let lines = outcome
        .scenarios
        .iter()
        .map(|(name, passed)| [name.replace('_', " "), if *passed { "passed" } else { "FAILED" }.to_owned()]);
    Sheet::new("Fleet: scenarios", [note], "Scenario | Verdict", lines)
}

fn hot(outcome: &Outcome) -> Sheet {
    let lines = outcome.scaling.hot.iter().map(|row| {
        [
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
    let columns =
        "What | #Instances | #Requests/s | #p99 | #CPU/request | #Bucket operations/request | #Failed";
    Sheet::new("Fleet: what every instance has", [note], columns, lines)
}

fn passes(outcome: &Outcome) -> Sheet {
    let lines = outcome.scaling.passes.iter().map(|pass| {
        [
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
    let columns = "Who has the files | #Instances | #Requests | #Requests/s | #p99 | #CPU/request | #Upstream GETs/file | #Bucket operations/request | #Failed";
    Sheet::new("Fleet: what no instance has", [note], columns, lines)
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
        .map(|(name, value)| [name.to_owned(), value])
    });
    let note = format!(
        "On paper, not measured: {BUILDERS:.0} builders that each build every {:.0} minutes and ask for the page and a file of \
         1 MiB of {PACKAGES:.0} packages; {:.0} % of the files come from the bucket; at a peak of {PEAK:.0} times the mean, \
         with cores {:.0} % full. What a request costs is measured, above, on loopback and without TLS.",
        BUILD_EVERY_S / 60.0,
        MISSES * 100.0,
        FULL * 100.0
    );
    Sheet::new("Fleet: toward 1,000 builders", [note], "What | #Needed", lines)
}

fn soak(outcome: &Outcome) -> Option<Sheet> {
    let soak = outcome.soak.as_ref()?;
    let lines = soak.series.iter().map(|series| {
        let is_memory = series.what == "memory";
        let shown = |value: f64| {
            if is_memory { memory(value as u64) } else { format!("{value:.0}") }
        };
        let slope =
            if is_memory { series.slope_per_hour / f64::from(1 << 20) } else { series.slope_per_hour };
        [
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
    let columns = "What | #First | #Min | #Mean | #Max | #Slope/hour | #Verdict";
    Some(Sheet::new("Fleet: soak", [note], columns, lines))
}
