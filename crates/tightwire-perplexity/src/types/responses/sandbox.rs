//! What a model did in its sandbox.

use crate::types::wire::{object, open_enum};
object! {
    /// A program that a model ran.
    pub struct SandboxResults: answer {
        /// The identifier of the call.
        call_id: must String,
        /// The program.
        code: must String,
        /// Its language.
        language: must Language,
        /// How far it is.
        status: must RunStatus,
        /// What came out.
        results: must Vec<RunResult>,
        /// Where it ran.
        container_id: may String,
    }
}

open_enum! {
    /// The language of a program.
    pub enum Language {
        /// Python.
        Python = "python",
        /// A shell.
        Bash = "bash",
    }
}

open_enum! {
    /// How far a program is.
    pub enum RunStatus {
        /// It runs.
        InProgress = "in_progress",
        /// It ended well.
        Completed = "completed",
        /// It ended badly.
        Failed = "failed",
        /// It took too long.
        TimedOut = "timed_out",
    }
}

object! {
    /// What came out of a program.
    pub struct RunResult: answer {
        /// How it ended.
        status: must RunStatus,
        /// Its exit code.
        exit_code: must i64,
        /// How long it ran, in milliseconds.
        duration_ms: must u64,
        /// What it printed.
        stdout: must String,
        /// What it printed about errors.
        stderr: must String,
    }
}

object! {
    /// An operation on files; which members it has depends on what it does.
    pub struct SandboxOperation: answer {
        /// The identifier of the call.
        call_id: must String,
        /// How far it is.
        status: may RunStatus,
        /// What went wrong.
        error: may String,
        /// The file.
        file_path: may String,
        /// Its length in bytes.
        size_bytes: copy u64,
        /// What is in it, or what was found.
        content: may String,
        /// The first line of what was read, from 1.
        start_line: copy u64,
        /// How many lines the file has.
        total_lines: copy u64,
        /// What the operation says.
        message: may String,
        /// How much was found.
        count: copy u64,
        /// The files that were found.
        files: many String,
        /// Whether not all is there.
        truncated: copy bool,
        /// Files that were added.
        added: many String,
        /// Files that were deleted.
        deleted: many String,
        /// Files that were changed.
        modified: many String,
        /// The file for the service.
        file_id: may String,
        /// The name of the file for the user.
        filename: may String,
        /// Where the user finds it.
        url: may String,
    }
}
