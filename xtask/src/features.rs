//! The feature combinations that the gate checks a library with.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::tidy::Package;
use crate::workspace::Workspace;

/// Returns the empty set, each feature alone, and the features that one `cfg` names together.
///
/// A feature that no `cfg` and no `required-features` names selects no code (it only enables a feature of a
/// dependency). Of the sets that select the same code, only the first is checked.
pub(crate) fn sets(workspace: &Workspace, package: &Package) -> Result<Vec<BTreeSet<String>>> {
    let known: BTreeSet<String> = package.features().into_iter().collect();
    let mut named_together = Vec::new();
    add_named_together(&workspace.root.join("crates").join(&package.name).join("src"), &mut named_together)?;
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

/// Adds the features of each `cfg` in the files of a folder.
fn add_named_together(folder: &Path, sets: &mut Vec<BTreeSet<String>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_named_together(&path, sets)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sets.extend(of_text(&fs::read_to_string(path)?));
        }
    }
    Ok(())
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
    use crate::tidy;

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
