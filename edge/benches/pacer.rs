//! How accurately the pacer sends over loopback: for each rate, octets given to the socket in one second against the
//! rate, the largest gap between packets, and what lateness cost. Not a criterion bench: what is measured is not a duration.
//!
//! `cargo bench -p edge --bench pacer`

use edge::pacer::{Burst, Pacer, Rate};
use edge::units;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::Instant;

const PACKET: usize = 1_400;
const HEADERS: usize = 28;
const ROUNDS: usize = 5;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    println!(
        "{:>12} {:>10} {:>10} {:>12} {:>12}",
        "rate", "mean off", "worst off", "largest gap", "forfeited"
    );
    for mbps in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0, 500.0] {
        let mut errors = Vec::new();
        let (mut gap, mut forfeited) = (Duration::ZERO, 0.0);
        for _ in 0..ROUNDS {
            let second = one_second(mbps * 1e6).await?;
            errors
                .push(second.bytes as f64 * 8.0 / (mbps * 1e6) / second.length.as_secs_f64() - 1.0);
            gap = gap.max(second.largest_gap);
            forfeited += second.forfeited_bytes;
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors
            .iter()
            .copied()
            .fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        println!(
            "{:>12} {:>8.3} % {:>8.3} % {:>12} {:>10.0} B",
            units::rate(mbps * 1e6),
            mean * 100.0,
            worst * 100.0,
            units::micros(gap.as_micros() as f64),
            forfeited
        );
    }
    Ok(())
}

struct Second {
    bytes: u64,
    length: Duration,
    largest_gap: Duration,
    forfeited_bytes: f64,
}

/// Sends for one second. The second begins with a packet and ends with another one, which is not counted: so
/// whole packets at low rates are no error.
async fn one_second(bps: f64) -> std::io::Result<Second> {
    let sink = UdpSocket::bind("127.0.0.1:0").await?;
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    socket.connect(sink.local_addr()?).await?;
    let packet = [0; PACKET - HEADERS];
    let mut pacer = Pacer::new(Rate::Fixed(bps), Burst::default());
    pacer.ready(PACKET as u64).await;
    let begin = Instant::now();
    let (mut bytes, mut last, mut largest_gap) = (0, begin, Duration::ZERO);
    loop {
        bytes += socket.send(&packet).await? as u64 + HEADERS as u64;
        pacer.ready(PACKET as u64).await;
        let now = Instant::now();
        largest_gap = largest_gap.max(now - last);
        last = now;
        if now - begin >= Duration::from_secs(1) {
            break;
        }
    }
    Ok(Second {
        bytes,
        length: begin.elapsed(),
        largest_gap,
        forfeited_bytes: pacer.bucket().forfeited_bytes(),
    })
}
