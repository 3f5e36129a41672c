//! `claims.toml`: statements of the reports that are not the time of one benchmark, and how to compute them from a
//! run.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::report::Quantity;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimsFile {
    #[serde(rename = "claim")]
    pub(crate) claims: Vec<Claim>,
}

/// A statement about one published line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Table of the published line.
    pub(crate) table: String,
    /// Id of the published line within its table.
    pub(crate) row: String,
    /// The statement in our words; absent if the line is only a figure.
    pub(crate) claim: Option<String>,
    #[serde(default)]
    pub(crate) how: How,
    pub(crate) terms: Vec<Term>,
    /// Maximum that the statement allows, in the unit of its figure.
    pub(crate) at_most: Option<f64>,
    /// Minimum that the statement allows.
    pub(crate) at_least: Option<f64>,
}

/// How a figure is computed from its terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum How {
    /// The term; with several terms, the smallest and the largest.
    #[default]
    Value,
    /// The first of each pair divided by the second.
    Ratio,
    /// Percentage by which the second of each pair is below the first.
    Saving,
    /// Percentage by which the first of each pair exceeds the second.
    Excess,
    /// The first of each pair minus the second.
    Difference,
}

/// One figure of a run, written `quantity system/row` or `quantity system/row | implementation`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Term {
    pub(crate) quantity: Quantity,
    pub(crate) key: String,
    /// The implementation; without one, each side is used in turn.
    pub(crate) implementation: Option<String>,
}

impl TryFrom<String> for Term {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (what, implementation) = match text.split_once(" | ") {
            Some((what, name)) => (what, Some(name.to_owned())),
            None => (text.as_str(), None),
        };
        let (quantity, key) = what.split_once(' ').ok_or_else(|| format!("{text:?} names no row"))?;
        let quantity = Quantity::from_name(quantity).ok_or_else(|| format!("{quantity:?} is no quantity"))?;
        Ok(Self { quantity, key: key.to_owned(), implementation })
    }
}

impl ClaimsFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        super::load(&data.join("claims.toml"))
    }

    pub(crate) fn find(&self, table: &str, row: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.table == table && claim.row == row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::committed;
    use crate::data::seed::Seed;

    #[test]
    fn terms_name_quantity_row_and_perhaps_whose() {
        let term = |text: &str| Term::try_from(text.to_owned());
        let parsed = term("allocs client/client_do_simple | undecoded, several threads").unwrap();
        assert_eq!((parsed.quantity, parsed.key.as_str()), (Quantity::Allocs, "client/client_do_simple"));
        assert_eq!(parsed.implementation.as_deref(), Some("undecoded, several threads"));
        assert_eq!(term("time sse/decode_simple_event").unwrap().implementation, None);
        assert!(term("speed sse/x").unwrap_err().contains("speed"));
        assert!(term("time").is_err());
    }

    #[test]
    fn every_claim_points_at_a_published_line_and_has_its_terms() {
        let (file, seed) = (ClaimsFile::load(&committed()).unwrap(), Seed::load(&committed()).unwrap());
        for (index, claim) in file.claims.iter().enumerate() {
            let name = format!("{}/{}", claim.table, claim.row);
            let published = seed.rows.iter().any(|row| row.table == claim.table && row.id == claim.row);
            assert!(published, "{name} is not published");
            let again = &file.claims[index + 1..];
            assert!(
                !again.iter().any(|other| other.table == claim.table && other.row == claim.row),
                "{name}"
            );
            assert!(!claim.terms.is_empty(), "{name} follows from nothing");
            assert!(claim.how == How::Value || claim.terms.len() % 2 == 0, "{name} has half a pair");
            let quantity = claim.terms[0].quantity;
            assert!(claim.terms.iter().all(|term| term.quantity == quantity), "{name} mixes quantities");
            let bounded = claim.at_most.is_some() || claim.at_least.is_some();
            assert!(claim.claim.is_some() || !bounded, "{name} has a bound and no claim");
        }
    }
}
