//! The `pypi_proxy` suite: work of the proxy in memory. Work over sockets is measured by `cargo xtask load`.
//!
//! The peers parse a page into types and serialize those, like groxpi, which loses unknown fields. pypi-proxy preserves
//! them, and also creates an index of the files.

use std::hint::black_box;

use benches::{Impl, Suite};
use pypi_proxy::{ByteRange, Coding, Form, Page, ProjectList, ProjectName};
use pypi_proxy_bench::documents::{self, ACCEPT, ACCEPT_ENCODING, FILES, NAMES};
use pypi_proxy_bench::typed;

benches::counting_allocator!();

/// A document rewritten for clients. Ours keeps unknown fields, which the peers lose.
const REWRITTEN: &str = "rewritten";

/// Returns the implementation of work without a peer.
fn ours(name: &str) -> Impl {
    Impl::ours(name).class("pypi-proxy")
}

fn main() {
    let mut suite = Suite::from_args("pypi_proxy", env!("CARGO_TARGET_TMPDIR"));
    page(&mut suite, "page_refresh", &documents::page(), FILES);
    page(&mut suite, "pypi_response_parsing_standard_copy", &documents::small(), 2);
    html(&mut suite);
    list(&mut suite);
    small(&mut suite);
}

/// Rewrites a page of an index for clients, including a copy of the received document.
fn page(suite: &mut Suite, name: &str, document: &[u8], files: usize) {
    let expected = files as u64;
    suite
        .row(name)
        .payload(document.len() as u64)
        .elements(expected)
        .run(Impl::ours("rewritten").class(REWRITTEN), expected, || {
            let page = Page::from_json(black_box(document).to_vec()).unwrap();
            black_box(page.json());
            page.files().len() as u64
        })
        .run(Impl::peer("serde_json", "1.0.154").class(REWRITTEN), expected, || {
            let document = black_box(document).to_vec();
            let mut page: typed::Page<'_> = serde_json::from_slice(&document).unwrap();
            page.rewrite();
            black_box(serde_json::to_vec(&page).unwrap());
            page.files.len() as u64
        })
        .run(Impl::peer("sonic-rs", "0.5.10").class(REWRITTEN), expected, || {
            let document = black_box(document).to_vec();
            let mut page: typed::Page<'_> = sonic_rs::from_slice(&document).unwrap();
            page.rewrite();
            black_box(sonic_rs::to_vec(&page).unwrap());
            page.files.len() as u64
        })
        .run(Impl::limit("memory copy"), document.len() as u64, || {
            black_box(black_box(document).to_vec()).len() as u64
        });
}

/// Renders a page as HTML.
fn html(suite: &mut Suite) {
    let page = Page::from_json(documents::page()).unwrap();
    let len = page.to_html().len() as u64;
    suite
        .row("page_html")
        .payload(len)
        .elements(FILES as u64)
        .run(ours("rendered"), len, || black_box(black_box(&page).to_html()).len() as u64);
    let html = page.to_html();
    suite
        .row("page_from_html")
        .payload(len)
        .elements(FILES as u64)
        .run(ours("read"), FILES as u64, || Page::from_html(black_box(&html)).unwrap().files().len() as u64);
}

fn list(suite: &mut Suite) {
    let (document, names) = (documents::list(), NAMES as u64);
    suite
        .row("list_refresh")
        .payload(document.len() as u64)
        .elements(names)
        .run(Impl::ours("rewritten").class(REWRITTEN), names, || {
            let list = ProjectList::from_json(black_box(&document).clone()).unwrap();
            black_box(list.json());
            list.names().len() as u64
        })
        .run(Impl::peer("serde_json", "1.0.154").class(REWRITTEN), names, || {
            let document = black_box(&document).clone();
            let list: typed::List<'_> = serde_json::from_slice(&document).unwrap();
            black_box(serde_json::to_vec(&list).unwrap());
            list.projects.len() as u64
        })
        .run(Impl::peer("sonic-rs", "0.5.10").class(REWRITTEN), names, || {
            let document = black_box(&document).clone();
            let list: typed::List<'_> = sonic_rs::from_slice(&document).unwrap();
            black_box(sonic_rs::to_vec(&list).unwrap());
            list.projects.len() as u64
        });
}

/// Parsers that run for each request.
fn small(suite: &mut Suite) {
    let len = (ACCEPT.len() + ACCEPT_ENCODING.len()) as u64;
    suite.row("negotiate").payload(len).run(ours("header fields"), 1, || {
        let form = Form::from_accept(black_box(ACCEPT));
        let coding = Coding::from_accept(black_box(ACCEPT_ENCODING));
        u64::from(form == Some(Form::Json) && coding == Coding::Zstd)
    });
    suite.row("range").run(ours("header field"), 983_616, || {
        match ByteRange::parse(black_box("bytes=-16384"), 1_000_000) {
            ByteRange::Part { start, .. } => start,
            ByteRange::Full | ByteRange::Unsatisfiable => 0,
        }
    });
    suite.row("project_name").run(ours("normalised"), 11, || {
        ProjectName::parse(black_box("Foo_Bar.Baz")).unwrap().as_str().len() as u64
    });
    let page = Page::from_json(documents::page()).unwrap();
    let name = page.files().nth(FILES / 2).unwrap().name().to_owned();
    let size = page.file(&name).unwrap().details().size.unwrap();
    suite.row("file_of_page").run(ours("looked up"), size, || {
        black_box(&page).file(black_box(&name)).unwrap().details().size.unwrap()
    });
}
