//! Input of pipelines, and large objects.

use psrp::io::Options;
use psrp::message::{PipelineState, PowerShell};
use psrp::value::Value;

use super::{HANG, open, run, texts};

#[tokio::test]
async fn input_reaches_the_script() {
    let Some(pool) = open(Options::new()).await else { return };
    for count in [0, 1, 2, 10_000] {
        let script = PowerShell::script("$n = 0; foreach ($text in $input) { $n += $text.Length }; $n");
        let input = (0..count).map(|number| format!("{number:04}"));
        let output =
            tokio::time::timeout(HANG, pool.invoke_with_input(script, input)).await.unwrap().unwrap();
        assert_eq!(output.state, PipelineState::Completed, "{:?}", output.reason);
        assert_eq!(output.output, [Value::from(count * 4)]);
    }
    let script = PowerShell::script("$input | ForEach-Object { $_.GetType().FullName }");
    let input = [Value::from("a"), Value::from(1), Value::from("large".repeat(500_000))];
    let output = tokio::time::timeout(HANG, pool.invoke_with_input(script, input)).await.unwrap().unwrap();
    assert_eq!(texts(&output.output), ["System.String", "System.Int32", "System.String"]);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn input_is_processed_immediately() {
    let Some(pool) = open(Options::new()).await else { return };
    let mut pipeline = pool.start_with_input(PowerShell::script("process { $_ * 2 }")).await.unwrap();
    for number in 0..10 {
        pipeline.send(number).await.unwrap();
        let answer = tokio::time::timeout(HANG, async {
            loop {
                if let psrp::client::PipelineEvent::Output(value) = pipeline.next().await.unwrap().unwrap() {
                    return value;
                }
            }
        });
        assert_eq!(answer.await.unwrap(), Value::from(number * 2));
    }
    pipeline.end_input().await.unwrap();
    assert_eq!(pipeline.output().await.unwrap().state, PipelineState::Completed);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn large_objects_are_received() {
    let Some(pool) = open(Options::new()).await else { return };
    let output = run(&pool, "'x' * 20MB; ,[byte[]]::new(8MB)").await;
    assert_eq!(output.state, PipelineState::Completed, "{:?}", output.reason);
    let [Value::String(text), Value::Bytes(bytes)] = &output.output[..] else {
        panic!("not a text and bytes")
    };
    assert_eq!((text.to_str_lossy().len(), bytes.len()), (20 << 20, 8 << 20));
    pool.close().await.unwrap();
}
