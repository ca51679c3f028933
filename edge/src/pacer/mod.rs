//! Paces a UDP flow: a token bucket, and the timer that waits for it.
//!
//! Timers of tokio have a resolution of 1 ms, so at higher rates several packets go per wake; the bucket's
//! burst covers the timer's lateness, so that none of the rate is lost.

mod bucket;

pub use bucket::{Burst, TokenBucket};

use crate::guidance::Pacing;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Where a pacer has its rate from.
#[derive(Clone, Debug)]
pub enum Rate {
    /// Always the same, bit/s.
    Fixed(f64),
    /// As a flow's guidance says, followed at once.
    Guided(watch::Receiver<Pacing>),
}

/// Waits until packets may go.
///
/// ```
/// # async fn example(socket: tokio::net::UdpSocket, packet: &[u8]) -> std::io::Result<()> {
/// use edge::pacer::{Burst, Pacer, Rate};
/// let mut pacer = Pacer::new(Rate::Fixed(40e6), Burst::default());
/// loop {
///     // IP and UDP headers count: rates are rates of IP packets.
///     pacer.ready(packet.len() as u64 + 28).await;
///     socket.send(packet).await?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Pacer {
    rate: Rate,
    bucket: TokenBucket,
    epoch: Instant,
}

impl Pacer {
    /// Starts with an empty bucket.
    pub fn new(rate: Rate, burst: Burst) -> Self {
        let bps = match &rate {
            Rate::Fixed(bps) => *bps,
            Rate::Guided(pacing) => pacing.borrow().rate_bps,
        };
        Self {
            rate,
            bucket: TokenBucket::new(bps, burst, Duration::ZERO),
            epoch: Instant::now(),
        }
    }

    /// Waits until `bytes` (a whole IP packet) may go, and takes them. Cancel-safe: nothing is taken before
    /// it returns.
    pub async fn ready(&mut self, bytes: u64) {
        while !self.take(bytes) {
            let wake = self.bucket.ready_at(bytes).map(|at| self.epoch + at);
            tokio::select! {
                () = sleep_or_forever(wake) => {}
                () = changed(&mut self.rate) => {}
            }
        }
    }

    /// Takes `bytes` if they may go now: for sending several packets after one [`Self::ready`].
    pub fn take(&mut self, bytes: u64) -> bool {
        let now = self.epoch.elapsed();
        if let Rate::Guided(pacing) = &mut self.rate
            && pacing.has_changed().unwrap_or(false)
        {
            let bps = pacing.borrow_and_update().rate_bps;
            self.bucket.set_rate(bps, now);
        }
        self.bucket.take(bytes, now)
    }

    /// The bucket as it is now, for its counts.
    pub fn bucket(&mut self) -> &TokenBucket {
        self.bucket.advance(self.epoch.elapsed());
        &self.bucket
    }
}

async fn sleep_or_forever(wake: Option<Instant>) {
    match wake {
        Some(wake) => sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

/// Waits for a new rate without marking it as seen.
async fn changed(rate: &mut Rate) {
    if let Rate::Guided(pacing) = rate
        && pacing.changed().await.is_ok()
    {
        pacing.mark_changed();
        return;
    }
    // Fixed, or the flow's client has ended: no change will come.
    std::future::pending().await
}

#[cfg(test)]
mod tests;
