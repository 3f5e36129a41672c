//! Output of the sandbox tool.

use crate::types::wire::{object, open_enum};
object! {
    /// Results of running code in the sandbox.
    pub struct SandboxResults: response {
        /// Identifier of the tool call.
        call_id: String,
        /// Source code that was run.
        code: String,
        /// Language of the code.
        language: Language,
        /// Status of the run.
        status: RunStatus,
        /// Results of the run.
        results: Vec<RunResult>,
        /// Identifier of the container.
        container_id: Option<String>,
    }
}

open_enum! {
    /// Language of sandbox code.
    pub enum Language {
        Python = "python",
        Bash = "bash",
    }

    /// Status of a sandbox run or operation.
    pub enum RunStatus {
        InProgress = "in_progress",
        /// Succeeded.
        Completed = "completed",
        Failed = "failed",
        TimedOut = "timed_out",
    }
}

object! {
    /// Result of running code.
    pub struct RunResult: response {
        /// Final status.
        status: RunStatus,
        /// Exit code.
        exit_code: i64,
        /// Run time, in milliseconds.
        duration_ms: u64,
        /// Standard output.
        stdout: String,
        /// Standard error.
        stderr: String,
    }

    /// A file operation in the sandbox. Which fields are set depends on the operation.
    pub struct SandboxOperation: response {
        /// Identifier of the tool call.
        call_id: String,
        /// Status of the operation.
        status: Option<RunStatus>,
        /// Error message.
        error: Option<String>,
        /// Path of the file.
        file_path: Option<String>,
        /// Size of the file, in bytes.
        size_bytes: Option<u64>,
        /// Content of the file, or the search matches.
        content: Option<String>,
        /// First line read, from 1.
        start_line: Option<u64>,
        /// Total lines of the file.
        total_lines: Option<u64>,
        /// Message about the result.
        message: Option<String>,
        /// Number of matches.
        count: Option<u64>,
        /// Matching files.
        files: Option<Vec<String>>,
        /// Whether the result is truncated.
        truncated: Option<bool>,
        /// Added files.
        added: Option<Vec<String>>,
        /// Deleted files.
        deleted: Option<Vec<String>>,
        /// Modified files.
        modified: Option<Vec<String>>,
        /// Identifier of the shared file.
        file_id: Option<String>,
        /// File name shown to the user.
        filename: Option<String>,
        /// URL of the shared file.
        url: Option<String>,
    }
}
