//! Ratios between ours and the other sides of a row, by round.

use super::imported::Imported;
use crate::parse::Timing;
use crate::report::{Ratio, Ratios, Recorded, Role};
use crate::rounds::Side;
use crate::stats;

/// The times of one party for one row.
#[derive(Clone, Copy, Debug)]
enum Taken<'a> {
    /// One timing per round of this run.
    Rounds(&'a [Timing]),
    /// One figure for all rounds: an imported or recorded time.
    Once(f64),
}

impl Taken<'_> {
    fn of(side: &Side) -> Option<Taken<'_>> {
        (!side.timings.is_empty()).then_some(Taken::Rounds(&side.timings))
    }

    fn minimum(&self) -> f64 {
        match self {
            Self::Rounds(timings) => timings.iter().map(Timing::typical_ns).fold(f64::INFINITY, f64::min),
            Self::Once(time) => *time,
        }
    }
}

pub(super) fn ratios(
    ours: &Side,
    sides: &[Side],
    imported: Option<&Imported>,
    recorded: &[Recorded],
) -> Ratios {
    let against_original = imported
        .and_then(|imported| {
            let taken = Taken::Once(imported.typical_ns()?);
            ratio(ours, taken, &imported.name, "go", false)
        })
        .or_else(|| {
            let of = |role| sides.iter().find(|side| side.listed.role == role);
            against(ours, of(Role::Original).or_else(|| of(Role::OriginalStandin))?)
        });
    let recorded_original = recorded.iter().find(|recorded| recorded.original).and_then(|recorded| {
        ratio(ours, Taken::Once(recorded.time_ns), &recorded.implementation, "go", false)
    });
    Ratios {
        original: against_original,
        best_peer: best_peer(ours, sides).and_then(|peer| against(ours, peer)),
        recorded_original,
        limit: fastest(sides, |side| side.listed.role == Role::Limit).and_then(|limit| against(ours, limit)),
    }
}

/// Returns the fastest peer of our class, or of any class if ours has no peer.
fn best_peer<'a>(ours: &Side, sides: &'a [Side]) -> Option<&'a Side> {
    let is_peer = |side: &Side| side.listed.role == Role::Peer;
    fastest(sides, |side| is_peer(side) && same_class(ours, side)).or_else(|| fastest(sides, is_peer))
}

fn fastest(sides: &[Side], wanted: impl Fn(&Side) -> bool) -> Option<&Side> {
    sides
        .iter()
        .filter(|side| wanted(side))
        .filter_map(|side| Some((Taken::of(side)?.minimum(), side)))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, side)| side)
}

fn same_class(ours: &Side, other: &Side) -> bool {
    ours.listed.class.is_some() && ours.listed.class == other.listed.class
}

fn against(ours: &Side, other: &Side) -> Option<Ratio> {
    ratio(
        ours,
        Taken::of(other)?,
        &other.listed.implementation,
        &other.listed.language,
        same_class(ours, other),
    )
}

/// Computes the ratio of each round, because a change of the machine's load affects both sides of a round.
fn ratio(ours: &Side, other: Taken<'_>, name: &str, language: &str, like_for_like: bool) -> Option<Ratio> {
    let mine = &ours.timings;
    let pairs: Vec<f64> = match other {
        Taken::Rounds(other) => mine.iter().zip(other).map(|(mine, other)| comparable(mine, other)).collect(),
        Taken::Once(other) => mine.iter().map(|mine| other / mine.typical_ns()).collect(),
    };
    Some(Ratio {
        against: name.to_owned(),
        language: language.to_owned(),
        like_for_like,
        median: stats::median(&pairs)?,
        min: stats::minimum(&pairs)?,
        max: stats::maximum(&pairs)?,
        of_minima: other.minimum() / Taken::of(ours)?.minimum(),
        rounds: pairs.len(),
    })
}

/// Returns the medians if both sides have one. Go reports only means, which are compared with means.
fn comparable(ours: &Timing, other: &Timing) -> f64 {
    match (ours.median_ns, other.median_ns) {
        (Some(ours), Some(other)) => other / ours,
        _ => other.mean_ns / ours.mean_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{go_side, side};
    use super::super::verdict::words;
    use super::*;

    fn best_peer_of(sides: &[Side]) -> Ratio {
        ratios(&sides[0], sides, None, &[]).best_peer.unwrap()
    }

    #[test]
    fn the_best_peer_is_one_of_the_same_class() {
        let sides = [
            side("owned", Role::Ours, Some("owned"), &[10.0, 12.0]),
            side("slow", Role::Peer, Some("owned"), &[90.0, 90.0]),
            side("alike", Role::Peer, Some("owned"), &[30.0, 24.0]),
            side("borrows", Role::Peer, Some("borrowed"), &[11.0, 11.0]),
            side("bandwidth", Role::Limit, Some("owned"), &[1.0, 1.0]),
        ];
        let ratio = best_peer_of(&sides);
        assert_eq!((ratio.against.as_str(), ratio.like_for_like, ratio.rounds), ("alike", true, 2));
        assert_eq!((ratio.median, ratio.min, ratio.max, ratio.of_minima), (2.5, 2.0, 3.0, 2.4));
        let limit = ratios(&sides[0], &sides, None, &[]).limit.unwrap();
        assert_eq!((limit.against.as_str(), limit.of_minima), ("bandwidth", 0.1));
    }

    #[test]
    fn without_a_peer_of_the_class_the_best_of_any_stands_in() {
        let sides = [
            side("borrowed", Role::Ours, Some("borrowed"), &[10.0, 10.0]),
            side("owns", Role::Peer, Some("owned"), &[40.0, 40.0]),
            side("shares", Role::Peer, None, &[30.0, 30.0]),
        ];
        let ratio = best_peer_of(&sides);
        assert_eq!((ratio.against.as_str(), ratio.like_for_like), ("shares", false));
        assert_eq!(words(Some(&ratio)), "faster than shares (another class)");
    }

    #[test]
    fn a_failed_peer_is_no_competitor() {
        let sides = [side("a", Role::Ours, None, &[10.0]), side("failed", Role::Peer, None, &[])];
        assert!(ratios(&sides[0], &sides, None, &[]).best_peer.is_none());
        assert_eq!(words(None), "no peer");
    }

    #[test]
    fn a_verdict_needs_all_rounds_on_one_side() {
        let against = |peer: &[f64]| {
            words(Some(&best_peer_of(&[
                side("a", Role::Ours, Some("owned"), &[10.0, 10.0]),
                side("p", Role::Peer, Some("owned"), peer),
            ])))
        };
        assert_eq!(against(&[11.0, 30.0]), "faster than p");
        assert_eq!(against(&[9.0, 9.5]), "slower than p");
        assert_eq!(against(&[9.0, 30.0]), "even with p");
        assert_eq!(against(&[30.0]), "undecided after one round against p");
    }

    #[test]
    fn a_mean_is_compared_with_a_mean() {
        let sides = [
            side("a", Role::Ours, Some("owned"), &[10.0]),
            go_side("original-standin", Role::OriginalStandin, &[80.0]),
        ];
        let ratios = ratios(&sides[0], &sides, None, &[]);
        assert_eq!(ratios.original.unwrap().median, 4.0, "our mean is 20");
        assert!(ratios.best_peer.is_none(), "the stand-in is the original, not a peer");
    }

    #[test]
    fn a_live_original_comes_before_its_stand_in() {
        let sides = [
            side("a", Role::Ours, Some("owned"), &[10.0]),
            go_side("original-standin", Role::OriginalStandin, &[80.0]),
            go_side("the-original", Role::Original, &[160.0]),
        ];
        let ratios = ratios(&sides[0], &sides, None, &[]);
        assert_eq!(ratios.original.unwrap().against, "the-original");
        assert!(ratios.best_peer.is_none());
    }
}
