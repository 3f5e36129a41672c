//! The integration tests, in one program.

mod json_service;
mod parco;
mod perplexity;
mod psrp_server;
mod psrp_stderr;
mod pypi_proxy;
mod sse;
mod sse_mcp;
