//! What `cantor run` costs while there is nothing to do.

use crate::scenarios;
use std::time::Duration;
use system_tests::process::Process;
use system_tests::site::Site;
use tokio::time::Instant;
use transport::Protocol::Tcp;

/// Time over which it is measured.
const WINDOW: Duration = Duration::from_secs(10);
/// `USER_HZ`: the unit of times in /proc, 100 for user space on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The figures are printed; the limit is far above the first one, for machines that count in coarse ticks.
#[tokio::test]
async fn an_idle_xapp_takes_next_to_no_cpu_time() {
    let (alone, connected) = (Site::new(Tcp), Site::new(Tcp));
    let (idle, mut listening) = (alone.xapp().await, connected.xapp().await);
    let _cell = connected.cell().await;
    scenarios::subscribed(&mut listening).await;
    let [idle, listening] = parts_of_a_core([&idle, &listening]).await;
    println!(
        "`cantor run` without nodes: {:.2} % of a core",
        idle * 100.0
    );
    println!(
        "`cantor run` with a node of 3 UEs and without flows: {:.2} %",
        listening * 100.0
    );
    assert!(idle < 0.1);
}

async fn parts_of_a_core<const N: usize>(processes: [&Process; N]) -> [f64; N] {
    let (start, before) = (Instant::now(), processes.map(cpu_time));
    tokio::time::sleep(WINDOW).await;
    let elapsed = start.elapsed().as_secs_f64();
    let after = processes.map(cpu_time);
    std::array::from_fn(|i| (after[i] - before[i]).as_secs_f64() / elapsed)
}

/// utime and stime of proc_pid_stat(5), the fields 14 and 15.
fn cpu_time(process: &Process) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).expect("it runs");
    // The second field is the name, in parentheses, whatever it contains.
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let fields = fields.split(' ').skip(14 - 3).take(2);
    let ticks: u32 = fields
        .map(|ticks| ticks.parse::<u32>().expect("ticks"))
        .sum();
    Duration::from_secs_f64(f64::from(ticks) / TICKS_PER_SECOND)
}
