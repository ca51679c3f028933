//! Runs a test where the kernel has SCTP: here, or the same test inside User-Mode Linux.

use std::io::Write as _;
use std::process::Command;
use std::sync::OnceLock;

/// Set for the tests inside, so that they do not start another kernel.
const INSIDE: &str = "CANTOR_INSIDE_SCTP_KERNEL";

/// Runs `body` if this kernel has SCTP. Otherwise every test of this binary is run once inside User-Mode
/// Linux (a kernel takes seconds to start), and this one's result is looked up by its `name`.
///
/// `CANTOR_SKIP_SCTP=1` leaves it out, and says so.
pub fn with_sctp(name: &str, body: impl Future<Output = ()>) {
    if transport::sctp_available() {
        tokio::runtime::Runtime::new()
            .expect("a runtime")
            .block_on(body);
        return;
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
        return;
    }
    static INNER: OnceLock<String> = OnceLock::new();
    let output = INNER.get_or_init(run_inside);
    assert!(
        output.contains(&format!("test {name} ... ok")),
        "{name} did not pass on a kernel with SCTP:\n{output}"
    );
}

fn run_inside() -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/with-sctp");
    let test = std::env::current_exe().expect("the path of this test");
    let output = Command::new(script)
        .args(["-t", "240", "--"])
        .arg(test)
        .arg("--test-threads=1")
        .env(INSIDE, "1")
        .output()
        .unwrap_or_else(|error| panic!("{script} cannot be run: {error}"));
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
