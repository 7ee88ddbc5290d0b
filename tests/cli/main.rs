//! Runs the built command as a user runs it, and reads the documentation as a user reads it.
//!
//! One binary for all of it, so that it is linked once.

mod architecture;
mod cases;
mod documentation;
mod rules;
mod shared;
mod transcript;
