//! WS-Management operations on one service.

use std::error::Error as _;

use uuid::Uuid;

use super::Wsman;
use super::credentials::AuthMethod;
use super::fault::WsmanFault;
use super::http::HttpClient;
use super::response::{Page, Response, ResponseEnvelope, WsmanShell, violation};
use super::soap::{self, Request};
use crate::error::{Error, Kind};
use crate::fragment::Fragmenter;

/// Maximum pages of a list. Each can have thousands of items.
const MAX_PAGES: usize = 64;

/// Client of one service. Each operation is one request and its response.
pub(super) struct WsmanSession {
    http: HttpClient,
    id: Uuid,
}

impl WsmanSession {
    pub(super) fn new(wsman: Wsman) -> Result<Self, Error> {
        if wsman.is_plain() && !wsman.is_plain_basic_allowed {
            return Err(Error::with(
                Kind::Denied,
                "basic authentication without TLS would expose the password",
            ));
        }
        if wsman.credentials.method == AuthMethod::Certificate && !wsman.is_tls {
            return Err(Error::with(Kind::Unsupported, "a client certificate requires TLS"));
        }
        if wsman.proxy.is_some() && !wsman.is_tls && wsman.credentials.method != AuthMethod::Basic {
            return Err(Error::with(Kind::Unsupported, "NTLM and Kerberos through a proxy require TLS"));
        }
        if soap::max_data(&wsman) < Fragmenter::MIN_FRAGMENT_SIZE {
            return Err(Error::with(Kind::Limit, "max_envelope_size leaves no room for data"));
        }
        Ok(Self { http: HttpClient::new(wsman)?, id: Uuid::new_v4() })
    }

    pub(super) fn wsman(&self) -> &Wsman {
        &self.http.endpoint.wsman
    }

    async fn exchange(&self, request: &Request) -> Result<ResponseEnvelope, Error> {
        let message_id = Uuid::new_v4();
        let document = self.http.post(request.envelope(self.wsman(), self.id, message_id)).await?;
        ResponseEnvelope::read(&document, request.name, message_id)
    }

    /// Sends an operation and parses the response. A `Receive` that timed out has a response without output. Same as
    /// [`HttpClient::post`] and [`ResponseEnvelope::read`].
    pub(super) async fn run(&self, request: &Request) -> Result<Response, Error> {
        match self.exchange(request).await {
            Err(error)
                if request.name == "Receive" && fault(&error).is_some_and(WsmanFault::is_timed_out) =>
            {
                Ok(Response::default())
            }
            envelope => envelope?.response(request.name),
        }
    }

    pub(super) async fn shells(&self) -> Result<Vec<WsmanShell>, Error> {
        self.list(Request::shells(), ResponseEnvelope::shells).await
    }

    pub(super) async fn commands(&self, shell: Uuid) -> Result<Vec<Uuid>, Error> {
        self.list(Request::commands(&shell_text(shell)), ResponseEnvelope::commands).await
    }

    async fn list<T>(
        &self,
        first: Request,
        read: fn(&ResponseEnvelope) -> Result<Page<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut page = read(&self.exchange(&first).await?)?;
        let mut items = page.items;
        for _ in 0..MAX_PAGES {
            let Some(context) = page.context else { return Ok(items) };
            page = read(&self.exchange(&first.next_page(&context)).await?)?;
            items.append(&mut page.items);
        }
        Err(violation("a list with too many pages"))
    }
}

pub(super) fn fault(error: &Error) -> Option<&WsmanFault> {
    error.source()?.downcast_ref()
}

/// Formats an identifier like Windows, in upper case.
pub(super) fn shell_text(id: Uuid) -> String {
    format!("{:X}", id.as_hyphenated())
}
