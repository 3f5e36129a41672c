//! Inputs and measured functions of the benchmark suite `psrp`.

pub mod maps;
pub mod payload;
pub mod powershell;
pub mod round_trip;
pub mod session;
pub mod stub;
pub mod transport;
