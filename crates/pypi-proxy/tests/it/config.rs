//! Settings: names, precedence, validation and secrets.

use std::path::Path;

use proptest::prelude::*;
use pypi_proxy::Error;
use pypi_proxy::config::{Level, LogFormat, ProxyBuilder, Settings, Sources, StorageType, document};

use crate::support::prelude::*;

fn read<'a>(env: impl IntoIterator<Item = (&'a str, &'a str)>) -> Settings {
    Settings::read(&Sources::new().env(env)).unwrap()
}

fn refuse<'a>(env: impl IntoIterator<Item = (&'a str, &'a str)>) -> Error {
    Settings::read(&Sources::new().env(env)).unwrap_err()
}

/// Returns the displayed value of a setting and its source.
pub(crate) fn shown(settings: &Settings, name: &str) -> (String, String) {
    let row = settings.rows().into_iter().find(|row| row.setting.name == name).unwrap();
    (row.shown, row.origin.to_string())
}

/// Variable, its value, the setting, and the resulting value.
type Case = (&'static str, &'static str, &'static str, &'static str);

const GROXPI: &[Case] = &[
    ("PORT", "8080", "listen", "0.0.0.0:8080"),
    ("HOST", "::1", "listen", "[::1]:5000"),
    ("HOST", "proxy.example.org", "listen", "proxy.example.org:5000"),
    ("GROXPI_INDEX_URL", "https://u:p@example.org/x", "index_url", "https://***@example.org/x/"),
    ("GROXPI_INDEX_TTL", "60", "index_ttl", "1m"),
    (
        "GROXPI_EXTRA_INDEX_URLS",
        "https://b.test, http://c.test/x/",
        "extra_index_urls",
        "https://b.test/, http://c.test/x/",
    ),
    ("GROXPI_CACHE_SIZE", "1073741824", "cache_size", "1 GiB"),
    ("GROXPI_CACHE_SIZE", "0", "cache_size", "unlimited"),
    ("GROXPI_CACHE_DIR", "/var/cache", "cache_dir", "/var/cache/pypi-proxy"),
    ("GROXPI_DOWNLOAD_TIMEOUT", "2.5", "download_timeout", "2.5s"),
    ("GROXPI_DOWNLOAD_TIMEOUT", "0", "download_timeout", "0s"),
    ("GROXPI_CONNECT_TIMEOUT", "3", "connect_timeout", "3s"),
    ("GROXPI_CONNECT_TIMEOUT", "0", "connect_timeout", ""),
    ("GROXPI_READ_TIMEOUT", "7.5", "read_timeout", "7.5s"),
    ("GROXPI_LOGGING_LEVEL", "WARNING", "logging_level", "warn"),
    ("GROXPI_LOGGING_LEVEL", "FATAL", "logging_level", "error"),
    ("GROXPI_LOG_FORMAT", "console", "log_format", "text"),
    ("GROXPI_LOG_FORMAT", "json", "log_format", "json"),
    ("GROXPI_LOG_COLOR", "No", "log_color", "false"),
    ("GROXPI_DISABLE_INDEX_SSL_VERIFICATION", "1", "disable_index_ssl_verification", "true"),
    ("GROXPI_DISABLE_INDEX_SSL_VERIFICATION", "OFF", "disable_index_ssl_verification", "false"),
    ("GROXPI_BINARY_FILE_MIME_TYPE", "anything", "binary_file_mime_type", "true"),
    ("GROXPI_STORAGE_TYPE", "LOCAL", "storage_type", "local"),
    ("AWS_ENDPOINT_URL", "http://u:p@s3.example.org:9000", "s3_endpoint", "***@s3.example.org:9000"),
    ("AWS_ACCESS_KEY_ID", "key", "s3_access_key_id", "***"),
    ("AWS_SECRET_ACCESS_KEY", "secret", "s3_secret_access_key", "***"),
    ("AWS_SESSION_TOKEN", "token", "s3_session_token", "***"),
    ("AWS_REGION", "eu-central-1", "s3_region", "eu-central-1"),
    ("GROXPI_S3_BUCKET", "wheels", "s3_bucket", "wheels"),
    ("GROXPI_S3_PREFIX", "py", "s3_prefix", "py"),
    ("GROXPI_S3_FORCE_PATH_STYLE", "true", "s3_force_path_style", "true"),
    ("GROXPI_S3_USE_SSL", "false", "s3_use_ssl", "false"),
    ("GROXPI_S3_PART_SIZE", "5242880", "s3_part_size", "5 MiB"),
    ("GROXPI_S3_MAX_CONNECTIONS", "7", "s3_max_connections", "7"),
    ("GROXPI_S3_READ_POOL_SIZE", "1", "s3_read_pool_size", "1"),
    ("GROXPI_S3_WRITE_POOL_SIZE", "2", "s3_write_pool_size", "2"),
    ("GROXPI_S3_META_POOL_SIZE", "3", "s3_meta_pool_size", "3"),
    ("GROXPI_S3_ENABLE_HTTP2", "no", "s3_enable_http2", "false"),
    ("GROXPI_S3_TRANSFER_ACCEL", "yes", "s3_transfer_accel", "true"),
    ("GROXPI_S3_ASYNC_WRITES", "0", "s3_async_writes", "false"),
    ("GROXPI_S3_ASYNC_WORKERS", "4", "s3_async_workers", "4"),
    ("GROXPI_S3_ASYNC_QUEUE_SIZE", "5", "s3_async_queue_size", "5"),
    ("GROXPI_LOCAL_CACHE_SIZE", "1024", "local_cache_size", "1 KiB"),
    ("GROXPI_LOCAL_CACHE_DIR", "/l1", "local_cache_dir", "/l1/pypi-proxy"),
    ("GROXPI_LOCAL_CACHE_TTL", "3600", "local_cache_ttl", "1h"),
    ("GROXPI_TIERED_SYNC_WORKERS", "6", "tiered_sync_workers", "6"),
    ("GROXPI_TIERED_SYNC_QUEUE_SIZE", "8", "tiered_sync_queue_size", "8"),
    // Only in its documentation.
    ("GROXPI_RESPONSE_CACHE_SIZE", "1048576", "response_cache_size", "1 MiB"),
    ("GROXPI_RESPONSE_CACHE_TTL", "60", "response_cache_ttl", "1m"),
    ("GROXPI_MAX_CONCURRENT_DOWNLOADS", "9", "max_concurrent_downloads", "9"),
];

const PROXPI: &[Case] = &[
    ("PROXPI_INDEX_URL", "https://a.example.org/simple/", "index_url", "https://a.example.org/simple/"),
    ("PROXPI_INDEX_TTL", "0", "index_ttl", "0s"),
    ("PROXPI_EXTRA_INDEX_URLS", "https://b.example.org/", "extra_index_urls", "https://b.example.org/"),
    ("PROXPI_CACHE_SIZE", "1000", "cache_size", "1000"),
    ("PROXPI_CACHE_SIZE", "0", "cache_size", "0"),
    ("PYPI_PROXY_CACHE_SIZE", "0", "cache_size", "0"),
    ("PYPI_PROXY_CACHE_SIZE", "unlimited", "cache_size", "unlimited"),
    ("PYPI_PROXY_PROJECT_SOURCES", "Acme_* = 1, six=1", "project_sources", "acme-*=1, six=1"),
    (
        "PYPI_PROXY_TRUSTED_PROXIES",
        "10.1.2.3, 2001:db8::/32",
        "trusted_proxies",
        "10.1.2.3/32, 2001:db8::/32",
    ),
    ("PYPI_PROXY_YANKED", "Refuse", "yanked", "refuse"),
    (
        "PYPI_PROXY_DENY_PROJECTS",
        "Urllib3 >=1.26,<2 , six, acme-*==1.*",
        "deny_projects",
        "urllib3 >=1.26, <2, six, acme-* ==1.*",
    ),
    ("PYPI_PROXY_EXCLUDE_NEWER", "2024-05-01T02:00:00+02:00", "exclude_newer", "2024-05-01T02:00:00+02:00"),
    ("PROXPI_CACHE_DIR", "/var/cache", "cache_dir", "/var/cache/pypi-proxy"),
    ("PROXPI_DOWNLOAD_TIMEOUT", "0.9", "download_timeout", "0.9s"),
    ("PROXPI_CONNECT_TIMEOUT", "1", "connect_timeout", "1s"),
    ("PROXPI_READ_TIMEOUT", "2", "read_timeout", "2s"),
    ("PROXPI_BINARY_FILE_MIME_TYPE", "1", "binary_file_mime_type", "true"),
    ("PROXPI_BINARY_FILE_MIME_TYPE", "", "binary_file_mime_type", "false"),
    ("PROXPI_DISABLE_INDEX_SSL_VERIFICATION", "yes", "disable_index_ssl_verification", "true"),
    ("PROXPI_DISABLE_INDEX_SSL_VERIFICATION", "false", "disable_index_ssl_verification", "false"),
    ("PROXPI_LOGGING_LEVEL", "CRITICAL", "logging_level", "error"),
    ("PROXPI_LOGGING_LEVEL", "DEBUG", "logging_level", "debug"),
    ("NO_COLOR", "1", "log_color", "false"),
];

#[test]
fn variables_of_groxpi_and_proxpi_keep_their_meaning() {
    for (variable, value, name, expected) in GROXPI.iter().chain(PROXPI) {
        let (text, origin) = shown(&read([(*variable, *value)]), name);
        assert_eq!(text, *expected, "{variable}={value}");
        let expected_origin = if value.is_empty() { "default" } else { variable };
        assert_eq!(origin, expected_origin, "{variable}={value}");
    }
}

#[test]
fn lists_of_ttls_match_lists_of_indexes() {
    for prefix in ["GROXPI", "PROXPI", "PYPI_PROXY"] {
        let urls = format!("{prefix}_EXTRA_INDEX_URLS");
        let ttls = format!("{prefix}_EXTRA_INDEX_TTLS");
        let two = (&*urls, "https://b.example.org,https://c.example.org");
        assert_eq!(shown(&read([two, (&ttls, "60, 0")]), "extra_index_ttls").0, "1m, 0s");
        let error = refuse([two, (&ttls, "60")]);
        assert!(error.to_string().contains(&ttls), "{error}");
    }
    let old = [
        ("PROXPI_EXTRA_INDEX_TTL", "5"),
        ("PROXPI_EXTRA_INDEX_TTLS", "6"),
        ("PROXPI_EXTRA_INDEX_URLS", "https://b.example.org"),
    ];
    assert_eq!(shown(&read(old), "extra_index_ttls"), ("5s".into(), "PROXPI_EXTRA_INDEX_TTL".into()));
}

#[test]
fn sources_of_settings_have_precedence() {
    let mut sources = Sources::new();
    let ttl = |sources: &Sources| shown(&Settings::read(sources).unwrap(), "index_ttl");
    assert_eq!(ttl(&sources), ("30m".into(), "default".into()));
    sources = sources.file("proxy.toml", "index_ttl = \"5s\"");
    assert_eq!(ttl(&sources), ("5s".into(), "proxy.toml".into()));
    for (variable, value) in
        [("PROXPI_INDEX_TTL", "4"), ("GROXPI_INDEX_TTL", "3"), ("PYPI_PROXY_INDEX_TTL", "2s")]
    {
        sources = sources.env([(variable, value)]);
        assert_eq!(ttl(&sources), (format!("{}s", &value[..1]), variable.into()));
    }
    sources = sources.flag("index_ttl", "1");
    assert_eq!(ttl(&sources), ("1s".into(), "--index-ttl".into()));
}

#[test]
fn listen_overrides_host_and_port() {
    let both = [("HOST", "10.0.0.1"), ("PORT", "81")];
    assert_eq!(shown(&read(both), "listen"), ("10.0.0.1:81".into(), "HOST and PORT".into()));
    let own = both.into_iter().chain([("PYPI_PROXY_LISTEN", "[::]:82")]);
    assert_eq!(shown(&read(own), "listen"), ("[::]:82".into(), "PYPI_PROXY_LISTEN".into()));
    for (text, expected) in [
        ("80", "127.0.0.1:80"),
        (":80", "0.0.0.0:80"),
        ("localhost", "localhost:5000"),
        ("[::1]", "[::1]:5000"),
        ("0.0.0.0:0", "0.0.0.0:0"),
    ] {
        assert_eq!(shown(&read([("PYPI_PROXY_LISTEN", text)]), "listen").0, expected, "{text}");
    }
    for text in ["65536", "a:b", "[::1", "::1", "a b:1", "http://a:1", "a:-1", "[x]:1"] {
        let error = refuse([("PYPI_PROXY_LISTEN", text)]);
        assert!(error.to_string().contains("PYPI_PROXY_LISTEN"), "{text}: {error}");
    }
    for (variable, text) in [("PORT", "x:1"), ("PORT", "65536"), ("HOST", "a:b"), ("HOST", "[x")] {
        assert!(refuse([(variable, text)]).to_string().contains(variable), "{text}");
    }
}

#[test]
fn every_setting_has_a_variable_a_key_and_a_default() {
    let defaults = read([]);
    for row in defaults.rows() {
        let setting = row.setting;
        if row.shown.is_empty() || setting.name == "cache_dir" {
            continue;
        }
        let by_variable = read([(&*setting.variable(), &*row.shown)]);
        assert_eq!(shown(&by_variable, setting.name), (row.shown.clone(), setting.variable()));
        let file = format!("{} = {}", setting.name, row.toml);
        let by_key = Settings::read(&Sources::new().file("proxy.toml", file)).unwrap();
        assert_eq!(shown(&by_key, setting.name), (row.shown.clone(), "proxy.toml".into()));
        let by_flag = Settings::read(&Sources::new().flag(setting.name, row.shown.as_str())).unwrap();
        assert_eq!(shown(&by_flag, setting.name).0, row.shown);
    }
    assert_eq!(defaults.logging_level.value, Level::Info);
    assert_eq!(defaults.log_format.value, LogFormat::Text);
    assert_eq!(defaults.storage_type.value, StorageType::Local);
}

#[test]
fn clients_are_redirected_only_if_this_is_configured() {
    let after = |env: &[(&str, &str)]| {
        let index = [("PYPI_PROXY_INDEX_URL", "https://a.example.org/simple/")];
        let settings = read(index.into_iter().chain(env.iter().copied()));
        ProxyBuilder::new(&settings, None).unwrap().serve().unwrap().redirect_after
    };
    let bucket = [("GROXPI_STORAGE_TYPE", "s3"), ("GROXPI_S3_BUCKET", "wheels")];
    let time = Some(Duration::from_millis(900));
    for (env, expected) in [
        (&[][..], None),
        (&bucket, None),
        (&[("PYPI_PROXY_CACHE_SIZE", "0")], None),
        (&[("GROXPI_CACHE_SIZE", "0")], None),
        // proxpi without a cache redirects.
        (&[("PROXPI_CACHE_SIZE", "0")], Some(Duration::ZERO)),
        (&[("PYPI_PROXY_CACHE_SIZE", "0"), ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "0.9")], Some(Duration::ZERO)),
        (&[("GROXPI_DOWNLOAD_TIMEOUT", "0.9")], time),
        (&[("PROXPI_DOWNLOAD_TIMEOUT", "0.9"), bucket[0], bucket[1]], time),
        (&[("PYPI_PROXY_DOWNLOAD_TIMEOUT", "900ms")], time),
        (&[("PYPI_PROXY_DOWNLOAD_TIMEOUT", "900ms"), ("PYPI_PROXY_OFFLINE", "true")], None),
        (&[("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"), ("GROXPI_DOWNLOAD_TIMEOUT", "0.9")], None),
    ] {
        assert_eq!(after(env), expected, "{env:?}");
    }
}

#[test]
fn unknown_variables_of_other_programs_are_warnings() {
    let settings = read([
        ("GROXPI_CACHE_SIZ", "hunter2"),
        ("PROXPI_ADMIN_TOKEN", "hunter2"),
        ("PROXPI_ADMIN_TOKEN_FILE", "hunter2"),
        ("GROXPI_WHATEVER_ELSE", "hunter2"),
        ("GROXPI_RESPONSE_CACHE_TTL", "1"),
        (&format!("GROXPI_{}", "X".repeat(100_000)), "hunter2"),
    ]);
    let text = settings.warnings().join("\n");
    for part in [
        "GROXPI_CACHE_SIZ: unknown setting (similar: GROXPI_CACHE_SIZE); ignored",
        "PROXPI_ADMIN_TOKEN: unknown setting (similar: PYPI_PROXY_ADMIN_TOKEN); ignored",
        "PROXPI_ADMIN_TOKEN_FILE: unknown setting (similar: PYPI_PROXY_ADMIN_TOKEN_FILE); ignored",
        "GROXPI_WHATEVER_ELSE: unknown setting; ignored",
        "GROXPI_RESPONSE_CACHE_TTL has no effect",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("hunter2") && settings.warnings().len() == 6, "{text}");
    let error = refuse([("PYPI_PROXY_INDEX_TLL", "1")]).to_string();
    assert!(
        error.contains("PYPI_PROXY_INDEX_TLL: unknown setting (similar: PYPI_PROXY_INDEX_TTL)"),
        "{error}"
    );
    assert_eq!(read([]).warnings(), <[String; 0]>::default());
}

#[test]
fn secrets_can_be_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let token = write("token", b"hunter2\r\n");
    let index = write("index", b"https://reader:hunter2@a.example.org/simple/\n");
    let extra = write("extra", b"https://b.example.org/, https://c.example.org/");
    let env = [
        ("PYPI_PROXY_ADMIN_TOKEN_FILE", &*token),
        ("PYPI_PROXY_INDEX_URL_FILE", &index),
        ("PYPI_PROXY_EXTRA_INDEX_URLS_FILE", &extra),
        ("PYPI_PROXY_S3_SECRET_ACCESS_KEY_FILE", &token),
        // The file takes precedence over the variable of another program, as the variable does.
        ("GROXPI_INDEX_URL", "https://other.example.org/"),
    ];
    let settings = read(env);
    assert_eq!(settings.admin_token.as_ref().unwrap().expose(), "hunter2");
    assert_eq!(settings.s3_secret_access_key.as_ref().unwrap().expose(), "hunter2");
    let index = ("https://***@a.example.org/simple/".into(), "PYPI_PROXY_INDEX_URL_FILE".into());
    assert_eq!(shown(&settings, "index_url"), index);
    assert_eq!(shown(&settings, "extra_index_urls").0, "https://b.example.org/, https://c.example.org/");
    assert!(!format!("{settings}{settings:?}{}", settings.to_toml()).contains("hunter2"));
    // A flag has precedence.
    let flag = Sources::new().env(env).flag("index_url", "https://d.example.org/");
    assert_eq!(shown(&Settings::read(&flag).unwrap(), "index_url").1, "--index-url");

    let (empty, lines) = (write("empty", b" \n"), write("lines", b"hunter2\nhunter2\n"));
    let (binary, large) = (write("binary", b"hunter2\xff"), write("large", &[b'h'; 64 * 1024 + 1]));
    let (missing, folder) = (dir.path().join("hunter2"), dir.path().display().to_string());
    for (path, part) in [
        (&*missing.display().to_string(), "the file can't be read: No such file"),
        (&folder, "the file can't be read"),
        (&empty, "the file is empty"),
        (&lines, "the file has more than one line"),
        (&binary, "the file can't be read"),
        (&large, "the file can't be read: file too large"),
        // The secret itself instead of a path.
        ("hunter2", "the file can't be read"),
    ] {
        let text = refuse([("PYPI_PROXY_ADMIN_TOKEN_FILE", path)]).to_string();
        assert!(text.contains("PYPI_PROXY_ADMIN_TOKEN_FILE: ") && text.contains(part), "{path}: {text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    let text =
        refuse([("PYPI_PROXY_ADMIN_TOKEN_FILE", &*token), ("PYPI_PROXY_ADMIN_TOKEN", "x")]).to_string();
    assert!(text.contains("PYPI_PROXY_ADMIN_TOKEN_FILE: PYPI_PROXY_ADMIN_TOKEN is set as well"), "{text}");
    // A malformed value names the variable, and other settings have no such variable.
    let text = refuse([("PYPI_PROXY_INDEX_URL_FILE", &*token)]).to_string();
    assert!(text.contains("PYPI_PROXY_INDEX_URL_FILE: expected") && !text.contains("hunter2"), "{text}");
    assert!(refuse([("PYPI_PROXY_INDEX_TTL_FILE", &*token)]).to_string().contains("unknown setting"));
}

#[test]
fn all_other_sources_precede_the_file_of_defaults() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("defaults.toml");
    std::fs::write(&path, "listen = \"0.0.0.0:5000\"\nlog_format = \"json\"\ncache_dir = \"/cache\"\n")
        .unwrap();
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "log_format = \"text\"\n").unwrap();
    let read = |env: &[(&str, &str)], file: Option<&Path>| {
        let sources = Sources::new().env([("PYPI_PROXY_DEFAULTS", &*path)]).env(env.iter().copied());
        Settings::read(&sources.find_file(file).unwrap()).unwrap()
    };
    let origin = path.display().to_string();
    assert_eq!(shown(&read(&[], None), "listen"), ("0.0.0.0:5000".into(), origin.clone()));
    // The variables of groxpi and proxpi in an image.
    for (variable, value, name, expected) in [
        ("PORT", "8080", "listen", "0.0.0.0:8080"),
        ("HOST", "::1", "listen", "[::1]:5000"),
        ("GROXPI_LOG_FORMAT", "console", "log_format", "text"),
        ("GROXPI_CACHE_DIR", "/data", "cache_dir", "/data/pypi-proxy"),
        ("PROXPI_CACHE_DIR", "/data", "cache_dir", "/data/pypi-proxy"),
    ] {
        assert_eq!(shown(&read(&[(variable, value)], None), name), (expected.into(), variable.into()));
    }
    // A configuration file replaces only what it sets.
    let settings = read(&[], Some(&file));
    assert_eq!(shown(&settings, "log_format"), ("text".into(), file.display().to_string()));
    assert_eq!(shown(&settings, "cache_dir"), ("/cache".into(), origin));
    std::fs::write(&path, "listn = 1\n").unwrap();
    let sources = Sources::new().env([("PYPI_PROXY_DEFAULTS", &*path)]).find_file(None).unwrap();
    let text = Settings::read(&sources).unwrap_err().to_string();
    assert!(text.contains("defaults.toml: unknown setting listn (similar: listen)"), "{text}");
    let missing = Sources::new().env([("PYPI_PROXY_DEFAULTS", "/nonexistent")]).find_file(None).unwrap_err();
    assert!(missing.is_config() && missing.to_string().contains("/nonexistent"), "{missing}");
}

#[test]
fn all_errors_are_reported_at_once_without_values() {
    let sources = Sources::new()
        .env([
            ("PYPI_PROXY_CACHE_SIZ", "1"),
            ("PROXPI_INDEX_URL", "ftp://user:hunter2@example.org"),
            ("PYPI_PROXY_INDEX_TTL", "hunter2"),
            ("PYPI_PROXY_MAX_CONNECTIONS", "-1"),
            ("PYPI_PROXY_SYNC_FILES", "hunter2"),
            ("UNRELATED", "x"),
        ])
        .flag("no_such", "hunter2")
        .file("proxy.toml", "log_format = \"hunter2\"\nunknown_key = \"hunter2\"\nindex = { a = 1 }\n");
    let error = Settings::read(&sources).unwrap_err();
    assert!(error.is_config());
    let text = error.to_string();
    for part in [
        "PYPI_PROXY_CACHE_SIZ: unknown setting",
        "PROXPI_INDEX_URL: expected an http or https URL",
        "PYPI_PROXY_INDEX_TTL: expected a duration",
        "PYPI_PROXY_MAX_CONNECTIONS: expected a number",
        "PYPI_PROXY_SYNC_FILES: expected true or false",
        "--no_such: unknown setting",
        "proxy.toml: log_format: expected text",
        "proxy.toml: unknown setting unknown_key",
        "proxy.toml: index.a: expected a table",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("hunter2") && !text.contains("UNRELATED"), "{text}");
    assert!(!format!("{sources:?}").contains("hunter2"));
}

#[test]
fn indexes_of_groxpi_and_proxpi_are_united() {
    for prefix in ["GROXPI", "PROXPI"] {
        let urls = format!("{prefix}_EXTRA_INDEX_URLS");
        let extra = (&*urls, "https://b.example.org");
        let settings = read([extra]);
        assert_eq!(shown(&settings, "index_strategy"), ("unsafe-best-match".into(), urls.clone()));
        assert_eq!(shown(&settings, "merge_projects"), ("*".into(), urls.clone()));
        let set = read([extra, ("PYPI_PROXY_INDEX_STRATEGY", "first-index")]);
        assert_eq!(shown(&set, "index_strategy").0, "first-index");
    }
    let own = read([("PYPI_PROXY_EXTRA_INDEX_URLS", "https://b.example.org")]);
    assert_eq!(
        (shown(&own, "index_strategy").0, shown(&own, "merge_projects").0),
        ("first-index".into(), String::new())
    );
}

#[test]
fn toml_errors_have_line_numbers_but_no_content() {
    let sources =
        Sources::new().file("proxy.toml", "index_ttl = 1\nindex_url = https://user:hunter2@example.org\n");
    let text = Settings::read(&sources).unwrap_err().to_string();
    assert!(text.contains("proxy.toml: line 2") && !text.contains("hunter2"), "{text}");
}

#[test]
fn zero_is_invalid_where_a_setting_has_a_minimum() {
    let index = "[index.a]\nindex_url = 'https://a.example.org/simple'\nmax_concurrent_pages = 0\n";
    let sources =
        Sources::new().file("proxy.toml", format!("max_connections = 0\nheader_timeout = '0s'\n{index}"));
    let text = Settings::read(&sources).unwrap_err().to_string();
    for name in ["max_connections", "header_timeout", "[index.a]: max_concurrent_pages"] {
        assert!(text.contains(&format!("proxy.toml: {name}: must be greater than 0")), "{text}");
    }
}

#[test]
fn contradictory_settings_are_rejected() {
    for (name, value) in [
        ("max_connections", "0"),
        ("max_concurrent_downloads", "0"),
        ("header_timeout", "0"),
        ("stall_timeout", "0"),
        ("connect_timeout", "0"),
        ("index_ttl", "11000d"),
        ("cache_size", "20000000000 GiB"),
        ("trusted_proxies", "10.0.0.0/33"),
        ("trusted_proxies", "localhost"),
        ("allow_projects", "[ab]"),
        ("deny_projects", "a b"),
        ("deny_projects", "a <"),
        ("deny_projects", "<2"),
        ("allow_projects", "a[x] <2"),
        ("min_age_exempt", "a ==one"),
        ("exclude_newer", "2024-13-01"),
        ("exclude_newer", "2024-05-01T00:00:00"),
        ("exclude_newer", "yesterday"),
        ("quarantined", "hide"),
        ("archived", "yes"),
        ("deprecated", "no"),
        ("osv_records", "none"),
        ("project_sources", "acme-*"),
        ("project_sources", "acme-*=0"),
        ("project_sources", "acme-*=second"),
        ("project_sources", "acme-*=2"),
        ("private_indexes", "2"),
        ("private_indexes", "0"),
        ("private_indexes", "first"),
        ("index_strategy", "any"),
        ("merge_projects", "a b"),
        ("min_age", "soon"),
        ("min_age_unknown", "maybe"),
        ("yanked", "burn"),
        ("json_api_url", "yes"),
        ("json_api_url", "ftp://a.example.org/pypi/"),
        ("json_api_url", "https://user:hunter2@a.example.org/pypi/"),
        ("rate_limit", "-1"),
        ("rate_limit_burst", "0"),
    ] {
        let variable = format!("PYPI_PROXY_{}", name.to_uppercase());
        let error = refuse([(&*variable, value)]).to_string();
        assert!(error.contains(&variable), "{name}={value}: {error}");
    }
}

#[test]
fn incomplete_bucket_settings_are_rejected() {
    let (s3, bucket) = (("GROXPI_STORAGE_TYPE", "s3"), ("GROXPI_S3_BUCKET", "wheels"));
    assert!(refuse([s3]).to_string().contains("GROXPI_STORAGE_TYPE"));
    for wrong in [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("GROXPI_S3_PART_SIZE", "1000"),
        ("AWS_ENDPOINT_URL", "http://u:hunter2@s3.example.org"),
        ("AWS_ENDPOINT_URL", "ftp://s3.example.org"),
    ] {
        let text = refuse([s3, bucket, wrong]).to_string();
        assert!(text.contains(wrong.0) && !text.contains("hunter2"), "{text}");
        // Without a bucket, these belong to other programs.
        read([wrong]);
    }
    let settings =
        read([s3, bucket, ("AWS_ENDPOINT_URL", "s3.example.org:9000"), ("GROXPI_S3_USE_SSL", "0")]);
    let url =
        |settings: &Settings| settings.s3_endpoint.as_ref().unwrap().url(settings.s3_use_ssl.value).unwrap();
    assert_eq!(url(&settings).as_str(), "http://s3.example.org:9000/");
    let settings =
        read([s3, bucket, ("AWS_ENDPOINT_URL", "https://s3.example.org"), ("GROXPI_S3_USE_SSL", "0")]);
    assert_eq!(url(&settings).as_str(), "https://s3.example.org/");
}

#[cfg(feature = "s3")]
#[test]
fn bucket_keys_are_not_printed() {
    let bucket = ("GROXPI_S3_BUCKET", "wheels");
    assert!(read([bucket]).bucket().unwrap().is_none());
    let keys = [("AWS_ACCESS_KEY_ID", "hunter2"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
    let settings = read([("GROXPI_STORAGE_TYPE", "s3"), bucket].into_iter().chain(keys));
    assert!(!format!("{:?}", settings.bucket().unwrap().unwrap()).contains("hunter2"));
}

#[test]
fn the_storage_type_selects_the_cache_folder() {
    let env = [
        ("GROXPI_S3_BUCKET", "wheels"),
        ("PYPI_PROXY_CACHE_DIR", "/one"),
        ("PYPI_PROXY_CACHE_SIZE", "1 GiB"),
        ("PYPI_PROXY_LOCAL_CACHE_DIR", "/two"),
        ("GROXPI_LOCAL_CACHE_SIZE", "1024"),
    ];
    for (kind, dir, bytes) in [("local", "/one", 1 << 30), ("s3", "/one", 1 << 30), ("hybrid", "/two", 1024)]
    {
        let settings = read(env.into_iter().chain([("GROXPI_STORAGE_TYPE", kind)]));
        assert_eq!(settings.cache_directory(), Some(Path::new(dir)));
        assert_eq!(settings.cache_directory_size(), bytes);
    }
}

#[test]
fn service_variables_of_kubernetes_are_ignored() {
    let links = [
        ("PYPI_PROXY_SERVICE_HOST", "10.0.0.1"),
        ("PYPI_PROXY_SERVICE_PORT", "5000"),
        ("PYPI_PROXY_SERVICE_PORT_HTTP", "5000"),
        ("PYPI_PROXY_PORT", "tcp://10.0.0.1:5000"),
        ("PYPI_PROXY_PORT_5000_TCP", "tcp://10.0.0.1:5000"),
        ("PYPI_PROXY_PORT_5000_TCP_ADDR", "10.0.0.1"),
        ("GROXPI_PORT_5000_TCP_PROTO", "tcp"),
        ("PROXPI_SERVICE_HOST", "10.0.0.2"),
    ];
    assert_eq!(shown(&read(links), "listen").1, "default");
    assert!(refuse([("PYPI_PROXY_PORTS", "1")]).is_config());
}

#[test]
fn secrets_are_not_printed() {
    let settings = read([
        ("PYPI_PROXY_INDEX_URL", "https://reader:hunter2@a.example.org/simple"),
        ("PYPI_PROXY_EXTRA_INDEX_URLS", "https://hunter2@b.example.org,https://:hunter2@c.example.org"),
        ("PYPI_PROXY_ADMIN_TOKEN", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("AWS_ENDPOINT_URL", "https://reader:hunter2@s3.example.org"),
    ]);
    let toml = settings.to_toml();
    for text in [format!("{settings}"), format!("{settings:?}"), format!("{settings:#?}"), toml.clone()] {
        assert!(!text.contains("hunter2") && !text.contains("reader"), "{text}");
    }
    // A value that can't be displayed is not written to the file.
    assert!(Settings::read(&Sources::new().file("proxy.toml", toml)).unwrap().index_url.is_none());
    assert_eq!(settings.admin_token.as_ref().unwrap().expose(), "hunter2");
}

#[test]
fn settings_round_trip_through_a_file() {
    let env = [
        ("GROXPI_CACHE_SIZE", "0"),
        ("PROXPI_INDEX_TTL", "90"),
        ("PYPI_PROXY_CA_FILES", "a.pem, b.pem"),
        ("PORT", "81"),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
        ("PYPI_PROXY_INDEX_URL", "https://a.example.org/simple/"),
    ];
    let settings = read(env);
    let again = Settings::read(&Sources::new().file("proxy.toml", settings.to_toml())).unwrap();
    let values = |settings: &Settings| settings.rows().into_iter().map(|row| row.shown).collect::<Vec<_>>();
    assert_eq!(values(&settings), values(&again));
}

#[test]
fn the_cache_folder_defaults_to_the_user_cache() {
    let dir = |env: &[(&str, &str)]| shown(&read(env.iter().copied()), "cache_dir").0;
    assert_eq!(dir(&[("HOME", "/h")]), "/h/.cache/pypi-proxy");
    assert_eq!(dir(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]), "/x/pypi-proxy");
    assert_eq!(dir(&[("HOME", "/h"), ("XDG_CACHE_HOME", "relative")]), "/h/.cache/pypi-proxy");
    assert_eq!(dir(&[("HOME", "/h"), ("CACHE_DIRECTORY", "/var/cache/p:/var/cache/q")]), "/var/cache/p");
    assert_eq!(dir(&[("HOME", "/h"), ("PYPI_PROXY_CACHE_DIR", "/own")]), "/own");
    assert_eq!(dir(&[]), "");
}

#[test]
fn the_configuration_file_is_found_by_name_or_default_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pypi-proxy/config.toml");
    std::fs::create_dir(dir.path().join("pypi-proxy")).unwrap();
    std::fs::write(&path, "index_ttl = 7").unwrap();
    let find = |variable: &str, value: &Path| {
        let sources = Sources::new().env([(variable, value)]).find_file(None).unwrap();
        shown(&Settings::read(&sources).unwrap(), "index_ttl").0
    };
    assert_eq!(find("XDG_CONFIG_HOME", dir.path()), "7s");
    assert_eq!(find("PYPI_PROXY_CONFIG", &path), "7s");
    let sources = Sources::new().find_file(Some(&path)).unwrap();
    assert_eq!(shown(&Settings::read(&sources).unwrap(), "index_ttl").1, path.display().to_string());
    let missing = Sources::new().find_file(Some(&dir.path().join("missing"))).unwrap_err();
    assert!(missing.is_config());
}

#[test]
fn the_documentation_matches_the_settings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pypi-proxy-config.md");
    let document = document();
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == document, "run this test with WRITE_DOCS=1 to write {}", path.display());
    for setting in Settings::table() {
        assert!(document.contains(&format!("### `{}`", setting.name)));
    }
}

proptest! {
    #[test]
    fn any_environment_gives_settings_or_an_error(
        env in prop::collection::vec((name(), ".{0,12}|[0-9.]{1,6}(ms|s|m|h|GiB)?|https?://[a-z@:.]{0,12}|[a-z0-9:\\[\\].]{0,8}"), 0..6),
        file in "([a-z_]{1,12} = ([0-9]{1,3}|\"[^\"\n]{0,6}\"|true|\\[\\])\n?){0,4}|.{0,30}|\
                 (\\[index\\.[a-z-]{1,3}\\]\n(index_url = \"https?://[a-z@:.]{0,6}\"\n)?([a-z_]{1,12} = [0-9]\n)?){1,2}",
    ) {
        let sources = Sources::new().env(env).file("f", file);
        match Settings::read(&sources) {
            Ok(settings) => {
                let _ = (settings.to_string(), settings.to_toml(), settings.warnings(), format!("{settings:?}"));
            }
            Err(error) => prop_assert!(error.is_config() && error.to_string().len() > 10),
        }
    }
}

/// Names of variables, some of which are settings.
fn name() -> impl Strategy<Value = String> {
    let all: Vec<String> = Settings::table()
        .iter()
        .flat_map(|setting| {
            let others = setting.groxpi.iter().chain(setting.proxpi).map(|name| (*name).to_owned());
            others.chain([setting.variable()]).collect::<Vec<_>>()
        })
        .collect();
    prop_oneof![9 => prop::sample::select(all), 1 => "(GROXPI|PROXPI|PYPI_PROXY)_[A-Z_]{0,10}|.{0,6}"]
}

fn build(env: &[(&str, &str)]) -> Result<(), Error> {
    let settings = Settings::read(&Sources::new().env(env.iter().copied())).unwrap();
    ProxyBuilder::new(&settings, None).and_then(|builder| builder.upstreams().map(drop))
}

#[test]
fn json_api_is_derived_or_set() {
    let (derived, set) = ("https://a.example.org/x/pypi/", "https://b.example.org/pypi");
    for (value, expected) in
        [("auto", [Some(derived), None]), ("never", [None, None]), (set, [Some(set), None])]
    {
        let env = [
            ("PYPI_PROXY_INDEX_URL", "https://a.example.org/x/simple"),
            ("PYPI_PROXY_EXTRA_INDEX_URLS", "https://c.example.org/whl/cpu"),
            ("PYPI_PROXY_JSON_API_URL", value),
        ];
        let settings = read(env);
        let urls: Vec<_> = ProxyBuilder::new(&settings, None)
            .unwrap()
            .upstreams()
            .unwrap()
            .iter()
            .map(|upstream| format!("{upstream:?}"))
            .collect();
        for (text, expected) in urls.iter().zip(expected) {
            let expected =
                expected.map_or("json_api: None".to_owned(), |url| format!("json_api: Some(\"{url}\")"));
            assert!(text.contains(&expected), "{value}: {text}");
        }
        assert_eq!(shown(&settings, "json_api_url").0, value);
    }
}

#[test]
fn proxy_rejects_itself_as_index() {
    for (listen, index) in [
        ("127.0.0.1:5000", "http://localhost:5000/simple"),
        ("0.0.0.0:80", "http://127.0.0.1/index/"),
        ("[::]:5000", "http://[::1]:5000/"),
        ("proxy.example.org:5000", "http://Proxy.example.org:5000/simple/"),
    ] {
        let error = build(&[("PYPI_PROXY_LISTEN", listen), ("PYPI_PROXY_INDEX_URL", index)]).unwrap_err();
        assert!(error.is_config() && error.to_string().contains("itself"), "{index}: {error}");
    }
    let other =
        [("PYPI_PROXY_LISTEN", "127.0.0.1:5000"), ("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:5001/simple")];
    assert!(build(&other).is_ok());
}

#[test]
fn several_addresses_and_unix_sockets_can_be_listened_on() {
    for (text, expected) in [
        ("unix:/run/a.sock", "unix:/run/a.sock"),
        ("81,[::1]:82, unix:/run/a b.sock", "127.0.0.1:81, [::1]:82, unix:/run/a b.sock"),
    ] {
        assert_eq!(shown(&read([("PYPI_PROXY_LISTEN", text)]), "listen").0, expected);
    }
    let file = |text: &str| Settings::read(&Sources::new().file("f", text));
    let settings = file("listen = [\"80\", \"unix:/run/a,b.sock\"]\nunix_socket_mode = \"0600\"").unwrap();
    assert_eq!(settings.listen[1].to_string(), "unix:/run/a,b.sock");
    assert_eq!(settings.unix_socket_mode.bits(), 0o600);
    for text in ["listen = []", "listen = \"\"", "listen = \"unix:\"", "listen = \"unix:a.sock\""] {
        assert!(file(text).unwrap_err().to_string().contains("listen"), "{text}");
    }
    for mode in ["\"0888\"", "\"660\"", "\"+060\"", "\"01777\"", "0o660", "\"\""] {
        assert!(file(&format!("unix_socket_mode = {mode}")).is_err(), "{mode}");
    }
}

#[test]
fn changed_settings_are_found() {
    let before = read([("PYPI_PROXY_INDEX_URL", "https://a:b@a.example.org/")]);
    assert!(before.changes(&before).is_empty());
    let after = read([("PYPI_PROXY_INDEX_URL", "https://a:c@a.example.org/"), ("PYPI_PROXY_LISTEN", "1")]);
    let changes: Vec<_> = before.changes(&after).iter().map(|one| (one.name, one.needs_restart())).collect();
    assert_eq!(changes, [("listen", true), ("index_url", false)]);
    let needs_restart =
        |name: &str| Settings::table().iter().find(|one| one.name == name).unwrap().needs_restart();
    assert!(
        needs_restart("s3_bucket") && !needs_restart("local_cache_ttl") && !needs_restart("s3_async_workers")
    );
}

#[test]
fn missing_index_and_missing_certificate_file_are_errors() {
    let index = ("PYPI_PROXY_INDEX_URL", "https://a.example.org/simple");
    assert!(build(&[]).unwrap_err().to_string().contains("index_url"));
    let error = build(&[index, ("PYPI_PROXY_CA_FILES", "missing.pem")]).unwrap_err();
    assert!(error.is_config() && error.to_string().contains("missing.pem"), "{error}");
}
