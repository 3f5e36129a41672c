//! Renders the status page as HTML. All texts are escaped.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Bar, Purging, Row, View};

pub(super) fn page(view: &View, query: &str, purging: Purging, style: &str, script: &str) -> String {
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
                noscript { meta http-equiv="refresh" content="30"; }
            }
            body {
                (header(view))
                main {
                    (cache(view))
                    (projects(view, query))
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
                    dt { "hit ratio of pages" } dd { (text(view, "page-hits")) }
                    dt { "hit ratio of files" } dd { (text(view, "file-hits")) }
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
                (table(view, "running", "Downloads in flight", &["File", "Progress", ""], "No download in flight."))
            }
            div.card {
                h2 { "Most requested" }
                (table(view, "requested", "Most requested projects", &["Project", "Files requested", ""],
                    "No file was requested yet."))
            }
            div.card {
                h2 { "Largest" }
                (table(view, "largest", "Largest projects", &["Project", "Stored", "Files"], "No file was requested yet."))
            }
            div.card.wide {
                h2 { "Slowest indexes" }
                (table(view, "latencies", "Latencies of the indexes",
                    &["Index", "Requests for", "Median", "95th percentile", "Requests", "Failures"],
                    "No request was sent to an index yet."))
            }
            div.card.wide {
                h2 { "Refused requests" }
                (table(view, "refusals", "Refused requests by reason", &["Reason", "Meaning", "Requests"],
                    "No request was refused."))
            }
            div.card.wide {
                h2 { "Recent failures" }
                (table(view, "failures", "Recent failures", &["Project or file", "Cause", "Last", "Times"],
                    "Nothing failed since the start."))
            }
            div.card.wide {
                h2 { "Indexes" }
                (table(view, "indexes", "Indexes", &["URL", "Pages", "State"], "No index is configured."))
            }
        }
    }
}

fn projects(view: &View, query: &str) -> Markup {
    let headers: &[&str] = if view.projects.has_several_indexes() {
        &["Project", "Index", "Files", "Stored", "Last used"]
    } else {
        &["Project", "Files", "Stored", "Last used"]
    };
    html! {
        section.card.projects {
            h2 { "Cached projects: " (text(view, "projects")) }
            form action="status" method="get" role="search" {
                label for="q" { "Part of a name" }
                input #q name="q" type="search" value=(query) maxlength="200" autocapitalize="none" spellcheck="false";
                button type="submit" { "Search" }
                @if !query.is_empty() { a href="status" { "Show all" } }
            }
            (table(view, "projects", "Cached projects", headers,
                if query.is_empty() { "No project is cached." } else { "No cached project has this in its name." }))
        }
    }
}

/// Tables whose rows become blocks on narrow screens.
const TALL: [&str; 6] = ["running", "indexes", "projects", "latencies", "refusals", "failures"];

fn table(view: &View, name: &'static str, label: &str, headers: &[&str], placeholder: &str) -> Markup {
    let rows = view.tables.get(name).map_or(&[][..], Vec::as_slice);
    html! {
        table.tall[TALL.contains(&name)] aria-label=(label) {
            thead { tr { @for header in headers {
                // Columns of bars and buttons need no header.
                @if header.is_empty() { td {} } @else { th scope="col" { (header) } }
            } } }
            tbody data-table=(name) { @for row in rows { (table_row(row, headers)) } }
        }
        // Hidden by the style if the table has rows.
        p.nothing { (placeholder) }
    }
}

fn table_row(row: &Row, headers: &[&str]) -> Markup {
    html! {
        tr {
            @for (cell, header) in row.cells.iter().zip(headers) { td data-label=(header) { (cell) } }
            @if let Some(bar) = row.bar { td { (progress(bar)) } }
            // The script adds the button, which needs it.
            @if row.purge.is_some() { td {} }
        }
    }
}

fn progress(bar: Bar) -> Markup {
    match bar.max {
        Some(max) => html! { progress value=(bar.value) max=(max.max(1)) aria-label="Part" {} },
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
