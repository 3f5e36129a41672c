//! Client for the Perplexity API.
