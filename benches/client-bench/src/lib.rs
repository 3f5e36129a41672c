//! Server, workloads and implementations of the `client` suite.

pub mod ours;
pub mod peers;
pub mod repeat;
pub mod server;
pub mod stream;
pub mod workload;
