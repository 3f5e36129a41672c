//! Whole sessions in one thread, over a pipe in memory: our client with one of two servers.
//!
//! The original has a client only, and its rows have the [`stub`] of a server beside it, which decodes no
//! document. Our client with such a stub does what it does. Our client with our server is what a session costs a program
//! that has both ends: the server decodes every message into its type, keeps the states of the pool and of its pipelines,
//! and calls a handler in a task of its own.

use std::io;

use psrp::Error;
use psrp::client::PipelineEvent;
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve};
use psrp::io::{self as remote, Lines, RunspacePool};
use psrp::message::{CreatePipeline, PowerShell};
use psrp::outofproc::Role;
use tokio::runtime::Runtime;

use super::stub;

/// What the pipe holds, as one of the system does.
const PIPE: usize = 64 * 1024;

/// Writes as many numbers as the script says, from zero on.
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

/// What is at the other end of the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// Our server.
    Server,
    /// What [`stub::serve`] knows of one.
    Plain,
}

/// Where sessions run.
#[derive(Debug)]
pub struct Sessions {
    runtime: Runtime,
    far: Far,
}

impl Sessions {
    /// A runtime with one thread.
    ///
    /// # Errors
    ///
    /// Fails where the system does.
    pub fn new(far: Far) -> io::Result<Self> {
        Ok(Self { runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?, far })
    }

    /// Opens a pool.
    ///
    /// # Errors
    ///
    /// Fails where the session does.
    pub fn open(&self) -> Result<RunspacePool, Error> {
        self.runtime.block_on(open(self.far))
    }

    /// Opens a pool, has a pipeline write one number, and closes the pool, so many times. How many numbers the last one
    /// wrote.
    ///
    /// # Errors
    ///
    /// Fails where a session does.
    pub fn whole(&self, times: u64) -> Result<u64, Error> {
        self.runtime.block_on(async {
            let mut count = 0;
            for _ in 0..times {
                let pool = open(self.far).await?;
                let output = pool.invoke(PowerShell::script("1")).await?;
                pool.close().await?;
                count = output.output.len() as u64;
            }
            Ok(count)
        })
    }

    /// Has a pipeline of an open pool write numbers that are looked at as they come. Their sum.
    ///
    /// # Errors
    ///
    /// Fails where the session does.
    pub fn stream(&self, pool: &RunspacePool, count: u64) -> Result<i64, Error> {
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

    /// The same, collected before they are looked at.
    ///
    /// # Errors
    ///
    /// Fails where the session does.
    pub fn collect(&self, pool: &RunspacePool, count: u64) -> Result<i64, Error> {
        let output = self.runtime.block_on(pool.invoke(PowerShell::script(count.to_string())))?;
        Ok(output.output.iter().map(|value| value.as_i64().unwrap_or(i64::MIN / 2)).sum())
    }
}

/// The sum of as many numbers, from zero on.
pub fn sum(count: u64) -> u64 {
    count * (count - 1) / 2
}

async fn open(far: Far) -> Result<RunspacePool, Error> {
    let (near, other) = tokio::io::duplex(PIPE);
    match far {
        Far::Server => {
            let (read, write) = tokio::io::split(other);
            tokio::spawn(serve(Lines::new(Role::Server, read, write), Numbers, Options::new()));
        }
        Far::Plain => {
            tokio::spawn(stub::serve(other));
        }
    }
    let (read, write) = tokio::io::split(near);
    RunspacePool::over(Lines::new(Role::Client, read, write), remote::Options::new()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_arrive() {
        for far in [Far::Server, Far::Plain] {
            let sessions = Sessions::new(far).unwrap();
            assert_eq!(sessions.whole(2).unwrap(), 1, "{far:?}");
            let pool = sessions.open().unwrap();
            // More than the pipe holds.
            assert_eq!(sessions.stream(&pool, 1000).unwrap() as u64, sum(1000), "{far:?}");
            assert_eq!(sessions.collect(&pool, 1000).unwrap() as u64, sum(1000), "{far:?}");
            let (whole, closed) = sessions
                .runtime
                .block_on(async {
                    let output = pool.invoke(PowerShell::script("3")).await?;
                    Ok::<_, Error>((output.completed()?.output, pool.close().await))
                })
                .unwrap();
            assert_eq!(whole, [0, 1, 2].map(psrp::Value::from), "{far:?}");
            closed.unwrap();
        }
    }
}
