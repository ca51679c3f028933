use super::*;
use crate::guidance::Phase;
use tokio::net::UdpSocket;

fn pacing(rate_bps: f64) -> Pacing {
    Pacing {
        rate_bps,
        phase: Phase::Guided,
        sequence: 1,
        target_bitrate_bps: None,
        pacing_rate_bps: None,
        reason: None,
    }
}

/// Over a real socket: all that the pacer's own clock allowed was sent, but for what its lateness cost.
#[tokio::test]
async fn octets_on_the_socket_are_what_the_pacers_clock_allowed() {
    const PAYLOAD: usize = 1_372;
    let receiver = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    sender
        .connect(receiver.local_addr().unwrap())
        .await
        .unwrap();
    let mut pacer = Pacer::new(Rate::Fixed(80e6), Burst::default());
    let (mut sent, begin) = (0u64, Instant::now());
    for _ in 0..1_000 {
        pacer.ready(1_400).await;
        sent += sender.send(&[0; PAYLOAD]).await.unwrap() as u64 + 28;
    }
    let elapsed = begin.elapsed().as_secs_f64();
    let bucket = pacer.bucket();
    assert_eq!(sent, bucket.granted_bytes());
    assert!(
        sent as f64 <= 80e6 / 8.0 * elapsed + 1.0,
        "faster than its rate"
    );
    let kept_back = bucket.earned_bytes() - bucket.forfeited_bytes() - sent as f64;
    assert!(
        (0.0..=100_000.0).contains(&kept_back),
        "{kept_back} octets unsent"
    );
}

#[tokio::test]
async fn a_new_rate_ends_a_long_wait() {
    let (rate, pacings) = watch::channel(pacing(1.0));
    let mut pacer = Pacer::new(Rate::Guided(pacings), Burst::default());
    // At 1 bit/s this packet would take hours.
    let waiting = tokio::spawn(async move {
        pacer.ready(1_400).await;
        pacer.bucket().rate_bps()
    });
    tokio::task::yield_now().await;
    rate.send_replace(pacing(50e6));
    assert_eq!(waiting.await.unwrap(), 50e6);
}
