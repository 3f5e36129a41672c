//! Documents for the suite `pypi_proxy`, and how a program without `pypi-proxy` would rewrite them.

pub mod documents;
pub mod typed;
