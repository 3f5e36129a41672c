//! The `pypi_proxy` suite: work of the proxy in memory. Work over sockets is measured by `cargo xtask load`.
//!
//! The peers parse a page into types and serialize those, like groxpi, which loses unknown fields. pypi-proxy preserves
//! them, and also creates an index of the files.

use std::hint::black_box;
use std::process::ExitCode;

use benches::{Impl, Row, Suite};
use pypi_proxy::{ByteRange, Coding, Form, Page, ProjectList, ProjectName};
use pypi_proxy_bench::documents::{self, ACCEPT, ACCEPT_ENCODING, FILES, NAMES};
use pypi_proxy_bench::typed;

benches::counting_allocator!();

/// A document rewritten for clients. Ours keeps unknown fields, which the peers lose.
const REWRITTEN: &str = "rewritten";

/// Returns the check value of a copied document that a library parses into a type and serializes again.
macro_rules! retyped {
    ($from_slice:path, $to_vec:path, $type:ident, $document:expr) => {
        || {
            let document = black_box($document).to_vec();
            let mut typed: typed::$type<'_> = $from_slice(&document).unwrap();
            let elements = typed.rewrite();
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
        let document = &of_selected(suite, &[name], make);
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
    let document = &of_selected(suite, &[name], documents::list);
    let row = rewritten(suite.row(name), document, names, || {
        let list = ProjectList::from_json(black_box(document).clone()).unwrap();
        black_box(list.json());
        list.names().len() as u64
    });
    row.run(peer("serde_json"), names, retyped!(serde_json::from_slice, serde_json::to_vec, List, document))
        .run(peer("sonic-rs"), names, retyped!(sonic_rs::from_slice, sonic_rs::to_vec, List, document));
    of_page(suite)?;
    of_request(suite);
    Ok(())
}

/// Returns a document, or an empty one if none of the rows is run.
fn of_selected(suite: &Suite, rows: &[&str], make: fn() -> Vec<u8>) -> Vec<u8> {
    if rows.iter().any(|row| suite.selects(row)) { make() } else { Vec::new() }
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

/// Adds a row without a peer.
fn alone<'a>(row: Row<'a>, name: &str, expected: u64, operation: impl FnMut() -> u64 + 'a) {
    row.run(Impl::ours(name).class("pypi-proxy"), expected, operation);
}

/// HTML in both directions, and a file of a parsed page.
fn of_page(suite: &mut Suite) -> anyhow::Result<()> {
    let rows = ["page_html", "page_from_html", "file_of_page"];
    let page = match rows.iter().any(|row| suite.selects(row)) {
        true => documents::page(),
        false => documents::small(),
    };
    let page = &Page::from_json(page)?;
    let (html, files) = (&page.to_html(), page.files().len());
    let len = html.len() as u64;
    alone(suite.row(rows[0]).payload(len).elements(FILES as u64), "rendered", len, || {
        black_box(black_box(page).to_html()).len() as u64
    });
    alone(suite.row(rows[1]).payload(len).elements(FILES as u64), "read", FILES as u64, || {
        Page::from_html(black_box(html)).unwrap().files().len() as u64
    });
    let name = page.files().nth(files / 2).map(|file| file.name().to_owned()).unwrap_or_default();
    let size = || black_box(page).file(black_box(&name)).and_then(|file| file.details().size);
    alone(suite.row(rows[2]), "looked up", size().unwrap_or(u64::MAX), || size().unwrap_or_default());
    Ok(())
}

/// Parsers that run for each request.
fn of_request(suite: &mut Suite) {
    let len = (ACCEPT.len() + ACCEPT_ENCODING.len()) as u64;
    alone(suite.row("negotiate").payload(len), "header fields", 1, || {
        let form = Form::from_accept(black_box(ACCEPT));
        let coding = Coding::from_accept(black_box(ACCEPT_ENCODING));
        u64::from(form == Some(Form::Json) && coding == Coding::Zstd)
    });
    alone(suite.row("range"), "header field", 983_616, || {
        match ByteRange::parse(black_box("bytes=-16384"), 1_000_000) {
            ByteRange::Part { start, .. } => start,
            ByteRange::Full | ByteRange::Unsatisfiable => 0,
        }
    });
    alone(suite.row("project_name"), "normalised", 11, || {
        ProjectName::parse(black_box("Foo_Bar.Baz")).unwrap().as_str().len() as u64
    });
}
