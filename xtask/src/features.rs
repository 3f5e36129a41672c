//! The feature combinations that the gate checks a library with.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::tidy::{self, Package};
use crate::workspace::Workspace;

/// Returns the empty set, each feature alone, and the features that one `cfg` names together.
///
/// A feature that no `cfg` and no `required-features` names selects no code (it only enables a feature of a
/// dependency). Of the sets that select the same code, only the first is checked.
pub(crate) fn sets(workspace: &Workspace, package: &Package) -> Result<Vec<BTreeSet<String>>> {
    let known: BTreeSet<String> = package.features().into_iter().collect();
    let folder = format!("crates/{}/src/", package.name);
    let sources = tidy::sources(workspace)?;
    let texts =
        sources.iter().filter(|source| source.path.starts_with(&folder) && source.path.ends_with(".rs"));
    let named_together: Vec<_> = texts.flat_map(|source| of_text(&source.text)).collect();
    let mut named: BTreeSet<String> = named_together.iter().flatten().cloned().collect();
    named.extend(package.required_features());
    // Fewest features first, so that the set with the fewest dependencies is checked.
    let mut alone: Vec<_> = known.iter().map(|feature| BTreeSet::from([feature.clone()])).collect();
    alone.sort_by_key(|set| package.enabled_by(set).len());
    let candidates = std::iter::once(BTreeSet::new()).chain(alone).chain(named_together);
    let mut selected = BTreeSet::new();
    Ok(candidates
        .filter(|set| set.is_subset(&known))
        .filter(|set| selected.insert(&package.enabled_by(set) & &named))
        .collect())
}

/// Returns the features of each `#[cfg(…)]`, `#[cfg_attr(…)]` and `cfg!(…)` in a text.
fn of_text(text: &str) -> impl Iterator<Item = BTreeSet<String>> {
    text.split("cfg").skip(1).map(|rest| {
        let condition = rest.split([']', '{', ';']).next().unwrap_or_default();
        let names = condition.split("feature = \"").skip(1);
        names.filter_map(|name| Some(name.split_once('"')?.0.to_owned())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn features_of_an_attribute_are_found() {
        let text = "#[cfg(all(feature = \"a\", not(feature = \"b\")))]\nfn f() { if cfg!(feature = \"c\") {} }\n\
            #[cfg_attr(feature = \"d\", x)]\n";
        assert_eq!(of_text(text).collect::<Vec<_>>(), [set(&["a", "b"]), set(&["c"]), set(&["d"])]);
    }

    #[test]
    fn sets_that_select_the_same_are_checked_once() {
        let workspace = Workspace::find().unwrap();
        let packages = tidy::packages(&workspace).unwrap();
        let package = packages.iter().find(|package| package.name == "tightwire-perplexity").unwrap();
        let sets = sets(&workspace, package).unwrap();
        assert!(sets.contains(&set(&["client"])) && sets.contains(&set(&["blocking"])));
        // It only enables a feature of reqwest.
        assert!(!sets.contains(&set(&["gzip"])));
    }
}
