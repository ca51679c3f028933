//! A kernel that has SCTP: this one, or one in User-Mode Linux.

use std::io::Write as _;
use std::process::Command;

/// Set for the test inside, so that it does not start another kernel.
const INSIDE: &str = "CANTOR_INSIDE_SCTP_KERNEL";
/// Seconds that the tests inside may take.
const LIMIT: &str = "900";

/// Runs `body` if this kernel has SCTP, otherwise the test `name` of this executable inside User-Mode Linux.
///
/// `CANTOR_SKIP_SCTP=1` leaves it out, and says so.
///
/// # Panics
/// When the test inside fails, or there is no such kernel.
pub fn with_sctp(name: &str, body: impl Future<Output = ()>) {
    if transport::sctp_available() {
        // As #[tokio::test] does it.
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
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
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/with-sctp");
    let output = Command::new(script)
        .args(["-t", LIMIT, "--"])
        .arg(std::env::current_exe().expect("the path of this test"))
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap_or_else(|error| panic!("{script} cannot be run: {error}"));
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    println!("{out}");
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{name} did not pass on a kernel with SCTP: {err}"
    );
}
