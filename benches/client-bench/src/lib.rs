//! Server, workloads and implementations of the `client` suite.

pub mod peers;
pub mod ours;
pub mod repeat;
pub mod server;
pub mod stream;
pub mod workload;
