//! Settings of OpenSSH's client configuration.

use std::fs;
use std::path::Path;

use psrp::io::Ssh;

use crate::ssh::files::Files;

/// Returns the settings of a connector as text.
fn settings(destination: &str, file: &Path) -> String {
    format!("{:?}", Ssh::from_config(destination, Some(file)).unwrap())
}

#[test]
fn destinations_are_parsed() {
    let files = Files::new();
    let file = files.write("config", "");
    for (text, expected) in [
        ("server", r#"host: "server", port: 22, user: None"#),
        ("ada@server", r#"host: "server", port: 22, user: Some("ada")"#),
        ("ada@corp@server:2222", r#"host: "server", port: 2222, user: Some("ada@corp")"#),
        ("::1", r#"host: "::1", port: 22, user: None"#),
        ("ada@[::1]:23", r#"host: "::1", port: 23, user: Some("ada")"#),
        ("[::1]", r#"host: "::1", port: 22, user: None"#),
    ] {
        let settings = settings(text, &file);
        assert!(settings.contains(expected), "{text}: {settings}");
    }
    for text in ["", "@server", "ada@", "server:ssh", "server:70000", "[::1", "[::1]22"] {
        assert!(Ssh::from_config(text, Some(&file)).unwrap_err().is_invalid_text(), "{text}");
    }
}

#[test]
fn the_first_value_of_a_matching_block_wins() {
    let files = Files::new();
    let file = files.write(
        "config",
        "# comment\n\
         Host web* !web9\n  HostName = \"%h.example.org\"\n  user ada # comment\n  IdentityFile /keys/%h-%r-100%%\n\
         Match originalhost web1,db\n  Port 2222\n\
         Match exec \"true\"\n  Port 3333\n\
         Match host *.example.org\n  Include more/*.conf\n\
         Host *\n\tUser root\n\tPort 22\n\tIdentityFile none\n\tUnknownKeyword yes\n",
    );
    fs::create_dir(files.path("more")).unwrap();
    files.write("more/a.conf", "IdentityFile /keys/more\nUser late\n");
    files.write("more/b.txt", "Port nothing\n");
    for (destination, expected) in [
        ("web1", r#"host: "web1.example.org", port: 2222, user: Some("ada")"#),
        ("web1", r#"key_files: Some(["/keys/web1.example.org-ada-100%", "/keys/more"])"#),
        ("bob@web9:23", r#"host: "web9", port: 23, user: Some("bob")"#),
        ("bob@web9:23", "key_files: None"),
        ("bob@web9:23", "jump: None"),
    ] {
        let settings = settings(destination, &file);
        assert!(settings.contains(expected), "{expected} in {settings}");
    }
}

#[test]
fn jump_hosts_have_settings_of_their_own() {
    let files = Files::new();
    let file = files.write(
        "config",
        "Host inner\n ProxyJump eve@front:2200,middle\nHost middle\n HostName 10.0.0.1\n\
         Host loop1\n ProxyJump loop2\nHost loop2\n ProxyJump loop1\nHost *\n ProxyJump gate\n User ada\n",
    );
    let settings = settings("inner", &file);
    let mut hops = settings.split("jump: Some(Ssh { ").skip(1);
    for expected in [
        r#"host: "10.0.0.1", port: 22, user: Some("ada")"#,
        r#"host: "front", port: 2200, user: Some("eve")"#,
        r#"host: "gate""#,
    ] {
        let hop = hops.next().unwrap();
        assert!(hop.starts_with(expected), "{hop}");
    }
    assert_eq!(hops.next(), None);
    assert!(Ssh::from_config("loop1", Some(&file)).unwrap_err().is_invalid_text());
}

#[test]
fn faults_name_file_and_line() {
    let files = Files::new();
    for text in ["Host a\nPort x\n", "\nUser\n", "\nIdentityFile \"open\n", "\nInclude config\n"] {
        let error = Ssh::from_config("a", Some(&files.write("config", text))).unwrap_err();
        assert!(error.is_invalid_text() && error.to_string().ends_with("config:2"), "{error}");
    }
    let missing = Ssh::from_config("a", Some(Path::new("/no/such/file"))).unwrap_err();
    assert!(missing.is_io(), "{missing}");
}
