//! Complete sessions in one thread, over an in-memory pipe: our client with one of two servers.
//!
//! go-psrpcore only has a client. Its rows use a [`stub`] server that decodes no documents; our client with such a stub
//! is comparable. Our client with our server shows the cost for a program that runs both: the server decodes every
//! message, tracks the states of the pool and its pipelines, and calls a handler in its own task.

use std::io;

use psrp::Error;
use psrp::client::PipelineEvent;
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve};
use psrp::io::{self as remote, Lines, Session};
use psrp::message::{CreatePipeline, PowerShell};
use psrp::outofproc::Role;
use tokio::runtime::Runtime;

use super::stub;

/// Capacity of the pipe in bytes, as of an operating system pipe.
const PIPE: usize = 64 * 1024;

/// Handler that outputs as many numbers as the script says, starting at zero.
#[derive(Debug)]
struct Numbers;

impl Handler for Numbers {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, _: Input) -> Outcome {
        let script = create.power_shell.statements().flatten().next();
        let count: i32 = script.and_then(|script| script.text.to_string().parse().ok()).unwrap_or(0);
        for number in 0..count {
            pipeline.output(number).await?;
        }
        Ok(())
    }
}

/// Server of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// Our server.
    Full,
    /// The stub server [`stub::serve`].
    Stub,
}

/// Runs sessions.
#[derive(Debug)]
pub struct Sessions {
    runtime: Runtime,
    server: ServerKind,
}

impl Sessions {
    /// Creates a single-threaded runtime.
    pub fn new(server: ServerKind) -> io::Result<Self> {
        Ok(Self { runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?, server })
    }

    /// Opens a pool.
    pub fn open(&self) -> Result<Session, Error> {
        self.runtime.block_on(open(self.server))
    }

    /// Opens a pool, runs a pipeline that outputs one number, and closes the pool, `times` times. Returns the number of
    /// objects of the last pipeline.
    pub fn whole(&self, times: u64) -> Result<u64, Error> {
        self.runtime.block_on(async {
            let mut count = 0;
            for _ in 0..times {
                let pool = open(self.server).await?;
                let output = pool.invoke(PowerShell::script("1")).await?;
                pool.close().await?;
                count = output.output.len() as u64;
            }
            Ok(count)
        })
    }

    /// Runs a pipeline that outputs `count` numbers and processes them as they arrive. Returns their sum.
    pub fn stream(&self, pool: &Session, count: u64) -> Result<i64, Error> {
        self.runtime.block_on(async {
            let mut run = pool.start(PowerShell::script(count.to_string())).await?;
            let mut sum = 0;
            while let Some(event) = run.next().await {
                if let PipelineEvent::Output(value) = event? {
                    sum += value.as_i64().unwrap_or(i64::MIN / 2);
                }
            }
            Ok(sum)
        })
    }
}

/// Returns the sum of `count` numbers starting at zero.
pub fn sum(count: u64) -> u64 {
    count * (count - 1) / 2
}

async fn open(server: ServerKind) -> Result<Session, Error> {
    let (near, other) = tokio::io::duplex(PIPE);
    match server {
        ServerKind::Full => {
            let (read, write) = tokio::io::split(other);
            tokio::spawn(serve(Lines::new(Role::Server, read, write), Numbers, Options::new()));
        }
        ServerKind::Stub => {
            tokio::spawn(stub::serve(other));
        }
    }
    let (read, write) = tokio::io::split(near);
    Session::over(Lines::new(Role::Client, read, write), remote::Options::new()).await
}
