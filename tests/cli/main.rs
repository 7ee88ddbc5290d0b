//! Runs the built command as a user runs it, and reads the documentation as a user reads it.
//!
//! One binary for all of it, so that it is linked once.

#![allow(unreachable_pub, missing_docs, clippy::print_stderr, clippy::unwrap_used)]

mod architecture;
mod cases;
mod documentation;
mod fixes;
mod input;
mod rules;
mod shared;
mod spans;
mod transcript;
