//! The sets of features that the gate checks a library with.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::tidy::Package;
use crate::workspace::Workspace;

/// No feature, each feature alone, and the features that one `cfg` of the sources names together, without the sets that
/// turn on the same features as another one.
///
/// Code depends on a feature through a `cfg`, so a set that no `cfg` names compiles nothing that its parts do not.
pub(crate) fn sets(workspace: &Workspace, package: &Package) -> Result<Vec<BTreeSet<String>>> {
    let known: BTreeSet<String> = package.features().into_iter().collect();
    let mut candidates = vec![BTreeSet::new()];
    candidates.extend(known.iter().map(|feature| BTreeSet::from([feature.clone()])));
    named_together(&workspace.root.join("crates").join(&package.name).join("src"), &mut candidates)?;
    let (mut sets, mut enabled) = (Vec::new(), BTreeSet::new());
    for set in candidates.into_iter().filter(|set| set.is_subset(&known)) {
        if enabled.insert(package.enabled_by(&set)) {
            sets.push(set);
        }
    }
    Ok(sets)
}

/// Adds the features of each `cfg` in the files of a folder.
fn named_together(folder: &Path, sets: &mut Vec<BTreeSet<String>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            named_together(&path, sets)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sets.extend(of_text(&fs::read_to_string(path)?));
        }
    }
    Ok(())
}

/// The features of each attribute of a text that begins with `cfg` or `cfg_attr`.
fn of_text(text: &str) -> impl Iterator<Item = BTreeSet<String>> {
    text.split("[cfg").skip(1).map(|rest| {
        let attribute = rest.split(']').next().unwrap_or_default();
        let names = attribute.split("feature = \"").skip(1);
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
        let text = "#[cfg(all(feature = \"a\", not(feature = \"b\")))]\nfn f() {}\n#[cfg_attr(feature = \"c\", x)]\n";
        assert_eq!(of_text(text).collect::<Vec<_>>(), [set(&["a", "b"]), set(&["c"])]);
    }

    #[test]
    fn sets_that_enable_the_same_are_checked_once() {
        let workspace = Workspace::find().unwrap();
        let packages = tidy::packages(&workspace).unwrap();
        let psrp = packages.iter().find(|package| package.name == "psrp").unwrap();
        let sets = sets(&workspace, psrp).unwrap();
        assert!(sets.contains(&set(&[])) && sets.contains(&set(&["tokio"])));
        // `ssh` turns on `tokio`.
        assert!(!sets.contains(&set(&["ssh", "tokio"])));
    }
}
