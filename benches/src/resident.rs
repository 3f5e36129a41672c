//! Peers in other languages: programs that run operations on request. `README.md` describes the protocol.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use bench_report::peer::Program;

use crate::implementation::Impl;

/// Environment variable with the path of the list that `cargo xtask bench` writes.
pub(crate) const LIST: &str = "BENCH_PEERS";

/// Reads the list of the environment variable. Empty without the variable. The programs find `documents` in the
/// variable `BENCH_DOCUMENTS`.
pub(crate) fn programs(system: &str, documents: &Path) -> anyhow::Result<Vec<Resident>> {
    let Some(path) = std::env::var_os(LIST) else { return Ok(Vec::new()) };
    let programs: Vec<Program> = serde_json::from_slice(&std::fs::read(path)?)?;
    let of_system = programs.into_iter().filter(|program| program.system == system);
    Ok(of_system.map(|program| Resident::new(program, documents)).collect())
}

/// A program, started at the first request.
#[derive(Debug)]
pub(crate) struct Resident {
    program: Program,
    documents: PathBuf,
    process: Option<Process>,
    /// Why the program cannot be used any more.
    failure: Option<String>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be in the middle of a long operation.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Resident {
    fn new(program: Program, documents: &Path) -> Self {
        Self { program, documents: documents.to_owned(), process: None, failure: None }
    }

    /// Returns the implementations of a row.
    pub(crate) fn implementations(&self, row: &str) -> Vec<Impl> {
        let of_row = self.program.implementations.iter().filter(|one| one.has(row));
        of_row
            .map(|one| Impl {
                version: one.version.clone(),
                class: one.class.clone(),
                ..Impl::new(&one.name, one.role, &self.program.language)
            })
            .collect()
    }

    /// Runs operations. `None` if the program does not have the row.
    ///
    /// # Errors
    ///
    /// The program's message, or what happened to the program.
    pub(crate) fn run(
        &mut self,
        row: &str,
        implementation: &str,
        iterations: u64,
    ) -> Result<Option<(Duration, u64)>, String> {
        let numbers = self.request("run", row, implementation, iterations)?;
        Ok(numbers.map(|(nanos, check)| (Duration::from_nanos(nanos), check)))
    }

    /// Returns the allocated bytes and the allocations of operations, if the language counts them.
    pub(crate) fn count(&mut self, row: &str, implementation: &str, iterations: u64) -> Option<(u64, u64)> {
        self.request("count", row, implementation, iterations).ok()?
    }

    fn request(
        &mut self,
        verb: &str,
        row: &str,
        implementation: &str,
        iterations: u64,
    ) -> Result<Option<(u64, u64)>, String> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let answer = self.exchange(&format!("{verb}\t{row}\t{implementation}\t{iterations}\n"));
        let answer = answer.map_err(|error| {
            let status = self.process.as_mut().and_then(|process| process.child.try_wait().ok()?);
            let status = status.map_or_else(String::new, |status| format!(" ({status})"));
            let failure = format!("failed: the program {:?} {error}{status}", self.program.command);
            self.failure = Some(failure.clone());
            failure
        })?;
        match answer.split('\t').collect::<Vec<_>>().as_slice() {
            ["none"] => Ok(None),
            ["ok", first, second] => match (first.parse(), second.parse()) {
                (Ok(first), Ok(second)) => Ok(Some((first, second))),
                _ => Err(format!("failed: unexpected answer {answer:?}")),
            },
            ["error", message] => Err(format!("failed: {message}")),
            _ => Err(format!("failed: unexpected answer {answer:?}")),
        }
    }

    fn exchange(&mut self, request: &str) -> Result<String, String> {
        let process = match &mut self.process {
            Some(process) => process,
            none => {
                let (program, arguments) = self.program.command.split_first().ok_or("has no command")?;
                let mut child = Command::new(program)
                    .args(arguments)
                    .current_dir(&self.program.directory)
                    .env("BENCH_DOCUMENTS", &self.documents)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .map_err(|error| format!("cannot be started: {error}"))?;
                let stdin = child.stdin.take().ok_or("has no input")?;
                let stdout = BufReader::new(child.stdout.take().ok_or("has no output")?);
                none.insert(Process { child, stdin, stdout })
            }
        };
        let written = process.stdin.write_all(request.as_bytes());
        written.map_err(|error| match error.kind() {
            // It ended before the request.
            ErrorKind::BrokenPipe => "ended".to_owned(),
            _ => format!("takes no requests: {error}"),
        })?;
        let mut answer = String::new();
        match process.stdout.read_line(&mut answer) {
            Ok(0) => Err("ended".to_owned()),
            Ok(_) => Ok(answer.trim_end_matches(['\r', '\n']).to_owned()),
            Err(error) => Err(format!("cannot be read: {error}")),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use bench_report::model::Role;
    use bench_report::peer::Implementation;

    use super::*;

    fn resident(script: &str) -> Resident {
        let implementation = Implementation {
            name: "peer".to_owned(),
            version: None,
            class: None,
            role: Role::Peer,
            rows: vec!["decode_*".to_owned()],
            except: vec!["decode_b".to_owned()],
        };
        let program = Program {
            system: "sse".to_owned(),
            language: "sh".to_owned(),
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            directory: std::env::temp_dir(),
            implementations: vec![implementation],
        };
        Resident::new(program, Path::new(""))
    }

    #[test]
    fn requests_are_lines() {
        let mut peer = resident(
            "while read -r verb row name n; do case $row in a) printf 'ok\\t%s\\t7\\n' \"$n\";; \
             b) printf 'error\\tno such file\\n';; c) echo none;; d) echo what;; *) exit 3;; esac; done",
        );
        assert_eq!(peer.run("a", "peer", 5), Ok(Some((Duration::from_nanos(5), 7))));
        assert_eq!(peer.run("b", "peer", 1), Err("failed: no such file".to_owned()));
        assert_eq!((peer.run("c", "peer", 1), peer.count("a", "peer", 2)), (Ok(None), Some((2, 7))));
        assert!(peer.run("d", "peer", 1).unwrap_err().contains("unexpected answer"));
        assert!(peer.run("e", "peer", 1).unwrap_err().contains("ended"));
        assert!(peer.run("a", "peer", 1).unwrap_err().contains("ended"), "it is not started again");
        let mut deaf = resident("read -r request; exec <&-; echo none; sleep 1");
        assert_eq!(deaf.run("a", "peer", 1), Ok(None));
        assert!(deaf.run("a", "peer", 1).unwrap_err().contains("ended"), "it does not read the request");
    }

    #[test]
    fn patterns_select_rows() {
        let peer = resident("");
        let counts = ["decode_a", "decode_b", "encode"].map(|row| peer.implementations(row).len());
        assert_eq!(counts, [1, 0, 0]);
    }
}
