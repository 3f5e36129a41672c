//! In-process WS-Management service: minimal HTTP, with a function that responds to requests.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use psrp::fragment::Priority;
use psrp::outofproc::Packet;
use psrp::{Value, server};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;

const SHELL: &str = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell";

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// HTTP header.
    pub(crate) head: String,
    /// Last part of the action, such as `Create`.
    pub(crate) action: String,
    pub(crate) message_id: String,
    pub(crate) envelope: String,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// An envelope with this body.
    Body(String),
    /// A fault with this subcode, number and message.
    Fault(&'static str, u32, &'static str),
    /// These bytes, including the HTTP header; the connection ends then.
    Raw(Vec<u8>),
    /// The first bytes, then the second ones repeatedly.
    Endless(Vec<u8>, Vec<u8>),
    Silence,
}

impl Reply {
    /// An HTTP response with a length.
    pub(crate) fn http(status: &str, kind: &str, body: &str) -> Self {
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        Self::Raw((head + body).into_bytes())
    }
}

pub(crate) type Handler = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// Responds to requests until the runtime ends.
pub(crate) async fn serve(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let handler: Handler = Arc::new(handler);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(connection(stream, Arc::clone(&handler)));
        }
    });
    address
}

/// Responds to the requests of one connection.
pub(crate) async fn connection(mut stream: impl AsyncRead + AsyncWrite + Unpin, handler: Handler) {
    let mut input = Vec::new();
    while let Some(request) = read(&mut stream, &mut input).await {
        let (status, body) = match handler(&request) {
            Reply::Body(body) => ("200 OK", body),
            Reply::Fault(subcode, code, message) => {
                ("500 Internal Server Error", fault(subcode, code, message))
            }
            Reply::Raw(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Reply::Endless(first, rest) => {
                let _ = stream.write_all(&first).await;
                while stream.write_all(&rest).await.is_ok() {}
                return;
            }
            Reply::Silence => return std::future::pending().await,
        };
        let envelope = envelope(&request.message_id, &body);
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/soap+xml;charset=UTF-8\r\nContent-Length: {}\r\n\r\n",
            envelope.len()
        );
        if stream.write_all((head + &envelope).as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin), input: &mut Vec<u8>) -> Option<Request> {
    loop {
        if let Some(end) = input.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(input[..end].to_vec()).unwrap();
            let lower = head.to_ascii_lowercase();
            let length = lower
                .split("content-length: ")
                .nth(1)
                .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse().unwrap());
            if input.len() >= end + 4 + length {
                let envelope = String::from_utf8(input[end + 4..end + 4 + length].to_vec()).unwrap();
                check_syntax(&envelope);
                input.drain(..end + 4 + length);
                let action =
                    between(&envelope, "<a:Action s:mustUnderstand=\"true\">", "<").unwrap_or_default();
                let action = action.rsplit('/').next().unwrap_or_default().to_owned();
                let message_id = between(&envelope, "<a:MessageID>", "<").unwrap_or_default().to_owned();
                return Some(Request { head, action, message_id, envelope });
            }
        }
        if stream.read_buf(input).await.ok()? == 0 {
            return None;
        }
    }
}

/// Panics if a document is not well-formed.
fn check_syntax(document: &str) {
    let mut reader = quick_xml::Reader::from_str(document);
    reader.config_mut().check_end_names = true;
    while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
}

/// Returns the text between two texts.
pub(crate) fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

pub(crate) fn envelope(relates_to: &str, body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope' xmlns:r='{SHELL}' \
         xmlns:a='http://schemas.xmlsoap.org/ws/2004/08/addressing' \
         xmlns:w='http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd' \
         xmlns:n='http://schemas.xmlsoap.org/ws/2004/09/enumeration'><s:Header><a:RelatesTo>{relates_to}</a:RelatesTo>\
         </s:Header><s:Body>{body}</s:Body></s:Envelope>"
    )
}

fn fault(subcode: &str, code: u32, message: &str) -> String {
    format!(
        "<s:Fault><s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value>{subcode}</s:Value></s:Subcode></s:Code>\
         <s:Detail><f:WSManFault xmlns:f='http://schemas.microsoft.com/wbem/wsman/1/wsmanfault' Code='{code}'>\
         <f:Message>{message}</f:Message></f:WSManFault></s:Detail></s:Fault>"
    )
}

/// Fault: no output within the timeout.
pub(crate) const TIMED_OUT: Reply =
    Reply::Fault("w:TimedOut", 0x8033_8029, "The operation did not complete.");

/// A shell whose pipelines echo the text of their first command, except `wait`, which runs until it is stopped.
#[derive(Clone, Default)]
pub(crate) struct Shell(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    pool: Option<server::ServerPool>,
    output: HashMap<Option<Uuid>, Vec<u8>>,
    done: Vec<Uuid>,
    actions: Vec<String>,
}

impl Shell {
    /// Returns the actions of all requests, in order.
    pub(crate) fn actions(&self) -> Vec<String> {
        self.0.lock().unwrap().actions.clone()
    }

    /// Serves this shell, except for the requests to which `intercept` responds.
    pub(crate) async fn serve(
        self,
        intercept: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> SocketAddr {
        serve(move |request| intercept(request).unwrap_or_else(|| self.answer(request))).await
    }

    /// Responds like a service.
    pub(crate) fn answer(&self, request: &Request) -> Reply {
        let mut inner = self.0.lock().unwrap();
        inner.actions.push(request.action.clone());
        let target = between(&request.envelope, "CommandId=\"", "\"").map(|id| Uuid::try_parse(id).unwrap());
        let data = |start: &str| STANDARD.decode(between(&request.envelope, start, "<").unwrap()).unwrap();
        match &*request.action {
            "Create" => {
                inner.pool = Some(server::ServerPool::new(server::Config::new()));
                let start = "<creationXml xmlns=\"http://schemas.microsoft.com/powershell\">";
                inner.take(Packet::Data { target: None, priority: Priority::Default, data: &data(start) });
                Reply::Body("<r:Shell/>".into())
            }
            "Connect" => {
                inner.pool.as_mut().unwrap().disconnect().unwrap();
                let start = "<connectXml xmlns=\"http://schemas.microsoft.com/powershell\">";
                inner.take(Packet::Data { target: None, priority: Priority::Default, data: &data(start) });
                let data = STANDARD.encode(inner.output.remove(&None).unwrap_or_default());
                Reply::Body(format!(
                    "<r:ConnectResponse><p:connectResponseXml xmlns:p='p'>{data}</p:connectResponseXml></r:ConnectResponse>"
                ))
            }
            "Command" => {
                inner.take(Packet::Command(target));
                let data = data("<rsp:Arguments>");
                inner.take(Packet::Data { target, priority: Priority::Default, data: &data });
                Reply::Body("<r:CommandResponse/>".into())
            }
            "Send" => {
                let start = request.envelope.find("<rsp:Stream ").unwrap();
                let data = STANDARD.decode(between(&request.envelope[start..], ">", "<").unwrap()).unwrap();
                inner.take(Packet::Data { target, priority: Priority::Default, data: &data });
                Reply::Body("<r:SendResponse/>".into())
            }
            "Signal" if request.envelope.contains("terminate") => {
                inner.take(Packet::Close(target));
                Reply::Body(String::new())
            }
            "Signal" => {
                inner.take(Packet::Signal(target));
                Reply::Body(String::new())
            }
            "Receive" => inner.receive(target),
            _ => Reply::Body(String::new()),
        }
    }
}

impl Inner {
    fn take(&mut self, packet: Packet<'_>) {
        let pool = self.pool.as_mut().unwrap();
        pool.handle_packet(packet).unwrap();
        while let Some(event) = pool.poll_event() {
            let server::Event::Pipeline { id, event } = event else { continue };
            let done = match event {
                server::PipelineEvent::Start(psrp::client::PipelineRequest::Run(create)) => {
                    let text = create.power_shell.statements().next().unwrap()[0].text.clone();
                    let mut pipeline = pool.pipeline(id).unwrap();
                    pipeline.start().unwrap();
                    if text == *"wait" {
                        continue;
                    }
                    pipeline.write_output(Value::from(text)).unwrap();
                    pipeline.complete()
                }
                server::PipelineEvent::Stop => pool.pipeline(id).unwrap().stop(),
                _ => continue,
            };
            done.unwrap();
            self.done.push(id);
        }
        let mut buffer = Vec::new();
        while let Some(packet) = pool.poll_transmit(30_000, &mut buffer) {
            if let Packet::Data { target, data, .. } = packet {
                self.output.entry(target).or_default().extend_from_slice(data);
            }
        }
    }

    fn receive(&mut self, target: Option<Uuid>) -> Reply {
        let data = self.output.remove(&target).unwrap_or_default();
        let is_done = target.is_some_and(|id| self.done.contains(&id));
        if data.is_empty() && !is_done {
            return TIMED_OUT;
        }
        let state = if is_done { "Done" } else { "Running" };
        Reply::Body(format!(
            "<r:ReceiveResponse><r:Stream Name='stdout'>{}</r:Stream><r:CommandState State='{SHELL}/CommandState/{state}'/>\
             </r:ReceiveResponse>",
            STANDARD.encode(data)
        ))
    }
}

/// Timeout that is short enough for a test to let it elapse.
pub(crate) const SHORT: Duration = Duration::from_millis(200);
