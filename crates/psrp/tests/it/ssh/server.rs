//! In-process SSH server.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use psrp::io::serve::{self, Input, Options, Outcome, Pipeline};
use psrp::io::{Lines, Ssh};
use psrp::message::CreatePipeline;
use psrp::outofproc::Role;
use russh::keys::{PrivateKey, PublicKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handle, Handler, Msg, Response, Session};
use russh::server::{VerifiedPublicKey, run_stream};
use russh::{Channel, ChannelId, ChannelStream, MethodKind, MethodSet};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::handler::TestHandler;
use crate::ssh::files::{Files, key};

/// Authentication required by the server.
#[derive(Default)]
pub(crate) struct AuthPolicy {
    pub(crate) keys: Vec<PublicKey>,
    pub(crate) password: Option<&'static str>,
    /// Prompts of keyboard-interactive: text, echo, and expected answer.
    pub(crate) questions: &'static [(&'static str, bool, &'static str)],
    /// A key, then the password.
    pub(crate) both: bool,
    /// Whether it repeats the prompts regardless of the answers.
    pub(crate) asks_on: bool,
    /// Local port that all forwarded connections lead to, instead of their target.
    pub(crate) forwards_to: Option<u16>,
    /// Attempts until the server ends the connection, ten by default.
    pub(crate) tries: Option<usize>,
}

/// Behaviour of the subsystem `powershell`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// Serves sessions: see [`Scripts`].
    Serve,
    /// Writes this to its error output and exits with this status.
    Fail(&'static str, u32),
    /// Ends the connection.
    Disconnect,
    /// Does nothing, and does not exit.
    Hang,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) key: PrivateKey,
    /// Number of connections.
    live: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(demands: AuthPolicy, program: Program) -> Self {
        Self::with_keys(vec![key()], demands, program).await
    }

    /// Starts a server with several keys, the first of which is `key`.
    pub(crate) async fn with_keys(keys: Vec<PrivateKey>, demands: AuthPolicy, program: Program) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let key = keys[0].clone();
        let config = Config {
            keys,
            auth_rejection_time: Duration::ZERO,
            max_auth_attempts: demands.tries.unwrap_or(10),
            ..Config::default()
        };
        let (config, demands) = (Arc::new(config), Arc::new(demands));
        let (count, live) = watch::channel(0);
        let task = tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let demands = Arc::clone(&demands);
                let connection = Connection { demands, program, channel: None, has_key: false };
                let (config, count) = (Arc::clone(&config), count.clone());
                count.send_modify(|count| *count += 1);
                tokio::spawn(async move {
                    if let Ok(session) = run_stream(config, socket, connection).await {
                        let _ = session.await;
                    }
                    count.send_modify(|count| *count -= 1);
                });
            }
        });
        Self { port, key, live, task }
    }

    /// Waits until there is no connection.
    pub(crate) async fn idle(&self) {
        self.live.clone().wait_for(|count| *count == 0).await.unwrap();
    }

    /// Returns a connector that only uses the test's files: no defaults, no agent, no other known host.
    pub(crate) fn connector(&self, files: &Files) -> Ssh {
        let known = files.known_hosts(self.port, self.key.public_key());
        connector(self.port).known_hosts([known])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connects to a local port without any of the user's settings.
pub(crate) fn connector(port: u16) -> Ssh {
    Ssh::new("127.0.0.1")
        .port(port)
        .user("alice")
        .known_hosts(Vec::<String>::new())
        .without_agent()
        .without_key_files()
}

/// A connection of a client.
struct Connection {
    demands: Arc<AuthPolicy>,
    program: Program,
    channel: Option<Channel<Msg>>,
    /// The first of two steps has succeeded.
    has_key: bool,
}

fn reject(methods: &[MethodKind], partial_success: bool) -> Auth {
    Auth::Reject { proceed_with_methods: Some(MethodSet::from(methods)), partial_success }
}

impl Connection {
    fn refuse(&self) -> Auth {
        let mut methods = Vec::new();
        if !self.demands.keys.is_empty() && !self.has_key {
            methods.push(MethodKind::PublicKey);
        }
        if self.demands.password.is_some() && (!self.demands.both || self.has_key) {
            methods.push(MethodKind::Password);
        }
        if !self.demands.questions.is_empty() {
            methods.push(MethodKind::KeyboardInteractive);
        }
        reject(&methods, false)
    }
}

impl Handler for Connection {
    type Error = russh::Error;

    async fn auth_none(&mut self, _: &str) -> Result<Auth, russh::Error> {
        Ok(self.refuse())
    }

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, russh::Error> {
        assert_eq!(user, "alice");
        let is_right = self.demands.password == Some(password) && (!self.demands.both || self.has_key);
        Ok(if is_right { Auth::Accept } else { self.refuse() })
    }

    async fn auth_publickey(&mut self, user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, russh::Error> {
        assert_eq!(user, "alice");
        if !self.demands.keys.iter().any(|known| known.key_data() == key.public_key.key_data()) {
            return Ok(self.refuse());
        }
        self.has_key = true;
        Ok(if self.demands.both { reject(&[MethodKind::Password], true) } else { Auth::Accept })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, russh::Error> {
        let questions = self.demands.questions;
        let Some(response) = response.filter(|_| !self.demands.asks_on) else {
            let prompts: Vec<_> =
                questions.iter().map(|(text, echo, _)| (Cow::Borrowed(*text), *echo)).collect();
            return Ok(Auth::Partial { name: "".into(), instructions: "".into(), prompts: prompts.into() });
        };
        let answers: Vec<_> = response.collect();
        let is_right = answers.len() == questions.len()
            && answers.iter().zip(questions).all(|(answer, question)| answer == question.2.as_bytes());
        Ok(if is_right { Auth::Accept } else { self.refuse() })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), russh::Error> {
        self.channel = Some(channel);
        reply.accept().await;
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), russh::Error> {
        let target = self.demands.forwards_to.map_or((host, port as u16), |port| ("127.0.0.1", port));
        // Dropping the handle refuses the channel.
        let Ok(mut target) = TcpStream::connect(target).await else { return Ok(()) };
        reply.accept().await;
        tokio::spawn(async move {
            let _ = tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut target).await;
        });
        Ok(())
    }

    async fn subsystem_request(
        &mut self,
        id: ChannelId,
        name: &str,
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        match self.channel.take().filter(|_| name == "powershell") {
            Some(channel) => {
                session.channel_success(id)?;
                tokio::spawn(run(self.program, channel.into_stream(), session.handle(), id));
                Ok(())
            }
            None => session.channel_failure(id),
        }
    }
}

/// Runs the program of a subsystem until it ends.
async fn run(program: Program, mut stream: ChannelStream<Msg>, connection: Handle, id: ChannelId) {
    let status = match program {
        Program::Serve => {
            let scripts = Scripts::default();
            let dead = Arc::clone(&scripts.dead);
            let (read, write) = tokio::io::split(&mut stream);
            let session = serve::serve(Lines::new(Role::Server, read, write), scripts, Options::default());
            tokio::select! {
                ended = session => u32::from(ended.is_err()),
                () = dead.notified() => {
                    connection.extended_data(id, 1, &b"out of memory\x1b[2J\n"[..]).await.unwrap();
                    137
                }
            }
        }
        Program::Fail(complaint, status) => {
            connection.extended_data(id, 1, complaint.as_bytes()).await.unwrap();
            status
        }
        Program::Disconnect => {
            let reason = russh::Disconnect::ByApplication;
            connection.disconnect(reason, "we close at \x07 eight".into(), "".into()).await.unwrap();
            return;
        }
        Program::Hang => {
            let mut nothing = Vec::new();
            let _ = stream.read_to_end(&mut nothing).await;
            std::future::pending().await
        }
    };
    // The client may be gone.
    let _ = connection.exit_status_request(id, status).await;
    let _ = stream.shutdown().await;
    let _ = connection.close(id).await;
}

/// The test handler, with more scripts.
#[derive(Default)]
struct Scripts {
    handler: TestHandler,
    dead: Arc<Notify>,
}

impl serve::Handler for Scripts {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, input: Input) -> Outcome {
        let script = create.power_shell.statements().next().unwrap()[0].text.to_string();
        match &*script {
            "flood" => loop {
                pipeline.output("y".repeat(10_000)).await?;
            },
            "die" => {
                pipeline.output(1).await?;
                self.dead.notify_one();
                std::future::pending().await
            }
            _ => self.handler.run(create, pipeline, input).await,
        }
    }
}
