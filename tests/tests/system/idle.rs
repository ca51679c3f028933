//! What `cantor run` costs while there is nothing to do.

use std::time::Duration;
use system_tests::site::Site;
use tokio::time::Instant;
use transport::Protocol::Tcp;

/// Time over which it is measured.
const WINDOW: Duration = Duration::from_secs(10);
/// `USER_HZ`: the unit of times in /proc, 100 for user space on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The figure is printed; the limit is far above it, for machines that count in coarse ticks.
#[tokio::test]
async fn an_idle_xapp_takes_next_to_no_cpu_time() {
    let site = Site::new(Tcp);
    let xapp = site.xapp().await;
    let (start, before) = (Instant::now(), cpu_time(xapp.id()));
    tokio::time::sleep(WINDOW).await;
    let used = cpu_time(xapp.id()) - before;
    let part = used.as_secs_f64() / start.elapsed().as_secs_f64();
    println!("idle `cantor run`: {:.2} % of a core", part * 100.0);
    assert!(part < 0.1, "{used:?}");
}

/// utime and stime of proc_pid_stat(5), the fields 14 and 15.
fn cpu_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The second field is the name, in parentheses, whatever it contains.
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let fields = fields.split(' ').skip(14 - 3).take(2);
    let ticks: u32 = fields
        .map(|ticks| ticks.parse::<u32>().expect("ticks"))
        .sum();
    Duration::from_secs_f64(f64::from(ticks) / TICKS_PER_SECOND)
}
