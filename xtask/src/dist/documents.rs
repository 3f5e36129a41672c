//! The files of a program that every package contains: the program, its manual pages and its completion scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{CRATES, Dist};
use crate::process::{self, Finished, Skipped, is_installed, succeed};

/// Names of shells for `completions`, each with the parts of the name of its script around that of the program.
const SHELLS: [(&str, &str, &str); 4] =
    [("bash", "", ".bash"), ("fish", "", ".fish"), ("powershell", "", ".ps1"), ("zsh", "_", "")];
/// Start of a command line of each program, and its only completion.
const COMPLETIONS: [(&str, &str, &str); 4] = [
    ("pypi-proxy", "health", "healthcheck"),
    ("pypi-proxy", "serve --index-u", "--index-url"),
    ("psrp", "cop", "copy"),
    ("psrp", "run --accept", "--accept-new"),
];

pub(super) fn scratch(dist: &Dist<'_>) -> PathBuf {
    dist.workspace.scratch().join("dist")
}

/// Writes the files of a program into a new folder `release` and returns it.
pub(super) fn stage(dist: &Dist<'_>, package: &str, name: &str) -> Result<PathBuf> {
    let folder = scratch(dist).join(name).join("release");
    process::empty(&folder)?;
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir(&man)?;
    fs::create_dir(&completions)?;
    let copy = |file: &Path| {
        let to = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, to).with_context(|| file.display().to_string())
    };
    let program = dist.program(name);
    copy(&program)?;
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&dist.workspace.root.join("crates").join(package).join(file))?;
    }
    succeed(Command::new(&program).arg("man").arg(&man).arg(dist.formatted_date("--iso-8601")?))?;
    for (shell, before, after) in SHELLS {
        let script = succeed(Command::new(&program).args(["completions", shell]))?.stdout;
        fs::write(completions.join(format!("{before}{name}{after}")), script)?;
    }
    Ok(folder)
}

/// Completes a command line in bash, in fish and in PowerShell. The arguments are script, program and words.
const BASH: &str = r#"
source "$1"
COMP_WORDS=("$2" $3)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p "$2" | sed -E 's/.* -F ([^ ]+) .*/\1/') "$2" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;
const FISH: &str =
    r#"source $argv[1]; complete --do-complete "$argv[2] $argv[3]" | string replace --regex '\t.*' ''"#;
const POWERSHELL: &str = ". SCRIPT; (TabExpansion2 'LINE' 'LINE'.Length).CompletionMatches.CompletionText";

/// Checks the staged files of all programs: manual pages without warnings, and scripts without syntax errors that
/// complete command lines. Returns which programs are missing for that.
pub(super) fn test(dist: &Dist<'_>) -> Result<Skipped> {
    let mut missing = BTreeSet::new();
    let mut output = |command: &mut Command| -> Result<Option<String>> {
        let program = command.get_program().to_string_lossy().into_owned();
        if !is_installed(&program) {
            missing.insert(program);
            return Ok(None);
        }
        // Shells read and write files in the home directory.
        let Finished { stdout, stderr, .. } = succeed(command.env("HOME", scratch(dist)))?;
        ensure!(stderr.is_empty(), "{command:?}: {stderr}");
        Ok(Some(stdout))
    };
    let powershell = std::env::var_os("PSRP_TEST_PWSH").filter(|path| !path.is_empty());
    let powershell = powershell.unwrap_or_else(|| "pwsh".into());
    for (package, name) in CRATES {
        let folder = stage(dist, package, name)?;
        for page in fs::read_dir(folder.join("man"))? {
            let page = page?.path();
            output(Command::new("man").args(["--warnings", "--local-file"]).arg(&page))?;
            output(Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page))?;
        }
        let [bash, fish, script, zsh] =
            SHELLS.map(|(_, before, after)| folder.join(format!("completions/{before}{name}{after}")));
        output(Command::new("zsh").arg("-n").arg(zsh))?;
        for (_, words, expected) in COMPLETIONS.iter().filter(|(program, ..)| *program == name) {
            let line = POWERSHELL.replace("SCRIPT", &format!("'{}'", script.display()));
            let line = line.replace("LINE", &format!("{name} {words}"));
            for completed in [
                output(Command::new("bash").args(["-c", BASH, "bash"]).arg(&bash).args([name, words]))?,
                output(Command::new("fish").args(["--command", FISH]).arg(&fish).args([name, words]))?,
                output(Command::new(&powershell).args(["-Command", &line]))?,
            ] {
                let completed = completed.as_deref().map(str::trim);
                ensure!(completed.is_none_or(|text| text == *expected), "{name} {words}: {completed:?}");
            }
        }
    }
    let missing: Vec<String> = missing.into_iter().collect();
    Ok((!missing.is_empty()).then(|| format!("there is no {}", missing.join(", no "))))
}
