//! Pages of an index, and headers of requests.

use std::fmt::Write as _;
use std::hint::black_box;

use pypi_proxy::{Coding, Form, Page, ProjectList};

const FILES: usize = 100;
const NAMES: usize = 1000;

pub(crate) fn page_scan() -> impl FnMut() -> u64 {
    let mut document =
        r#"{"meta":{"api-version":"1.1"},"name":"numpy","versions":["1.0"],"files":["#.to_owned();
    for number in 0..FILES {
        let comma = if number == 0 { "" } else { "," };
        let name = format!("numpy-1.{number}-cp310-cp310-manylinux_2_17_x86_64.whl");
        let hash = format!("{number:064x}");
        // Writing to a string cannot fail.
        let _ = write!(
            document,
            r#"{comma}{{"core-metadata":{{"sha256":"{hash}"}},"filename":"{name}","hashes":{{"sha256":"{hash}"}},"requires-python":">=3.9","size":1{number:03},"upload-time":"2024-01-01T00:00:00.000000Z","url":"https://files.example.org/packages/{hash}/{name}","yanked":false}}"#
        );
    }
    document.push_str("]}");
    let document = document.into_bytes();
    move || {
        Page::from_json(black_box(&document).clone()).map_or(0, |page| {
            black_box(page.json());
            page.files().len() as u64
        })
    }
}

pub(crate) fn list_scan() -> impl FnMut() -> u64 {
    let names: Vec<_> = (0..NAMES).map(|number| format!(r#"{{"name":"project-{number}"}}"#)).collect();
    let document =
        format!(r#"{{"meta":{{"api-version":"1.1"}},"projects":[{}]}}"#, names.join(",")).into_bytes();
    move || {
        ProjectList::from_json(black_box(&document).clone()).map_or(0, |list| {
            black_box(list.json());
            list.names().len() as u64
        })
    }
}

/// Headers of pip and uv.
pub(crate) fn negotiate() -> impl FnMut() -> u64 {
    const ACCEPT: &str =
        "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
    || {
        let form = Form::from_accept(black_box(ACCEPT));
        let coding = Coding::from_accept(black_box("gzip, deflate, zstd"));
        u64::from(form == Some(Form::Json) && coding == Coding::Zstd)
    }
}
