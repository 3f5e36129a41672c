//! The status page in a browser: on a phone and on a desktop, light and dark, and its buttons.
//!
//! Needs Chromium: `chromium` on the path, or the program named by the variable `CHROMIUM`. Otherwise the test reports
//! that it was skipped. Screenshots are saved in the folder for temporary files of the target directory.
#![cfg(target_os = "linux")]

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use pypi_proxy::rules::ProjectSelector;

use crate::support::chromium::{Browser, Tab, program};
use crate::support::prelude::*;

const TOKEN: &str = "a token of the test";
const NAMES: [&str; 3] = ["demo", "numpy", "a-project-with-quite-a-long-name-that-wraps"];

fn file(project: &str) -> String {
    format!("{}-1.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", project.replace('-', "_"))
}

/// Index with projects of one file each, and a project whose file never ends.
fn index() -> Server {
    Server::start(|request| {
        let entry = |name: &str, content: &[u8]| {
            let mut entry = listed(&file(name), content);
            entry["url"] = format!("../../f/{name}").into();
            entry
        };
        let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
        match parts[..] {
            ["simple", "endless"] => {
                let mut file = entry("endless", b"");
                file["hashes"] = json!({});
                file["size"] = 50_000_000.into();
                respond(200, &[JSON], page_of(&[file]))
            }
            ["simple", name] if NAMES.contains(&name) => {
                respond(200, &[JSON], page_of(&[entry(name, &content(name.len() * 300_000))]))
            }
            ["simple", "down"] => respond(503, &[], ""),
            ["f", "endless"] => {
                // Much longer than the browser takes on any machine.
                let rest =
                    slowly(vec![Step::Send(vec![0; 49_400_000].into())], 6_000, Duration::from_millis(300));
                let start =
                    [head(200, &[("content-length", "50000000")]), Step::Send(vec![0; 600_000].into())];
                [&start[..], &rest].concat()
            }
            ["f", name] => respond(200, &[], content(name.len() * 300_000)),
            _ => respond(404, &[], ""),
        }
    })
}

async fn traffic(proxy: &RunningProxy) {
    for (count, name) in NAMES.iter().enumerate() {
        for _ in 0..=count {
            proxy.get(&format!("/simple/{name}/"), &[]).await.bytes().await.unwrap();
            proxy.get(&format!("/simple/{name}/{}", file(name)), &[]).await.bytes().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_fits_and_its_buttons_work() {
    let Some(program) = program() else {
        skip("the_page_fits_and_its_buttons_work, because Chromium is not available");
        return;
    };
    let index = index();
    let proxy = start_with(&[index.url("/a&b'c/../simple")], |setup| {
        setup.serve.admin_token = Some(TOKEN.to_owned());
        setup.pages.rules.deny = vec![ProjectSelector::parse("denied-*").unwrap()];
    });
    for (path, status) in [("/simple/down/", 502), ("/simple/denied-project/", 403)] {
        assert_eq!(proxy.get(path, &[]).await.status(), status);
    }
    traffic(&proxy).await;
    let endless = proxy.get(&format!("/simple/endless/{}", file("endless")), &[]).await;
    let url = proxy.url("/");
    let requests_before = index.count();
    let look = move || look(&mut Browser::start(&program), &url);
    tokio::task::spawn_blocking(look).await.unwrap();
    drop(endless);
    // The purged pages and the file are fetched again.
    assert_eq!(index.count(), requests_before);
    traffic(&proxy).await;
    assert_eq!(index.count(), requests_before + NAMES.len() + 1);
}

fn look(browser: &mut Browser, url: &str) {
    for (name, size) in [("phone", (360, 740)), ("desk", (1280, 800))] {
        let mut backs = Vec::new();
        for (scheme, is_dark) in [("light", false), ("dark", true)] {
            let mut tab = browser.open(url, size, is_dark);
            tab.wait(
                "document.querySelector('[data-text=\"all-hits\"]')?.textContent.includes('%') ?? false",
            );
            tab.wait("document.querySelectorAll('[data-table=\"running\"] tr').length == 1");
            tab.wait("document.querySelectorAll('[data-table=\"requested\"] button').length == 4");
            tab.wait("document.querySelectorAll('[data-table=\"largest\"] tr').length == 3");
            tab.wait("/\\d/.test(document.querySelector('[data-text=\"slow\"]').textContent)");
            tab.wait("document.querySelectorAll('[data-table=\"projects\"] tr').length == 4");
            check(&mut tab, size.0, &format!("{name} {scheme}"));
            backs.push(tab.value("getComputedStyle(document.body).backgroundColor"));
            save(&mut tab, size.0, &format!("{name}-{scheme}"));
        }
        assert_ne!(backs[0], backs[1], "dark is another background than light");
    }
    without_scripts(browser, url);
    let mut tab = browser.open(url, (360, 740), false);
    tab.wait("document.querySelectorAll('[data-table=\"requested\"] button').length == 4");
    let before = tab.value("document.querySelector('[data-text=\"all-requests\"]').textContent");
    tab.click("#purge-all");
    tab.wait("document.querySelector('#result').textContent == 'The admin token is missing or wrong.'");
    tab.type_into("#token", TOKEN);
    tab.click("[data-table=\"requested\"] button");
    tab.wait("document.querySelector('#result').textContent.startsWith('Purged: cache/')");
    tab.wait("document.querySelectorAll('[data-table=\"requested\"] button').length == 3");
    tab.click("#purge-file");
    assert_eq!(tab.value("document.activeElement.id"), "project", "what is missing has the focus");
    tab.type_into("#project", "Demo");
    tab.type_into("#file", &file("demo"));
    tab.click("#purge-file");
    tab.wait("document.querySelector('#result').textContent.startsWith('Purged: cache/Demo/demo-1.0')");
    tab.wait("document.querySelectorAll('[data-table=\"largest\"] tr').length == 2");
    tab.click("#purge-all");
    tab.wait("document.querySelector('#result').textContent == 'Purged: cache'");
    tab.wait("document.querySelectorAll('[data-table=\"requested\"] tr').length == 0");
    // The page updates itself.
    assert!(before.as_str().unwrap().parse::<u64>().unwrap() > 0);
    let kept = "JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href])";
    assert!(!tab.value(kept).as_str().unwrap().contains("token"));
    let complaints: Vec<_> = browser.events.iter().filter(|event| is_complaint(event)).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Everything is on the page, and a form searches the projects.
fn without_scripts(browser: &mut Browser, url: &str) {
    browser.runs_scripts = false;
    for (name, size) in [("phone", (360, 740)), ("desk", (1280, 800))] {
        for (scheme, is_dark) in [("light", false), ("dark", true)] {
            let name = format!("{name}-{scheme}-no-scripts");
            let mut tab = browser.open(url, size, is_dark);
            for (table, rows) in [("projects", 4), ("requested", 4), ("refusals", 1), ("failures", 1)] {
                tab.wait(&format!(
                    "document.querySelectorAll('[data-table=\"{table}\"] tr').length == {rows}"
                ));
            }
            check(&mut tab, size.0, &name);
            save(&mut tab, size.0, &name);
            tab.type_into("#q", "<b>Long_Name");
            tab.click("form button");
            tab.wait("location.search == '?q=%3Cb%3ELong_Name' && document.readyState == 'complete'");
            assert_eq!(tab.value("document.querySelector('#q').value"), "<b>Long_Name");
            assert_eq!(tab.value("document.querySelectorAll('[data-table=\"projects\"] tr').length"), 0);
            tab.click("form a");
            tab.wait("location.search == '' && document.readyState == 'complete'");
            tab.type_into("#q", "Long_Name");
            tab.click("form button");
            tab.wait("location.search == '?q=Long_Name' && document.readyState == 'complete'");
            let found = tab.value("document.querySelector('[data-table=\"projects\"] td').textContent");
            assert_eq!(found, NAMES[2]);
            check(&mut tab, size.0, &name);
        }
    }
    browser.runs_scripts = true;
}

/// Checks that nothing is wider than the window, and the contrast and names of elements.
fn check(tab: &mut Tab<'_>, width: u32, what: &str) {
    let wide = tab.value(
        "[...document.querySelectorAll('*')].filter(element => \
         element.getBoundingClientRect().right > innerWidth + 1).map(element => element.outerHTML.slice(0, 200))",
    );
    assert_eq!(wide, json!([]), "{what}");
    let widths = tab.value("[document.documentElement.scrollWidth, innerWidth]");
    assert_eq!(widths, json!([width, width]), "{what}");
    let faint = tab.value(
        "(() => {
          const parts = color => color.match(/[\\d.]+/g).map(Number);
          const light = color => parts(color).slice(0, 3).map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
          const back = element => {
            const color = getComputedStyle(element).backgroundColor;
            return parts(color)[3] === 0 && element.parentElement ? back(element.parentElement) : color;
          };
          const contrast = element => {
            const [less, more] = [getComputedStyle(element).color, back(element)].map(light).sort((a, b) => a - b);
            return (more + 0.05) / (less + 0.05);
          };
          const isText = node => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '';
          return [...document.body.querySelectorAll('*:not(script, noscript)')]
            .filter(element => [...element.childNodes].some(isText) && contrast(element) < 4.5)
            .map(element => element.outerHTML.slice(0, 200) + contrast(element));
        })()",
    );
    assert_eq!(faint, json!([]), "{what}");
    let nameless = tab.value(
        "[...document.querySelectorAll('input:not([hidden])')].filter(input => input.labels.length === 0)
          .concat([...document.querySelectorAll('table, progress')].filter(element => !element.ariaLabel))
          .concat([...document.querySelectorAll('th, h1, h2, button, a')].filter(element => !element.textContent))
          .map(element => element.outerHTML.slice(0, 200))",
    );
    assert_eq!(nameless, json!([]), "{what}");
    assert_eq!(tab.value("document.querySelectorAll('h1').length"), 1, "{what}");
}

fn save(tab: &mut Tab<'_>, width: u32, name: &str) {
    let picture = BASE64_STANDARD.decode(tab.picture()).unwrap();
    assert_eq!(picture[16..20], width.to_be_bytes(), "the width of a PNG");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("status-{name}.png"));
    std::fs::write(path, picture).unwrap();
}

/// Returns whether an event is a script error or a violation of the content security policy.
fn is_complaint(event: &Value) -> bool {
    match event["method"].as_str() {
        Some("Runtime.exceptionThrown") => true,
        // Network errors are caused by the test.
        Some("Log.entryAdded") => {
            event["params"]["entry"]["source"] != "network" && event["params"]["entry"]["level"] == "error"
        }
        _ => false,
    }
}
