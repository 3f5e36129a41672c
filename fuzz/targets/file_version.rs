//! Parses the version of a file with an arbitrary name, and arbitrary text as an entry of a rule. An accepted entry
//! must be accepted again in the form in which it is written.
#![no_main]

use pypi_proxy::rules::ProjectSelector;
use pypi_proxy::{ProjectName, file_version};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(name) = ProjectName::parse("demo") else { return };
    for end in ["", "-py3-none-any.whl", ".tar.gz"] {
        let version = file_version(&name, &format!("demo-{text}{end}"));
        if let Some(version) = version.filter(|version| !version.contains('-')) {
            assert_eq!(file_version(&name, &format!("demo-{version}.zip")), Some(version));
        }
    }
    if let Ok(selector) = ProjectSelector::parse(text) {
        assert_eq!(ProjectSelector::parse(&selector.to_string()).ok(), Some(selector.clone()));
        let _ = selector.is_match(&name, "1.0");
    }
});
