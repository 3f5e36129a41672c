//! Pipelines that are stopped early.

use std::time::Duration;

use psrp::io::{Options, Session};
use psrp::message::{PipelineState, PowerShell};
use psrp::value::Value;

use super::{HANG, open, run};

/// Rounds of [`an_early_stop_ends`]; `PSRP_TEST_ROUNDS` sets another number.
const ROUNDS: u64 = 21;

#[tokio::test]
async fn an_early_stop_ends() {
    let Some(pool) = open(Options::new()).await else { return };
    let rounds = std::env::var("PSRP_TEST_ROUNDS").map_or(ROUNDS, |count| count.parse().unwrap());
    for round in 0..rounds {
        let run = pool.start(PowerShell::script("while ($true) {}")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(round % 21)).await;
        tokio::time::timeout(HANG, run.stop()).await.expect("it ends").unwrap();
        assert_eq!(run.output().await.unwrap().state, PipelineState::Stopped);
    }
    close_idle(pool).await;
}

#[tokio::test]
async fn dropping_a_pipeline_ends_it() {
    let Some(pool) = open(Options::new()).await else { return };
    for round in 0..20 {
        let run = pool.start(PowerShell::script("while ($true) {}")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(round)).await;
        drop(run);
    }
    close_idle(pool).await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_input() {
    let Some(pool) = open(Options::new()).await else { return };
    for _ in 0..5 {
        let run = pool.start_with_input(PowerShell::script("while ($true) {}")).await.unwrap();
        for _ in 0..10 {
            run.send("x".repeat(100_000)).await.unwrap();
        }
        tokio::time::timeout(HANG, run.stop()).await.expect("it ends").unwrap();
        assert_eq!(run.output().await.unwrap().state, PipelineState::Stopped);
    }
    close_idle(pool).await;
}

/// Checks that the pool is usable, waits until the server uses no processor time, and closes the pool.
async fn close_idle(pool: Session) {
    let output = run(&pool, "1 + 1").await;
    assert_eq!((output.state, &*output.output), (PipelineState::Completed, &[Value::from(2)][..]));
    let process = run(&pool, "$PID").await.output[0].as_i64().unwrap();
    let used = || -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program, in parentheses, may contain spaces; the state is two fields after it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    };
    let Some(mut before) = used() else { return pool.close().await.unwrap() };
    let idle = async {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = used().unwrap();
            if now - before < 10 {
                return;
            }
            before = now;
        }
    };
    tokio::time::timeout(HANG, idle).await.expect("no script runs any more");
    pool.close().await.unwrap();
}
