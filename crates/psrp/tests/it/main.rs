//! Integration tests, in one program.

#[path = "../support/console.rs"]
mod console;
#[path = "../support/fragment_reference.rs"]
mod fragment_reference;
#[cfg(all(feature = "tokio", feature = "crypto"))]
#[path = "../support/handler.rs"]
mod handler;
#[path = "../support/message_round_trip.rs"]
mod message_round_trip;
#[path = "../support/packet_reference.rs"]
mod packet_reference;
#[cfg(feature = "wsman")]
#[path = "../support/service.rs"]
mod service;
#[path = "../support/session.rs"]
mod session;
#[path = "../support/session_fuzz.rs"]
mod session_fuzz;
#[path = "../support/mod.rs"]
mod support;
#[cfg(all(feature = "tokio", feature = "crypto"))]
#[path = "../support/transport.rs"]
mod transport;
#[path = "../support/vector_checks.rs"]
mod vector_checks;
#[path = "../support/vectors_wire.rs"]
mod vectors_wire;

use support::vectors;

mod allocations;
mod blocking;
mod chunking;
mod clixml_console;
mod clixml_document;
mod clixml_escape;
mod clixml_primitives;
mod clixml_read;
mod clixml_write;
mod conversation;
mod crypto;
mod decoded_size;
mod depth;
mod fragments;
mod host_calls;
mod hostile;
mod hosts;
mod io_client;
mod io_copy;
mod io_end;
mod io_flow;
mod io_hosts;
mod limits;
mod live_client;
mod message_header;
mod message_vectors;
mod messages;
mod outofproc;
mod peers;
mod powershell;
mod powershell_recorded;
mod promises;
mod serde_clixml;
mod serde_errors;
mod serde_json;
mod serde_read;
mod serde_round_trip;
mod serde_types;
mod serve_faults;
mod serve_limits;
mod serve_pipelines;
mod session_features;
mod session_limits;
mod session_malformed;
mod session_network;
mod session_secrets;
mod session_states;
mod ssh;
mod terminal;
mod value_objects;
mod value_text;
mod vector_files;
mod wsman;
mod wsman_documents;
mod wsman_service;
