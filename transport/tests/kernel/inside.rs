//! Where a test that needs SCTP runs, and how to run one elsewhere.

use std::io::Write as _;
use std::process::{Command, Output};

/// Set for the tests inside, so that they do not start another kernel.
const INSIDE: &str = "CANTOR_INSIDE_SCTP_KERNEL";

/// Where a test that needs SCTP is to run.
pub enum Kernel {
    /// Here: this kernel has it.
    This,
    /// Inside User-Mode Linux.
    Another,
    /// Nowhere: `CANTOR_SKIP_SCTP=1` leaves it out, which was said.
    None,
}

impl Kernel {
    /// Of the test of this name.
    ///
    /// # Panics
    /// Inside User-Mode Linux, when that has no SCTP either.
    pub fn of(name: &str) -> Self {
        if transport::sctp_available() {
            return Self::This;
        }
        assert!(
            std::env::var_os(INSIDE).is_none(),
            "the kernel of tests/with-sctp has no SCTP"
        );
        if std::env::var("CANTOR_SKIP_SCTP").is_ok_and(|value| value == "1") {
            // Past the test harness, which keeps what passing tests print.
            let _ = writeln!(
                std::io::stderr(),
                "{name}: left out by CANTOR_SKIP_SCTP=1 (this kernel has no SCTP)"
            );
            return Self::None;
        }
        Self::Another
    }
}

/// Runs this test executable with `arguments` inside User-Mode Linux, for so many seconds at most.
///
/// # Panics
/// When there is none.
pub fn run_inside(seconds: u32, arguments: &[&str]) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/with-sctp");
    Command::new(script)
        .args(["-t", &seconds.to_string(), "--"])
        .arg(std::env::current_exe().expect("the path of this test"))
        .args(arguments)
        .env(INSIDE, "1")
        .output()
        .unwrap_or_else(|error| panic!("{script} cannot be run: {error}"))
}
