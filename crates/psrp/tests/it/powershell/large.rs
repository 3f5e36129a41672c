//! Large objects.

use psrp::io::Options;
use psrp::message::PipelineState;
use psrp::value::Value;

use super::{open, run};

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
