//! Server, workloads and implementations of the `client` suite.

pub mod bare;
pub mod ours;
pub mod repeat;
pub mod server;
pub mod stream;
pub mod workload;
