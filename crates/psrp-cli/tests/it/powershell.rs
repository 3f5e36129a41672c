//! Runs the program with a PowerShell server, if PowerShell is installed; see `docs/psrp.md`.

use std::fs;
use std::path::Path;
use std::process::Command;

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
    fs::remove_dir_all(directory).unwrap();
}
