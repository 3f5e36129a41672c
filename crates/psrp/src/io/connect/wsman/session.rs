//! Operations on one service.

use std::error::Error as _;

use uuid::Uuid;

use super::answer::{Answer, Page, Received, WsmanShell, violation};
use super::config::Wsman;
use super::fault::WsmanFault;
use super::http::Http;
use super::soap::{self, Create, Operation, Style};
use crate::Error;
use crate::fragment::Priority;

/// Parts of a list that are asked for; each may have thousands of elements.
const MAX_PAGES: usize = 64;

/// A client of one service. Each operation is a request and its answer.
#[derive(Debug)]
pub(super) struct Session {
    http: Http,
    style: Style,
    config: Wsman,
}

impl Session {
    pub(super) fn new(http: Http, style: Style, config: Wsman) -> Self {
        Self { http, style, config }
    }

    /// Whether messages are encrypted, or the caller accepts that secure strings are not.
    pub(super) fn is_confidential(&self) -> bool {
        !self.config.is_plain() || self.config.are_clear_secrets_allowed
    }

    /// How many bytes of data fit into one request.
    pub(super) fn max_data(&self) -> usize {
        soap::max_data(&self.style)
    }

    /// Does something.
    ///
    /// # Errors
    ///
    /// As [`Http::post`] and [`Answer::read`].
    async fn run(&self, operation: Operation<'_>) -> Result<Answer, Error> {
        let message_id = Uuid::new_v4();
        let document = self.http.post(operation.envelope(&self.style, message_id)).await?;
        operation.answer(&document, message_id)
    }

    /// Makes a shell; its identifier, if the server has chosen another.
    pub(super) async fn create(&self, shell: Uuid, data: &[u8]) -> Result<Option<Box<str>>, Error> {
        let options = Create {
            name: self.config.shell_name.as_deref(),
            idle_timeout: self.config.idle_timeout,
            no_profile: self.config.has_no_profile,
        };
        let answer = self.run(Operation::Create { shell, data, options }).await?;
        Ok(answer.shell_id().map(Into::into))
    }

    /// Takes over a shell; the first data from it.
    pub(super) async fn connect(&self, shell: &str, data: &[u8]) -> Result<Vec<u8>, Error> {
        self.run(Operation::Connect { shell, data }).await?.connected()
    }

    pub(super) async fn connect_command(&self, shell: &str, command: Uuid) -> Result<(), Error> {
        self.run(Operation::ConnectCommand { shell, command }).await.map(drop)
    }

    /// Makes a command; its identifier, if the server has chosen another.
    pub(super) async fn command(
        &self,
        shell: &str,
        command: Uuid,
        data: &[u8],
    ) -> Result<Option<Box<str>>, Error> {
        let answer = self.run(Operation::Command { shell, command, data }).await?;
        Ok(answer.command_id().map(Into::into))
    }

    pub(super) async fn send(
        &self,
        shell: &str,
        command: Option<&str>,
        priority: Priority,
        data: &[u8],
    ) -> Result<(), Error> {
        self.run(Operation::Send { shell, command, priority, data }).await.map(drop)
    }

    /// Waits for output; there is none if the operation timeout is over.
    pub(super) async fn receive(&self, shell: &str, command: Option<&str>) -> Result<Received, Error> {
        match self.run(Operation::Receive { shell, command }).await {
            Ok(answer) => answer.received(),
            Err(error) if fault(&error).is_some_and(WsmanFault::is_timed_out) => {
                Ok(Received { data: Vec::new(), is_done: false })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn interrupt(&self, shell: &str, command: &str) -> Result<(), Error> {
        self.run(Operation::Interrupt { shell, command }).await.map(drop)
    }

    pub(super) async fn terminate(&self, shell: &str, command: &str) -> Result<(), Error> {
        self.run(Operation::Terminate { shell, command }).await.map(drop)
    }

    pub(super) async fn delete(&self, shell: &str) -> Result<(), Error> {
        self.run(Operation::Delete { shell }).await.map(drop)
    }

    pub(super) async fn disconnect(&self, shell: &str) -> Result<(), Error> {
        self.run(Operation::Disconnect { shell }).await.map(drop)
    }

    pub(super) async fn reconnect(&self, shell: &str) -> Result<(), Error> {
        self.run(Operation::Reconnect { shell }).await.map(drop)
    }

    pub(super) async fn shells(&self) -> Result<Vec<WsmanShell>, Error> {
        self.list(false, Operation::Shells, Answer::shells).await
    }

    pub(super) async fn commands(&self, shell: Uuid) -> Result<Vec<Uuid>, Error> {
        let shell = shell_text(shell);
        self.list(true, Operation::Commands { shell: &shell }, Answer::commands).await
    }

    async fn list<T>(
        &self,
        of_commands: bool,
        first: Operation<'_>,
        read: fn(&Answer) -> Result<Page<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut page = read(&self.run(first).await?)?;
        let mut items = page.items;
        for _ in 0..MAX_PAGES {
            let Some(context) = page.context else { return Ok(items) };
            page = read(&self.run(Operation::Pull { of_commands, context: &context }).await?)?;
            items.append(&mut page.items);
        }
        Err(violation("a list without an end"))
    }
}

/// The fault that an error is about, if there is one.
pub(super) fn fault(error: &Error) -> Option<&WsmanFault> {
    error.source()?.downcast_ref()
}

/// An identifier as services write it.
pub(super) fn shell_text(id: Uuid) -> String {
    format!("{:X}", id.as_hyphenated())
}
