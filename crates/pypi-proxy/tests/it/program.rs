//! The program: commands, log and shutdown.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::support::prelude::*;
use crate::support::program::Served;
use crate::support::{self, program};

/// Index with one project with two versions.
fn index() -> Server {
    let file = |version: &str| &*format!("demo-{version}-py3-none-any.whl").leak();
    let files = [(file("1.0"), 1000), (file("1.1"), 1001), (file("2.0rc1"), 1002)];
    file_index(files.map(|(name, len)| (name, content(len))))
}

/// Command with an empty environment.
fn program(dir: &Path, env: &[(&str, &str)], args: &[&str]) -> Command {
    let mut command = program::program(dir, env, args);
    command.env("PYPI_PROXY_CACHE_DIR", dir.join("cache"));
    command
}

/// Runs a command. Checks its exit code and that its output contains a text. Returns the output, errors first.
async fn expect(dir: &Path, env: &[(&str, &str)], args: &[&str], code: i32, part: &str) -> String {
    let Output { status, stdout, stderr } = program(dir, env, args).output().await.unwrap();
    let text = String::from_utf8([stderr, stdout].concat()).unwrap();
    assert!(status.code() == Some(code) && text.contains(part), "{args:?}: {status}: {text}");
    text
}

async fn serve(dir: &Path, env: &[(&str, &str)], format: &str) -> Served {
    Served::start(program(dir, env, &["serve", "--listen", "127.0.0.1:0", "--log-format", format])).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_serves_with_variables_of_groxpi_or_proxpi() {
    let index = index();
    for (prefix, signal) in [("GROXPI", Signal::TERM), ("PROXPI", Signal::INT)] {
        let dir = tempfile::tempdir().unwrap();
        let url = index.url("/simple/").replace("http://", "http://reader:hunter2@");
        let proxy = serve(dir.path(), &[(&format!("{prefix}_INDEX_URL"), &url)], "json").await;
        let url = format!("{}/simple/demo/demo-1.0-py3-none-any.whl?token=hunter3", proxy.url);
        for verdict in ["miss", "hit"] {
            let response = reqwest::get(&url).await.unwrap();
            assert_eq!(response.headers()["x-cache"], verdict);
            assert_eq!(response.bytes().await.unwrap(), content(1000));
        }
        assert_eq!(index.last()["authorization"], "Basic cmVhZGVyOmh1bnRlcjI=");
        let log = proxy.end(signal).await;
        let events: Vec<Value> = log.lines().map(|line| tightwire_json::from_str(line).unwrap()).collect();
        assert_eq!(events[0]["origin"], format!("{prefix}_INDEX_URL"));
        let requests: Vec<_> =
            events.iter().filter(|event| event["target"] == "pypi_proxy::access").collect();
        let expected = ["miss", "hit"];
        assert_eq!(requests.len(), expected.len(), "{log}");
        for (event, verdict) in requests.iter().zip(expected) {
            assert_eq!(event["method"], "GET");
            assert_eq!(event["path"], "/simple/demo/demo-1.0-py3-none-any.whl");
            assert_eq!((&event["status"], &event["bytes"]), (&200.into(), &1000.into()));
            assert_eq!((&event["cache"], &event["whole"]), (&verdict.into(), &true.into()));
            assert!(event["ms"].is_f64());
            assert_eq!(event["client"], "127.0.0.1");
        }
        assert!(!log.contains("hunter"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_writes_exactly_one_log_line() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let url = index.url("/simple/");
    for format in ["json", "text"] {
        let env = [("PYPI_PROXY_INDEX_URL", &*url)];
        let proxy = serve(dir.path(), &env, format).await;
        let mut answers = String::new();
        for path in [
            "/simple/%0d%0aFORGED%20status=200/".as_bytes(),
            b"/\"quoted\"\\",
            "/\u{202e}gpj.exe\u{2028}".as_bytes(),
            b"/\x1b[2J",
            b"/a\tb",
        ] {
            let request = [b"GET ", path, b" HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"];
            let response = exchange(proxy.address(), &[&request.concat()]);
            // Invalid requests may get no response.
            answers += &String::from_utf8_lossy(&response[..response.len().min(12)]);
        }
        assert!(answers.starts_with("HTTP/1.1 404") && !answers.contains("HTTP/1.1 200"), "{answers}");
        let log = proxy.end(Signal::TERM).await;
        assert!(log.chars().all(|character| character == '\n' || !character.is_control()), "{log:?}");
        // Invalid requests have no log line.
        let lines: Vec<_> = log.lines().filter(|line| line.contains("pypi_proxy::access")).collect();
        assert!((1..=5).contains(&lines.len()), "{log}");
        assert!(lines.iter().any(|line| line.contains("/simple/%0d%0aFORGED%20status=200/")), "{log}");
        assert!(!log.lines().any(|line| line.starts_with("FORGED")));
        for line in lines {
            if format == "json" {
                let event: Value = tightwire_json::from_str(line).unwrap();
                assert!(event["status"].as_u64().unwrap() >= 400 && event["bytes"].is_u64(), "{line}");
            } else {
                let members = "client=127.0.0.1 method=GET path=\"/ status=4 bytes= ms= cache=\"-\" whole=";
                for member in members.split(' ') {
                    assert!(line.contains(member), "{member}: {line}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_log_does_not_block_responses() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let url = index.url("/simple/");
    let address = free_address().to_string();
    let args = ["serve", "--listen", &address, "--log-format", "json"];
    let mut command = program(dir.path(), &[("PYPI_PROXY_INDEX_URL", &url)], &args);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    until("it listens", async || TcpStream::connect(&address).await.is_ok()).await;
    // Several times the capacity of a pipe.
    let client = reqwest::Client::new();
    let path = format!("http://{address}/{}", "x".repeat(4000));
    for _ in 0..200 {
        assert_eq!(client.get(&path).send().await.unwrap().status(), 404);
    }
    kill_process(Pid::from_raw(child.id().unwrap().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
    assert!(child.wait().await.unwrap().success());
    assert!(log.len() > 200 * 4000, "what there was room for in memory is written in the end");
}

fn requirements(dir: &Path, text: &str) -> String {
    let path = dir.join("r.txt");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn warm_downloads_files_in_advance() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let (url, file) = (index.url("/simple/"), requirements(dir.path(), "demo\nDemo==1.0\n"));
    let env = [("PYPI_PROXY_INDEX_URL", &*url)];
    assert!(expect(dir.path(), &env, &["warm", &file], 0, "").await.starts_with("2 files"));
    assert!(index.paths().contains(&"/f/demo-1.1-py3-none-any.whl".into()));
    assert!(!index.paths().iter().any(|path| path.contains("2.0rc1")));
    let requests_before = index.count();

    // A running proxy downloads the files.
    let proxy = serve(dir.path(), &env, "json").await;
    expect(dir.path(), &env, &["warm", &file, "--proxy", &proxy.url], 0, "").await;
    assert_eq!(index.count(), requests_before, "all of it is there");
    expect(dir.path(), &env, &["stats", "--listen", proxy.address()], 0, "file_bytes  2001\n").await;
    expect(dir.path(), &env, &["verify"], 1, "another proxy").await;
    proxy.end(Signal::TERM).await;

    requirements(dir.path(), "missing==1\n-e .\n");
    let text = expect(dir.path(), &env, &["warm", &file], 1, "missing: no such project").await;
    assert!(text.contains("r.txt:2"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_stats_and_gc_work_on_the_cache() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let (url, file) = (index.url("/simple/"), requirements(dir.path(), "demo==1.0"));
    let env = [("PYPI_PROXY_INDEX_URL", &*url)];
    let run = async |args: &[&str], code, part: &str| expect(dir.path(), &env, args, code, part).await;
    run(&["warm", &file], 0, "").await;
    assert!(run(&["verify"], 0, "").await.starts_with("1 files"));
    let digest = digest_of(&content(1000));
    let path = stored_path(&dir.path().join("cache"), digest);
    std::fs::write(&path, "damaged").unwrap();
    run(&["verify"], 1, &digest.to_string()).await;
    assert!(!path.exists());
    run(&["warm", &file], 0, "").await;
    assert!(run(&["gc", "--unused", "1h"], 0, "").await.starts_with("removed 0 files") && path.exists());
    run(&["stats"], 0, "files       1\n").await;
    let output = run(&["gc", "--cache-size", "999"], 0, "").await;
    assert!(output.starts_with("removed 1 files") && !path.exists(), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_reports_each_part() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let url = index.url("/simple/");
    let env = [("PYPI_PROXY_INDEX_URL", &*url)];
    let args = ["check", "--listen", "127.0.0.1:0"];
    assert!(!expect(dir.path(), &env, &args, 0, "").await.contains("FAIL"));
    // Other URLs of the same server, and another server.
    for (url, hint) in [(index.url("/"), "simple/ ?"), (index.url("/simple/x/"), "/simple/ ?")] {
        expect(dir.path(), &[("PYPI_PROXY_INDEX_URL", &*url)], &args, 1, hint).await;
    }
    let site = Server::start(|_| respond(200, &[HTML], "<title>Welcome</title>"));
    expect(dir.path(), &[("PYPI_PROXY_INDEX_URL", &*site.url("/"))], &args, 1, "did you mean").await;
    index.stop().await;
    expect(dir.path(), &env, &args, 1, "FAIL  index").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_indexes_are_logged_with_subject_and_cause() {
    let dir = tempfile::tempdir().unwrap();
    let malformed = Server::start(|_| respond(200, &[JSON], "{"));
    let failing = Server::start(|_| respond(500, &[], ""));
    let silent = Server::start(|_| vec![Step::Reset]);
    for (url, cause) in [
        ("http://no-such-host.invalid/".to_owned(), "dns error"),
        (format!("http://{}/", free_address()), "refused"),
        (malformed.url("/"), "malformed"),
        (failing.url("/"), "500"),
        (silent.url("/"), "error"),
    ] {
        let program = serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", &*url)], "json").await;
        for _ in 0..3 {
            let request = support::proxy::client().get(format!("{}/simple/numpy/", program.url));
            assert!(request.send().await.unwrap().status().is_server_error());
        }
        let log = program.end(Signal::TERM).await;
        let warnings: Vec<_> =
            log.lines().filter(|line| line.contains("WARN") && line.contains("numpy")).collect();
        assert!((1..3).contains(&warnings.len()), "{log}");
        assert!(warnings[0].contains(cause) && warnings[0].contains(&url), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_arguments_and_settings_exit_with_2() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["nope"][..], &[], &["serve", "--no-such"], &["config", "--index-ttl", "x"], &["warm"]] {
        assert!(!expect(dir.path(), &[], args, 2, "").await.is_empty(), "{args:?}");
    }
    let env = [("GROXPI_INDEX_TTL", "x"), ("PYPI_PROXY_NO_SUCH", "x")];
    let text = expect(dir.path(), &env, &["serve"], 2, "GROXPI_INDEX_TTL").await;
    assert!(text.contains("PYPI_PROXY_NO_SUCH"), "{text}");
    let env = [("PYPI_PROXY_ADMIN_TOKEN", "hunter2")];
    let text = expect(dir.path(), &env, &["config"], 0, "admin_token").await;
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_says_how_to_set_the_index() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let ways = [
        "--index-url URL",
        "PYPI_PROXY_INDEX_URL=URL",
        "index_url = 'URL' in ~/.config/pypi-proxy/config.toml",
    ];
    // There is no Python to ask for the index of pip.
    let text = expect(dir.path(), &[("PATH", "")], &["serve"], 2, "no index is set").await;
    assert!(ways.iter().all(|way| text.contains(way)) && text.lines().count() == 1, "{text}");
    // The index of pip is found.
    let url = index.url("/simple/");
    let env = [("PIP_INDEX_URL", &*url)];
    let log = serve(dir.path(), &env, "json").await.end(Signal::TERM).await;
    let first: Value = tightwire_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!((&first["index"], &first["origin"]), (&url.as_str().into(), &"PIP_INDEX_URL".into()));
    assert!(ways.iter().all(|way| first["message"].as_str().unwrap().contains(way)), "{log}");
    let text = expect(dir.path(), &env, &["config"], 0, "(PIP_INDEX_URL)").await;
    assert!(ways.iter().all(|way| text.contains(way)), "{text}");
    // With a setting, the text does not appear.
    let env = [("PYPI_PROXY_INDEX_URL", &*url)];
    assert!(!serve(dir.path(), &env, "json").await.end(Signal::TERM).await.contains("--index-url"));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_variables_of_other_programs_only_cause_warnings() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let url = index.url("/simple/");
    let env = [("PROXPI_INDEX_URL", &*url), ("PROXPI_INDEX_TLL", "hunter2"), ("GROXPI_NEW", "hunter2")];
    let log = serve(dir.path(), &env, "json").await.end(Signal::TERM).await;
    let events: Vec<Value> = log.lines().map(|line| tightwire_json::from_str(line).unwrap()).collect();
    let warnings: Vec<_> = events.iter().filter(|event| event["level"] == "WARN").collect();
    assert_eq!(warnings.len(), 2, "{log}");
    assert!(log.contains("PROXPI_INDEX_TLL: unknown setting (similar: PROXPI_INDEX_TTL); ignored"), "{log}");
    for command in ["config", "check"] {
        let args = [command, "--listen", "127.0.0.1:0"];
        let text = expect(dir.path(), &env, &args, 0, "GROXPI_NEW: unknown setting; ignored").await;
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_file_sets_the_admin_token() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let token = dir.path().join("token");
    std::fs::write(&token, "hunter2\n").unwrap();
    let (url, token) = (index.url("/simple/"), token.display().to_string());
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_ADMIN_TOKEN_FILE", &token)];
    let proxy = serve(dir.path(), &env, "json").await;
    let purge = reqwest::Client::new().delete(format!("{}/cache", proxy.url));
    assert_eq!(purge.try_clone().unwrap().send().await.unwrap().status(), 401);
    assert_eq!(purge.bearer_auth("hunter2").send().await.unwrap().status(), 200);
    assert!(!proxy.end(Signal::TERM).await.contains("hunter2"));
    let text = expect(dir.path(), &env, &["config"], 0, "*** ").await;
    assert!(text.contains("(PYPI_PROXY_ADMIN_TOKEN_FILE)") && !text.contains("hunter2"), "{text}");
    std::fs::remove_file(&token).unwrap();
    let text =
        expect(dir.path(), &env, &["serve"], 2, "PYPI_PROXY_ADMIN_TOKEN_FILE: the file can't be read").await;
    assert!(!text.contains(&token), "{text}");
}

#[tokio::test]
async fn completions_and_manual_pages_contain_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let help = expect(dir.path(), &[], &["--help"], 0, "Commands:").await;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    // Commands have an indentation of two columns, their descriptions a larger one.
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<&str> = commands.filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(commands.contains(&"serve") && commands.contains(&"completions"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = expect(dir.path(), &[], &["completions", shell], 0, "index-url").await;
        assert!(commands.iter().all(|name| script.contains(name)), "{script}");
    }
    expect(dir.path(), &[], &["man", dir.path().to_str().unwrap(), "2026-11-26"], 0, "").await;
    let page = std::fs::read_to_string(dir.path().join("pypi-proxy.1")).unwrap();
    assert!(page.contains("Exit status") && page.contains("PYPI_PROXY_INDEX_URL"), "{page}");
    for name in commands {
        let page = std::fs::read_to_string(dir.path().join(format!("pypi-proxy-{name}.1"))).unwrap();
        assert!(page.contains(&format!("pypi\\-proxy {name}")), "{page}");
    }
    expect(dir.path(), &[], &["man", "missing", "2026-11-26"], 1, "missing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn help_of_a_command_lists_its_own_options() {
    let dir = tempfile::tempdir().unwrap();
    let flags = async |command: &str| {
        let text = expect(dir.path(), &[], &[command, "--help"], 0, "--config <FILE>").await;
        let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
        let flags = words.filter_map(|word| word.strip_prefix("--")).map(|flag| flag.replace('-', "_"));
        flags.collect::<std::collections::HashSet<_>>()
    };
    let all: Vec<_> =
        pypi_proxy::config::Settings::table().iter().filter(|one| one.flag().is_some()).collect();
    for command in ["serve", "check", "config"] {
        let flags = flags(command).await;
        assert!(all.iter().all(|setting| flags.contains(setting.name)), "{command}: {flags:?}");
    }
    for (command, own, other) in [
        (
            "gc",
            &["cache_dir", "cache_size", "local_cache_dir", "unused"][..],
            &["listen", "index_url", "s3_region"][..],
        ),
        ("verify", &["cache_dir", "s3_region", "ca_files", "bucket"], &["listen", "index_url", "yanked"]),
        ("stats", &["cache_dir", "listen", "admin_listen"], &["index_url", "max_file_size", "s3_region"]),
        ("claims", &["cache_dir", "remove"], &["index_url", "listen"]),
        ("healthcheck", &["listen", "tls_cert"], &["cache_dir", "index_url", "access_log"]),
        ("explain", &["index_url", "cache_dir", "osv_dir"], &["listen", "access_log", "rate_limit"]),
        ("export", &["index_url", "cache_dir", "requirements"], &["listen", "access_log"]),
        ("import", &["index_url", "cache_size", "index"], &["listen", "access_log"]),
        ("warm", &["index_url", "cache_dir", "min_age", "jobs", "match"], &["max_connections", "rate_limit"]),
    ] {
        let flags = flags(command).await;
        assert!(own.iter().all(|name| flags.contains(*name)), "{command}: {flags:?}");
        assert!(!other.iter().any(|name| flags.contains(*name)), "{command}: {flags:?}");
    }
    expect(dir.path(), &[], &["gc", "--index-url", "https://a.example.org/"], 2, "--index-url").await;
    // The configuration file can be named before the command as well.
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "index_ttl = '7s'\nindex_url = 'https://a.example.org/'\n").unwrap();
    let path = file.display().to_string();
    for args in [["--config", &*path, "config"], ["config", "--config", &path]] {
        expect(dir.path(), &[], &args, 0, "= 7s").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn warm_reports_failures_with_their_reason() {
    let index = Server::start(|_| respond(500, &[], ""));
    let dir = tempfile::tempdir().unwrap();
    let (url, file) = (index.url("/simple/"), requirements(dir.path(), "demo\n"));
    let reason = "demo: the proxy responded with status 502 Bad Gateway: upstream request failed";
    let text = expect(dir.path(), &[("PYPI_PROXY_INDEX_URL", &url)], &["warm", &file], 1, reason).await;
    assert!(text.contains("\n0 files"), "{text}");
    index.stop().await;
    // No server listens there, and the URL may be secret.
    let away = index.url("").replace("http://", "http://user:hunter2@");
    let text = expect(dir.path(), &[], &["warm", &file, "--proxy", &away], 1, "demo: ").await;
    assert!(!text.contains("hunter2"), "{text}");
    for proxy in ["127.0.0.1:5000", "ftp://127.0.0.1/", ""] {
        expect(dir.path(), &[], &["warm", &file, "--proxy", proxy], 2, "--proxy: expected a URL").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_commands_create_no_cache_and_no_log() {
    let dir = tempfile::tempdir().unwrap();
    assert!(expect(dir.path(), &[], &["stats"], 0, "").await.starts_with("there is no cache yet: "));
    assert!(!dir.path().join("cache").exists());
    // The reader closes the pipe early.
    let writer = std::io::pipe().unwrap().1;
    let mut child = program(dir.path(), &[("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:9/")], &["config"])
        .stdout(Stdio::from(writer))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).await.unwrap();
    assert_eq!((child.wait().await.unwrap().code(), &*err), (Some(1), ""));
}
