//! WS-Management operations on one service.

use std::error::Error as _;

use uuid::Uuid;

use super::fault::WsmanFault;
use super::http::HttpClient;
use super::response::{OutputChunk, Page, ResponseEnvelope, WsmanShell, violation};
use super::soap::{self, Operation, RequestSettings, ShellOptions};
use crate::Error;

/// Maximum pages of a list. Each can have thousands of items.
const MAX_PAGES: usize = 64;

/// Client of one service. Each operation is one request and its response.
pub(super) struct WsmanSession {
    http: HttpClient,
    settings: RequestSettings,
    shell_options: ShellOptions,
    is_confidential: bool,
}

impl WsmanSession {
    /// `is_confidential` means that messages are encrypted, or unencrypted secure strings are allowed.
    pub(super) fn new(
        http: HttpClient,
        settings: RequestSettings,
        shell_options: ShellOptions,
        is_confidential: bool,
    ) -> Self {
        Self { http, settings, shell_options, is_confidential }
    }

    /// Returns whether messages are encrypted, or unencrypted secure strings are allowed.
    pub(super) fn is_confidential(&self) -> bool {
        self.is_confidential
    }

    /// Maximum bytes of data per request.
    pub(super) fn max_data(&self) -> usize {
        soap::max_data(&self.settings)
    }

    /// Sends an operation and parses the response.
    ///
    /// # Errors
    ///
    /// Same as [`HttpClient::post`] and [`ResponseEnvelope::read`].
    async fn run(&self, operation: Operation<'_>) -> Result<ResponseEnvelope, Error> {
        let message_id = Uuid::new_v4();
        let document = self.http.post(operation.envelope(&self.settings, message_id)).await?;
        ResponseEnvelope::read(&document, operation.name(), message_id)
    }

    /// Sends an operation whose response contains nothing but success.
    pub(super) async fn execute(&self, operation: Operation<'_>) -> Result<(), Error> {
        self.run(operation).await.map(drop)
    }

    /// Creates a shell. Returns its identifier if the server assigns a different one.
    pub(super) async fn create(&self, shell: Uuid, data: &[u8]) -> Result<Option<Box<str>>, Error> {
        let response = self.run(Operation::Create { shell, data, options: &self.shell_options }).await?;
        Ok(response.shell_id().map(Into::into))
    }

    /// Connects to a shell and returns its first data.
    pub(super) async fn connect(&self, shell: &str, data: &[u8]) -> Result<Vec<u8>, Error> {
        self.run(Operation::Connect { shell, data }).await?.connect_data()
    }

    /// Creates a command. Returns its identifier if the server assigns a different one.
    pub(super) async fn command(
        &self,
        shell: &str,
        command: Uuid,
        data: &[u8],
    ) -> Result<Option<Box<str>>, Error> {
        let response = self.run(Operation::Command { shell, command, data }).await?;
        Ok(response.command_id().map(Into::into))
    }

    /// Waits for output. Returns none after the operation timeout.
    pub(super) async fn receive(&self, shell: &str, command: Option<&str>) -> Result<OutputChunk, Error> {
        match self.run(Operation::Receive { shell, command }).await {
            Ok(response) => response.output(),
            Err(error) if fault(&error).is_some_and(WsmanFault::is_timed_out) => {
                Ok(OutputChunk { data: Vec::new(), is_done: false })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn shells(&self) -> Result<Vec<WsmanShell>, Error> {
        self.list(false, Operation::Shells, ResponseEnvelope::shells).await
    }

    pub(super) async fn commands(&self, shell: Uuid) -> Result<Vec<Uuid>, Error> {
        let shell = shell_text(shell);
        self.list(true, Operation::Commands { shell: &shell }, ResponseEnvelope::commands).await
    }

    async fn list<T>(
        &self,
        of_commands: bool,
        first: Operation<'_>,
        read: fn(&ResponseEnvelope) -> Result<Page<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut page = read(&self.run(first).await?)?;
        let mut items = page.items;
        for _ in 0..MAX_PAGES {
            let Some(context) = page.context else { return Ok(items) };
            page = read(&self.run(Operation::Pull { of_commands, context: &context }).await?)?;
            items.append(&mut page.items);
        }
        Err(violation("a list with too many pages"))
    }
}

/// Returns the fault that caused an error, if there is one.
pub(super) fn fault(error: &Error) -> Option<&WsmanFault> {
    error.source()?.downcast_ref()
}

/// Formats an identifier like Windows, in upper case.
pub(super) fn shell_text(id: Uuid) -> String {
    format!("{:X}", id.as_hyphenated())
}
