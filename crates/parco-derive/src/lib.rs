//! The derive macros of parco.
