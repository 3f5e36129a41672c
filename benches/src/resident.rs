//! Peers in other languages: programs that run operations on request. `README.md` describes the protocol.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bench_report::model::{Implementation, Program, Row};

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

    /// Returns the entries of its implementations of a row in the report.
    pub(crate) fn entries(&self, row: &str) -> Vec<Row> {
        let entry = |one: &Implementation| Row {
            implementation: one.name.clone(),
            role: one.role,
            language: self.program.language.clone(),
            version: one.version.clone(),
            class: one.class.clone(),
            ..Row::default()
        };
        self.program.implementations.iter().filter(|one| one.has(row)).map(entry).collect()
    }

    /// Requests to `run` or `count` a number of operations. Returns both numbers of the answer: nanoseconds and check value,
    /// or allocated bytes and allocations. `None` if the program does not have the row or counts nothing.
    ///
    /// # Errors
    ///
    /// The program's message, or what happened to the program.
    pub(crate) fn request(
        &mut self,
        verb: &str,
        entry: &Row,
        iterations: u64,
    ) -> Result<Option<(u64, u64)>, String> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let (row, implementation) = (entry.name(), &entry.implementation);
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

    /// Requests five operations of a row.
    fn request(peer: &mut Resident, verb: &str, row: &str) -> Result<Option<(u64, u64)>, String> {
        let (key, implementation) = (format!("sse/{row}"), "peer".to_owned());
        peer.request(verb, &Row { key, implementation, ..Row::default() }, 5)
    }

    #[test]
    fn requests_are_lines() {
        let mut peer = resident(
            "while read -r verb row name n; do case $row in a) printf 'ok\\t%s\\t7\\n' \"$n\";; \
             b) printf 'error\\tno such file\\n';; c) echo none;; d) echo what;; *) exit 3;; esac; done",
        );
        let mut run = |row: &str| request(&mut peer, "run", row);
        assert_eq!(run("a"), Ok(Some((5, 7))));
        assert_eq!(run("b"), Err("failed: no such file".to_owned()));
        assert_eq!(run("c"), Ok(None));
        assert!(run("d").unwrap_err().contains("unexpected answer"));
        assert!(run("e").unwrap_err().contains("ended"));
        assert!(run("a").unwrap_err().contains("ended"), "it is not started again");
        let mut deaf = resident("read -r request; exec <&-; echo none; sleep 1");
        assert_eq!(request(&mut deaf, "count", "a"), Ok(None));
        assert!(request(&mut deaf, "run", "a").unwrap_err().contains("ended"), "it reads no request");
    }

    #[test]
    fn patterns_select_rows() {
        let peer = resident("");
        let counts = ["decode_a", "decode_b", "encode"].map(|row| peer.entries(row).len());
        assert_eq!(counts, [1, 0, 0]);
    }
}
