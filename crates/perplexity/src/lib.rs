//! Client for the Perplexity API.

pub mod types;
