//! A server that speaks the Perplexity API from scenario files.
