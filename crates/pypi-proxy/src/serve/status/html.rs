//! The page as HTML. Every text is escaped where it is written.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::plot::{HEIGHT, WIDTH};
use super::view::{Bar, Row, View};

/// The page, with its style and its script.
pub(super) fn page(view: &View, style: &str, script: &str) -> String {
    let content = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "pypi-proxy" }
                style { (PreEscaped(style)) }
                // Without a script, the page comes again as a whole.
                noscript { meta http-equiv="refresh" content="10"; }
            }
            body {
                (head(view))
                main {
                    (plots(view))
                    (cache(view))
                    (tables(view))
                    (forget(view))
                }
                footer {
                    p { "pypi-proxy " (env!("CARGO_PKG_VERSION")) ", started " (text(view, "uptime")) " ago. "
                        "The plots show the last " (text(view, "span")) "." }
                }
                script { (PreEscaped(script)) }
            }
        }
    };
    content.into_string()
}

/// A text that changes.
fn text(view: &View, name: &'static str) -> Markup {
    html! { span data-text=(name) { (view.texts.get(name).map_or("", String::as_str)) } }
}

fn head(view: &View) -> Markup {
    html! {
        header {
            h1 { "pypi-proxy " span.state.bad[!view.is_well] { (text(view, "state")) } }
            p { "A caching proxy for Python packages. Point an installer at " code { "/simple/" } " or " code { "/index/" }
                " of this server." }
            nav {
                a href="simple/" { "All projects" }
                a href="index/" { "The same at /index/" }
                a href="health" { "Health" }
                a href="metrics" { "Metrics" }
            }
            p #stale role="status" {}
        }
    }
}

fn plots(view: &View) -> Markup {
    html! {
        section.plots aria-label="The last minutes" {
            (plot(view, "Hit ratio", &[("hits", "a", "answered without waiting for an index")],
                html! { "100 %" }, html! { "0 %" }))
            (plot(view, "Latency", &[("median", "a", "median"), ("slow", "b", "99th percentile")],
                text(view, "latency-top"), text(view, "latency-bottom")))
            (plot(view, "Traffic", &[("sent", "a", "to clients"), ("fetched", "b", "from indexes")],
                text(view, "traffic-top"), html! { "0" }))
        }
    }
}

/// A plot with a legend that tells the last values.
fn plot(
    view: &View,
    title: &str,
    lines: &[(&'static str, &str, &str)],
    top: Markup,
    bottom: Markup,
) -> Markup {
    html! {
        figure {
            figcaption {
                h2 { (title) }
                @for (name, color, what) in lines {
                    p.value { span class={"key " (color)} {} strong { (text(view, name)) } " " (what) }
                }
            }
            div.frame {
                svg viewBox={"0 0 " (WIDTH) " " (HEIGHT)} preserveAspectRatio="none" role="img" aria-label=(title) {
                    path.grid d="M0 20H300M0 40H300M0 60H300" {}
                    @for (name, color, _) in lines {
                        path class={"line " (color)} data-line=(name) d=(view.lines.get(name).map_or("", String::as_str)) {}
                    }
                }
                span.top { (top) }
                span.bottom { (bottom) }
            }
        }
    }
}

fn cache(view: &View) -> Markup {
    let bar = |name: &'static str| html! { div.bar data-bar=(name) { (progress(view.bars.get(name).copied().unwrap_or_default())) } };
    html! {
        section.cards {
            div.card {
                h2 { "Files" }
                p { (text(view, "files")) }
                (bar("files"))
                dl {
                    dt { "removed to make room" } dd { (text(view, "evicted")) }
                    dt { "could not be fetched" } dd { (text(view, "failed")) }
                    dt { "were not what they should be" } dd { (text(view, "corrupt")) }
                }
            }
            div.card {
                h2 { "Pages in memory" }
                p { (text(view, "pages")) }
                (bar("pages"))
            }
            div.card {
                h2 { "Since the start" }
                dl {
                    dt { "requests for pages and files" } dd { (text(view, "all-requests")) }
                    dt { "hit ratio" } dd { (text(view, "all-hits")) }
                    dt { "sent to clients" } dd { (text(view, "all-sent")) }
                    dt { "fetched from indexes" } dd { (text(view, "all-fetched")) }
                    dt { "being answered now" } dd { (text(view, "in-flight")) }
                }
            }
        }
    }
}

fn tables(view: &View) -> Markup {
    html! {
        section.cards.two {
            div.card.wide {
                h2 { "Running: " (text(view, "running")) }
                (table(view, "running", &["File", "Progress", ""], "Nothing is being fetched."))
            }
            div.card {
                h2 { "Most wanted" }
                (table(view, "wanted", &["Project", "Files asked for", ""], "No file was asked for yet."))
            }
            div.card {
                h2 { "Largest" }
                (table(view, "largest", &["Project", "Stored", ""], "No file was stored or asked for yet."))
            }
            div.card.wide {
                h2 { "Indexes" }
                (table(view, "indexes", &["Address", "Pages", "State"], "There is none."))
            }
        }
    }
}

fn table(view: &View, name: &'static str, heads: &[&str], nothing: &str) -> Markup {
    let rows = view.tables.get(name).map_or(&[][..], Vec::as_slice);
    html! {
        table.tall[matches!(name, "running" | "indexes")] {
            thead { tr { @for head in heads { th scope="col" { (head) } } } }
            tbody data-table=(name) { @for row in rows { (table_row(row)) } }
        }
        // The style hides it below a table with rows.
        p.nothing { (nothing) }
    }
}

fn table_row(row: &Row) -> Markup {
    html! {
        tr {
            @for cell in &row.cells { td { (cell) } }
            @if let Some(bar) = row.bar { td { (progress(bar)) } }
            // A button does nothing without the script, which shows it.
            @if row.forget.is_some() { td {} }
        }
    }
}

fn progress(bar: Bar) -> Markup {
    match bar.max {
        Some(max) => html! { progress value=(bar.value) max=(max.max(1)) {} },
        None => html! {},
    }
}

fn forget(view: &View) -> Markup {
    html! {
        section.card #forget hidden {
            h2 { "Have the cache forget" }
            p { @if view.needs_token {
                "This needs the admin token, which this page sends along and keeps nowhere."
            } @else {
                "Anybody who reaches this proxy may do this: it has no admin token."
            } }
            div.fields {
                label { "Admin token " input #token type="password" autocomplete="off" disabled[!view.needs_token]; }
                label { "Project " input #project autocomplete="off" autocapitalize="none" spellcheck="false"; }
                label { "File " input #file autocomplete="off" autocapitalize="none" spellcheck="false"; }
            }
            div.buttons {
                button #forget-project type="button" { "The page of the project" }
                button #forget-file type="button" { "The file of the project" }
                button #forget-list type="button" { "The list of projects" }
                button #forget-all type="button" { "All pages" }
            }
            p #result role="status" {}
        }
    }
}
