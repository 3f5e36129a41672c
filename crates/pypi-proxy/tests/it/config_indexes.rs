//! Settings of named indexes.

use pypi_proxy::Error;
use pypi_proxy::config::{ProxyBuilder, Settings, Sources};

use crate::config::shown;

fn from_file(text: &str) -> Result<Settings, Error> {
    Settings::read(&Sources::new().env([("PYPI_PROXY_MIN_AGE", "1d")]).file("proxy.toml", text))
}

#[test]
fn named_indexes_have_their_own_settings_and_inherit_others() {
    let text = "index_url = 'https://a.example.org/'\nextra_index_urls = 'https://b.example.org/'\nprivate_indexes = 2\n\
                index_ttl = '1h'\nproject_sources = 'acme-*=2'\nyanked = 'hide'\nindex_strategy = 'unsafe-first-match'\n\
                [index.torch-cu128]\nindex_url = 'https://u:hunter2@c.example.org/whl'\nmin_age = '0s'\nindex_ttl = '1d'\n\
                [index.x]\nindex_url = 'https://d.example.org/'\nextra_index_urls = ['https://e.example.org']\n\
                private_indexes = [1, 2]\noffline = true\n";
    let settings = from_file(text).unwrap();
    assert_eq!(settings.indexes.keys().collect::<Vec<_>>(), ["torch-cu128", "x"]);
    let (torch, x) = (&settings.indexes["torch-cu128"], &settings.indexes["x"]);
    for (index, name, value, origin) in [
        (torch, "index_url", "https://***@c.example.org/whl/", "proxy.toml: [index.torch-cu128]"),
        (torch, "index_ttl", "1d", "proxy.toml: [index.torch-cu128]"),
        // Not even a variable precedes the table.
        (torch, "min_age", "0s", "proxy.toml: [index.torch-cu128]"),
        (torch, "yanked", "hide", "proxy.toml"),
        (torch, "index_strategy", "unsafe-first-match", "proxy.toml"),
        (torch, "extra_index_urls", "", "default"),
        (torch, "private_indexes", "", "default"),
        (torch, "project_sources", "", "default"),
        (x, "min_age", "1d", "PYPI_PROXY_MIN_AGE"),
        (x, "index_ttl", "1h", "proxy.toml"),
        (x, "private_indexes", "1, 2", "proxy.toml: [index.x]"),
        (x, "offline", "true", "proxy.toml: [index.x]"),
        (&settings, "private_indexes", "2", "proxy.toml"),
        (&settings, "offline", "false", "default"),
    ] {
        assert_eq!(shown(index, name), (value.to_owned(), origin.to_owned()), "{name}");
    }
    let toml = settings.to_toml();
    assert!(!format!("{settings}{settings:?}{toml}").contains("hunter2"));
    // An index with credentials is not written.
    let again = Settings::read(&Sources::new().file("f", toml)).unwrap();
    assert_eq!(again.indexes.keys().collect::<Vec<_>>(), ["x"]);
    assert_eq!(shown(&again.indexes["x"], "private_indexes").0, "1, 2");
    assert!(
        ProxyBuilder::new(&settings, None)
            .unwrap()
            .named()
            .map(|index| index.name().map(str::len))
            .eq([Some(11), Some(1)])
    );
}

#[test]
fn wrong_named_indexes_are_errors() {
    const URL: &str = "index_url = 'https://a.example.org/'\n";
    let table = |name: &str, text: &str| format!("{URL}[index.{name}]\n{text}");
    for (text, expected) in [
        ("index = 'hunter2'".to_owned(), "proxy.toml: index: expected tables such as [index.NAME]"),
        ("index.a = 'hunter2'".into(), "proxy.toml: index.a: expected a table"),
        (table("a", ""), "proxy.toml: [index.a]: index_url is missing"),
        (table("Torch", URL), "proxy.toml: [index.Torch]: expected a normalized name"),
        (table("\"a b\"", URL), "proxy.toml: [index.a b]: expected a name"),
        (table("simple", URL), "proxy.toml: [index.simple]: the name is that of another path"),
        (
            table("a", "index_url = 'hunter2'"),
            "proxy.toml: [index.a]: index_url: expected an http or https URL",
        ),
        (table("a", &format!("{URL}listen = '1'")), "[index.a]: listen: applies to all indexes"),
        (
            table("a", &format!("{URL}admin_token = 'hunter2'")),
            "[index.a]: admin_token: applies to all indexes",
        ),
        (
            table("a", &format!("{URL}file_hosts = 'https://u:hunter2@h/'")),
            "[index.a]: file_hosts: expected host names",
        ),
        (
            format!("{URL}[indexes.a]\n"),
            "indexes: expected a value or an array of values (tables are [index.NAME])",
        ),
        (table("a", &format!("{URL}no_such = 'hunter2'")), "[index.a]: no_such: unknown setting"),
        (table("a", &format!("{URL}yanked = {{ x = 'hunter2' }}")), "[index.a]: yanked: expected a value"),
        (table("a", &format!("{URL}[index.a.b]\nc = 1")), "[index.a]: b: expected a value"),
        (
            table("a", &format!("{URL}min_age = 'hunter2'")),
            "proxy.toml: [index.a]: min_age: expected a duration",
        ),
        (
            table("a", &format!("{URL}private_indexes = [2]")),
            "[index.a]: private_indexes has 2, but there are 1 indexes",
        ),
        (
            table("a", &format!("{URL}private_indexes = 0")),
            "[index.a]: private_indexes has 0, but there are 1 indexes",
        ),
        (table("a", &format!("{URL}project_sources = 'x=2'")), "[index.a]: project_sources has x=2"),
        (
            table("a", &format!("{URL}index_strategy = 'best'")),
            "[index.a]: index_strategy: expected one of first-index",
        ),
    ] {
        let error = from_file(&text).unwrap_err();
        let text = error.to_string();
        assert!(error.is_config() && text.contains(expected), "{expected} is not in {text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    // An error of an inherited value is reported once.
    let text =
        from_file(&format!("index_ttl = 'x'\n{}[index.b]\n{URL}", table("a", URL))).unwrap_err().to_string();
    assert_eq!(text.matches("index_ttl").count(), 1, "{text}");
    // The index itself.
    let text =
        format!("listen = '127.0.0.1:5000'\n{}", table("a", "index_url = 'http://localhost:5000/simple'"));
    let settings = from_file(&text).unwrap();
    assert!(ProxyBuilder::new(&settings, None).unwrap_err().to_string().contains("the proxy itself"));
}
