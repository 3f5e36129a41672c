//! Runs the program with a PowerShell server, if PowerShell is installed; see `docs/psrp.md`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use test_support::optional;

fn psrp() -> Command {
    Command::new(env!("CARGO_BIN_EXE_psrp"))
}

#[test]
fn messages_are_shown_once_and_in_order() {
    const SCRIPT: &str = "1; Write-Host a; 2; Write-Host b -NoNewline; Write-Host c; $Host.UI.WriteLine('d'); 3; \
        $WarningPreference = $VerbosePreference = $DebugPreference = 'Continue'; Write-Warning w; \
        Write-Warning w; Write-Verbose v; Write-Debug d; $Host.UI.WriteWarningLine('x'); Write-Error e";

    let Some(pwsh) = optional::powershell() else { return };
    let server = format!("{} -s", pwsh.display());
    for _ in 0..2 {
        let run = psrp().args(["run", "--child", &server, SCRIPT]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), "1\na\n2\nbc\nd\n3\n");
        let errors = String::from_utf8_lossy(&run.stderr);
        let expected = "WARNING: w\nWARNING: w\nVERBOSE: v\nDEBUG: d\nWARNING: x\nerror: e\n";
        assert!(errors.starts_with(expected), "{errors}");
    }
}

/// Statements of a script, the line that each shows, and the host call that PowerShell makes for it.
fn statement(kind: u64, text: &str) -> (String, String, Option<String>) {
    let call =
        |script: String, shown: String, call: &str| (script, shown, Some(format!("call {call}{text}")));
    match kind {
        0 => call(format!("Write-Host {text}"), text.into(), "WriteLine "),
        1 => call(format!("Write-Host {text} -ForegroundColor Red"), text.into(), "WriteLine Red Black "),
        2 => call(format!("$Host.UI.WriteLine('{text}')"), text.into(), "WriteLine "),
        3 => call(format!("Write-Warning {text}"), format!("WARNING: {text}"), "WriteWarningLine "),
        4 => call(format!("Write-Verbose {text}"), format!("VERBOSE: {text}"), "WriteVerboseLine "),
        5 => call(format!("Write-Debug {text}"), format!("DEBUG: {text}"), "WriteDebugLine "),
        6 => call(format!("$Host.UI.WriteErrorLine('{text}')"), text.into(), "WriteErrorLine "),
        7 => call(format!("Write-Information {text} -InformationAction Continue"), text.into(), "WriteLine "),
        8 => call(
            format!("$Host.UI.WriteWarningLine('{text}')"),
            format!("WARNING: {text}"),
            "WriteWarningLine ",
        ),
        9 => (format!("'{text}'"), text.into(), None),
        // A record without a call; the number makes it different from the next line.
        _ => (format!("Write-Information silent{text}"), format!("silent{text}"), None),
    }
}

#[test]
fn random_scripts_show_each_line_once() {
    let Some(pwsh) = optional::powershell_for_tests() else { return };
    let server = format!("{} -s", pwsh.display());
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..4 {
        let (mut script, mut shown, mut calls) =
            ("$VerbosePreference = $DebugPreference = 'Continue'".to_owned(), String::new(), String::new());
        for _ in 0..150 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Few texts, so that equal lines are frequent.
            let (statement, line, call) = statement(random % 11, &format!("t{}", random / 11 % 3));
            script += &format!("; {statement}");
            shown += &format!("{line}\n");
            calls += &call.map(|call| format!("{call}\n")).unwrap_or_default();
        }
        // The engine's own client shows nothing but the host calls, in this order.
        let engine = Command::new(&pwsh).args(["-client", &server, "host", &script]).output().unwrap();
        let engine = String::from_utf8(engine.stdout).unwrap();
        let called: String =
            engine.lines().filter(|line| line.starts_with("call ")).flat_map(|line| [line, "\n"]).collect();
        assert_eq!(called, calls);
        // Both outputs go to one file, which keeps their order.
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lines-{}", std::process::id()));
        let file = fs::File::create(&path).unwrap();
        let status = psrp()
            .args(["run", "--child", &server, &script])
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(fs::read_to_string(&path).unwrap(), shown);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn failed_programs_and_exit_codes_are_no_success() {
    let Some(pwsh) = optional::powershell() else { return };
    let server = format!("{} -s", pwsh.display());
    for (script, code) in [
        ("1", 0),
        ("sh -c 'exit 0'", 0),
        ("sh -c 'exit 3'", 1),
        ("sh -c 'exit 3'; 1", 0),
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 256", 1),
        ("exit -1", 255),
        ("throw 'x'", 1),
    ] {
        let status = psrp().args(["run", "--child", &server, script]).output().unwrap().status;
        assert_eq!(status.code(), Some(code), "{script}");
    }
}

#[test]
fn scripts_have_arguments() {
    let Some(pwsh) = optional::powershell() else { return };
    let server = format!("{} -s", pwsh.display());
    let script = "param($A, [switch]$B, [int]$C) \"$A $B $($C + 1)\"";
    let run = psrp().args(["run", "--child", &server, script, "--", "x", "-C", "2", "-B"]).output().unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap(), "x True 3\n");
}

#[test]
fn the_program_copies_files() {
    let Some(pwsh) = optional::powershell() else { return };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("copies-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    let path = |name: &str| directory.join(name).into_os_string().into_string().unwrap();
    fs::write(path("a"), b"abc").unwrap();
    let server = format!("{} -s", pwsh.display());
    let copy = |arguments: &[&str]| {
        let run = psrp().args(["copy", "--child", &server]).args(arguments).output().unwrap();
        assert!(run.stdout.is_empty());
        (run.status.code(), String::from_utf8(run.stderr).unwrap())
    };
    assert_eq!(copy(&[&path("a"), &format!(":{}", path("b"))]), (Some(0), String::new()));
    assert_eq!(copy(&["--force", &format!(":{}", path("b")), &path("c")]), (Some(0), String::new()));
    assert_eq!(fs::read(path("c")).unwrap(), b"abc");
    let (code, error) = copy(&[&path("a"), &format!(":{}", path("b"))]);
    assert!(code == Some(1) && error.contains("already exists"), "{error}");
    // Detected before connecting.
    let (code, error) = copy(&[&path("none"), ":d"]);
    assert!(code == Some(2) && error.contains("none"), "{error}");
    let (code, error) = copy(&[&path("a"), &path("d")]);
    assert!(code == Some(2) && error.contains("begin with `:`"), "{error}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);

    // Several files, directories, and standard streams.
    fs::create_dir_all(directory.join("tree/empty/below")).unwrap();
    fs::write(directory.join("tree/empty/f [1]"), b"1").unwrap();
    fs::write(directory.join("tree/g"), b"2").unwrap();
    for name in ["up", "down"] {
        fs::create_dir(directory.join(name)).unwrap();
    }
    let up = format!(":{}", path("up"));
    assert_eq!(copy(&["-r", &path("a"), &path("tree"), &up]), (Some(0), String::new()));
    assert_eq!(copy(&["-r", &path("tree"), &format!("{up}/new/")]), (Some(0), String::new()));
    assert_eq!(copy(&["-r", &up, &path("down")]), (Some(0), String::new()));
    assert_eq!(copy(&["-r", &up, &path("other")]), (Some(0), String::new()));
    for root in ["up", "down/up", "other"] {
        assert_eq!(fs::read(directory.join(root).join("a")).unwrap(), b"abc");
        for tree in ["tree", "new"] {
            let tree = directory.join(root).join(tree);
            assert_eq!(fs::read(tree.join("empty/f [1]")).unwrap(), b"1");
            assert_eq!(fs::read(tree.join("g")).unwrap(), b"2");
            assert!(tree.join("empty/below").is_dir());
        }
    }
    let (code, error) = copy(&[&path("a"), &path("c"), &format!(":{}", path("none"))]);
    assert!(code == Some(1) && error.contains("does not exist"), "{error}");
    // A name that leaves the directory, because PowerShell takes the backslash as a separator.
    #[cfg(unix)]
    for name in ["..\\f", "..\\d/f"] {
        let tree = directory.join("odd");
        fs::create_dir_all(tree.join(name).parent().unwrap()).unwrap();
        fs::write(tree.join(name), b"3").unwrap();
        let (code, error) = copy(&["-r", &format!(":{}", tree.display()), &path("odd-down")]);
        assert!(code == Some(1) && error.contains(r"the name '..\"), "{error}");
        let (code, error) = copy(&["-r", &path("odd"), &format!("{up}/odd-{}", name.len())]);
        assert_eq!(code, Some(i32::from(name.contains('/'))), "{error}");
        assert!(!directory.join("up/f").exists() && !directory.join("up/d").exists());
        fs::remove_dir_all(tree).unwrap();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("empty", directory.join("tree/link")).unwrap();
        let (code, error) = copy(&["-r", &format!(":{}", path("tree")), &path("linked")]);
        assert!(code == Some(1) && error.contains("is a link to a directory"), "{error}");
        assert!(!directory.join("linked").exists());
    }
    let mut upload = psrp();
    upload.args(["copy", "--child", &server, "-", &format!("{up}/piped")]).stdin(Stdio::piped());
    let mut upload = upload.spawn().unwrap();
    upload.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
    assert!(upload.wait().unwrap().success());
    let run = psrp().args(["copy", "--child", &server, &format!("{up}/piped"), "-"]).output().unwrap();
    assert_eq!((run.stdout, run.status.code()), (b"from a pipe".to_vec(), Some(0)));
    fs::remove_dir_all(directory).unwrap();
}
