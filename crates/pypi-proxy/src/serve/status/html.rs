//! Renders the status page as HTML. All texts are escaped.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Bar, Purging, Row, View};

pub(super) fn page(view: &View, purging: Purging, style: &str, script: &str) -> String {
    let content = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "pypi-proxy" }
                style { (PreEscaped(style)) }
                // Without scripts, the browser reloads the whole page.
                noscript { meta http-equiv="refresh" content="10"; }
            }
            body {
                (header(view))
                main {
                    (cache(view))
                    (tables(view))
                    (purge(purging))
                }
                footer {
                    p { "pypi-proxy " (env!("CARGO_PKG_VERSION")) ", started " (text(view, "uptime")) " ago" }
                }
                script { (PreEscaped(script)) }
            }
        }
    };
    content.into_string()
}

/// A text that the script updates.
fn text(view: &View, name: &'static str) -> Markup {
    html! { span data-text=(name) { (view.texts.get(name).map_or("", String::as_str)) } }
}

fn header(view: &View) -> Markup {
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

fn cache(view: &View) -> Markup {
    let bar = |name: &'static str| html! { div.bar data-bar=(name) { (progress(view.bars.get(name).copied().unwrap_or_default())) } };
    html! {
        section.cards {
            div.card {
                h2 { "Files" }
                p { (text(view, "files")) }
                (bar("files"))
                dl {
                    dt { "evicted" } dd { (text(view, "evicted")) }
                    dt { "failed downloads" } dd { (text(view, "failed")) }
                    dt { "corrupt downloads" } dd { (text(view, "corrupt")) }
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
                    dt { "median latency" } dd { (text(view, "median")) }
                    dt { "99th percentile" } dd { (text(view, "slow")) }
                    dt { "sent to clients" } dd { (text(view, "all-sent")) }
                    dt { "fetched from indexes" } dd { (text(view, "all-fetched")) }
                    dt { "in flight now" } dd { (text(view, "in-flight")) }
                }
            }
        }
    }
}

fn tables(view: &View) -> Markup {
    html! {
        section.cards.two {
            div.card.wide {
                h2 { "In flight: " (text(view, "running")) }
                (table(view, "running", &["File", "Progress", ""], "No download in flight."))
            }
            div.card {
                h2 { "Most requested" }
                (table(view, "requested", &["Project", "Files requested", ""], "No file was requested yet."))
            }
            div.card {
                h2 { "Largest" }
                (table(view, "largest", &["Project", "Stored", ""], "No file was requested yet."))
            }
            div.card.wide {
                h2 { "Indexes" }
                (table(view, "indexes", &["URL", "Pages", "State"], "No index is configured."))
            }
        }
    }
}

fn table(view: &View, name: &'static str, headers: &[&str], placeholder: &str) -> Markup {
    let rows = view.tables.get(name).map_or(&[][..], Vec::as_slice);
    html! {
        table.tall[matches!(name, "running" | "indexes")] {
            thead { tr { @for header in headers { th scope="col" { (header) } } } }
            tbody data-table=(name) { @for row in rows { (table_row(row)) } }
        }
        // Hidden by the style if the table has rows.
        p.nothing { (placeholder) }
    }
}

fn table_row(row: &Row) -> Markup {
    html! {
        tr {
            @for cell in &row.cells { td { (cell) } }
            @if let Some(bar) = row.bar { td { (progress(bar)) } }
            // The script adds the button, which needs it.
            @if row.purge.is_some() { td {} }
        }
    }
}

fn progress(bar: Bar) -> Markup {
    match bar.max {
        Some(max) => html! { progress value=(bar.value) max=(max.max(1)) {} },
        None => html! {},
    }
}

fn purge(purging: Purging) -> Markup {
    if purging == Purging::Off {
        return html! {
            section.card {
                h2 { "Purge the cache" }
                p { "Purging is off. Set " code { "admin_token" } ", or " code { "admin_listen" }
                    " to purge at a separate address." }
            }
        };
    }
    html! {
        section.card #purge hidden {
            h2 { "Purge the cache" }
            p { @if purging == Purging::Token {
                "Requires the admin token, which this page sends but does not store."
            } @else {
                "Anybody who can reach this address can do this, because no admin token is set."
            } }
            div.fields {
                label { "Admin token " input #token type="password" autocomplete="off" disabled[purging == Purging::Open]; }
                label { "Project " input #project autocomplete="off" autocapitalize="none" spellcheck="false"; }
                label { "File " input #file autocomplete="off" autocapitalize="none" spellcheck="false"; }
            }
            div.buttons {
                button #purge-project type="button" { "Page of the project" }
                button #purge-file type="button" { "File of the project" }
                button #purge-list type="button" { "List of projects" }
                button #purge-all type="button" { "All pages" }
            }
            p #result role="status" {}
        }
    }
}
