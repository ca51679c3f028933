//! Runs a test where the kernel has SCTP: here, or the same test inside User-Mode Linux.

mod inside;

use inside::Kernel;
use std::sync::OnceLock;

/// Runs `body` if this kernel has SCTP. Otherwise every test of this binary is run once inside User-Mode
/// Linux (a kernel takes seconds to start), and this one's result is looked up by its `name`.
///
/// `CANTOR_SKIP_SCTP=1` leaves it out, and says so.
pub fn with_sctp(name: &str, body: impl Future<Output = ()>) {
    match Kernel::of(name) {
        Kernel::This => tokio::runtime::Runtime::new()
            .expect("a runtime")
            .block_on(body),
        Kernel::Another => {
            static INNER: OnceLock<String> = OnceLock::new();
            let output = INNER.get_or_init(run_all_inside);
            assert!(
                output.contains(&format!("test {name} ... ok")),
                "{name} did not pass on a kernel with SCTP:\n{output}"
            );
        }
        Kernel::None => {}
    }
}

fn run_all_inside() -> String {
    let output = inside::run_inside(240, &["--test-threads=1"]);
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
