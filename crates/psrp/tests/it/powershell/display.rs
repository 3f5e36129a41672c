//! What the program shows of the real server.

use std::process::Command;
use test_support::optional;

#[test]
fn everything_is_shown_once_and_in_order() {
    const SCRIPT: &str = "1; Write-Host a; 2; Write-Host b -NoNewline; Write-Host c; $Host.UI.WriteLine('d'); 3; \
        $WarningPreference = $VerbosePreference = $DebugPreference = 'Continue'; Write-Warning w; \
        Write-Warning w; Write-Verbose v; Write-Debug d; $Host.UI.WriteWarningLine('x'); Write-Error e";

    let Some(pwsh) = optional::powershell() else { return };
    let server = format!("{} -s", pwsh.display());
    for _ in 0..2 {
        let mut psrp = Command::new(env!("CARGO_BIN_EXE_psrp"));
        let run = psrp.args(["run", "--child", &server, SCRIPT]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), "1\na\n2\nbc\nd\n3\n");
        let errors = String::from_utf8_lossy(&run.stderr);
        let expected = "WARNING: w\nWARNING: w\nVERBOSE: v\nDEBUG: d\nWARNING: x\nerror: e\n";
        assert!(errors.starts_with(expected), "{errors}");
    }
}
