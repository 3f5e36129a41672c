//! The `pypi_proxy` suite: work of the proxy in memory. Work over sockets is measured by `cargo xtask load`.
//!
//! The peers parse a page into types and serialize those, like groxpi, which loses unknown fields. pypi-proxy preserves
//! them, and also creates an index of the files.

use std::hint::black_box;
use std::process::ExitCode;

use benches::{Impl, Row, Suite};
use pypi_proxy::{Coding, Form, Page, ProjectList};

use crate::documents::{FILES, NAMES};

mod documents;
mod typed;

benches::counting_allocator!();

/// `Accept` header of pip and uv.
const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
/// `Accept-Encoding` header of pip and uv.
const ACCEPT_ENCODING: &str = "gzip, deflate, zstd";
/// A document rewritten for clients. Ours keeps unknown fields, which the peers lose.
const REWRITTEN: &str = "rewritten";

/// Returns the check value of a copied document that a library parses into a type and serializes again.
macro_rules! retyped {
    ($from_slice:path, $to_vec:path, $type:ident, $document:expr) => {
        || {
            let document = black_box($document).to_vec();
            let typed: typed::$type<'_> = $from_slice(&document).unwrap();
            let (typed, elements) = typed.rewrite();
            black_box($to_vec(&typed).unwrap());
            elements
        }
    };
}

fn main() -> ExitCode {
    benches::main("pypi_proxy", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    let pages = [
        ("page_refresh", documents::page as fn() -> Vec<u8>, FILES),
        ("pypi_response_parsing_standard_copy", documents::small, 2),
    ];
    for (name, make, files) in pages {
        let document = &of_selected(suite, name, make);
        let row = rewritten(suite.row(name), document, files as u64, || {
            let page = Page::from_json(black_box(document).clone()).unwrap();
            black_box(page.json());
            page.files().len() as u64
        });
        row.run(
            peer("serde_json"),
            files as u64,
            retyped!(serde_json::from_slice, serde_json::to_vec, Page, document),
        )
        .run(peer("sonic-rs"), files as u64, retyped!(sonic_rs::from_slice, sonic_rs::to_vec, Page, document))
        .run(Impl::limit("memory copy"), document.len() as u64, || {
            black_box(black_box(document).clone()).len() as u64
        });
    }
    let (name, names) = ("list_refresh", NAMES as u64);
    let document = &of_selected(suite, name, documents::list);
    let row = rewritten(suite.row(name), document, names, || {
        let list = ProjectList::from_json(black_box(document).clone()).unwrap();
        black_box(list.json());
        list.names().len() as u64
    });
    row.run(peer("serde_json"), names, retyped!(serde_json::from_slice, serde_json::to_vec, List, document))
        .run(peer("sonic-rs"), names, retyped!(sonic_rs::from_slice, sonic_rs::to_vec, List, document));
    let len = (ACCEPT.len() + ACCEPT_ENCODING.len()) as u64;
    suite.row("negotiate").payload(len).run(Impl::ours("header fields").class("pypi-proxy"), 1, || {
        let form = Form::from_accept(black_box(ACCEPT));
        let coding = Coding::from_accept(black_box(ACCEPT_ENCODING));
        u64::from(form == Some(Form::Json) && coding == Coding::Zstd)
    });
    Ok(())
}

/// Returns a document, or an empty one if the row is not run.
fn of_selected(suite: &Suite, row: &str, make: fn() -> Vec<u8>) -> Vec<u8> {
    if suite.selects(row) { make() } else { Vec::new() }
}

fn peer(name: &str) -> Impl {
    Impl::peer(name, if name == "sonic-rs" { "0.5.10" } else { "1.0.154" }).class(REWRITTEN)
}

/// Rewrites a document of an index for clients, including a copy of the received document.
fn rewritten<'a>(row: Row<'a>, document: &[u8], elements: u64, ours: impl FnMut() -> u64 + 'a) -> Row<'a> {
    row.payload(document.len() as u64).elements(elements).run(
        Impl::ours("rewritten").class(REWRITTEN),
        elements,
        ours,
    )
}
