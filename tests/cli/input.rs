//! Folders with more in them than files.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::transcript::{project, reglint, scratch, show};

/// Nobody ever writes to a pipe that merely lies beside a register; reading it would never end.
#[test]
fn pipes_and_dead_links_beside_a_register_are_passed_over() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    fs::copy(project().join("registers/gemma.json"), path("r.json")).expect("can be copied");
    symlink("nowhere.json", path("dead.json")).expect("can be made");
    symlink("r.json", path("same.json")).expect("can be made");
    let made = Command::new("mkfifo").arg(path("pipe.json")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo makes a pipe");
    for arguments in ["r.json", "."] {
        let mut child = reglint(folder.path())
            .args(["-A", "warnings", arguments])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let start = Instant::now();
        while child.try_wait().expect("can be asked").is_none() {
            if start.elapsed() > Duration::from_secs(20) {
                child.kill().expect("can be stopped");
                panic!("waits for a pipe with `{arguments}`");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let shown = show(&child.wait_with_output().expect("has ended"));
        assert_eq!(shown, "no findings in 1 register (8 hypotheses, 21 patterns)\n", "{arguments}");
    }
}
