//! Names the version of redis-cell that is built: `cargo build --package redis-cell`.
