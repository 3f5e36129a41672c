//! Schema-first binary codec: positional, without tags, byte-compatible with the Go library of the same name.
