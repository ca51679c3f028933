//! A kernel that has SCTP: this one, or one in User-Mode Linux.

#[path = "../../transport/tests/kernel/inside.rs"]
mod inside;

use inside::Kernel;

/// Seconds that the tests inside may take.
const LIMIT: u32 = 900;

/// Runs `body` if this kernel has SCTP, otherwise the test `name` of this executable inside User-Mode Linux.
///
/// `CANTOR_SKIP_SCTP=1` leaves it out, and says so.
///
/// # Panics
/// When the test inside fails, or there is no such kernel.
pub fn with_sctp(name: &str, body: impl Future<Output = ()>) {
    match Kernel::of(name) {
        // As #[tokio::test] does it.
        Kernel::This => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
            .block_on(body),
        Kernel::Another => {
            let output = inside::run_inside(LIMIT, &["--exact", name, "--nocapture"]);
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
        Kernel::None => {}
    }
}
