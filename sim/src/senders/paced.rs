//! Paced UDP: packets of one size at a rate that somebody else sets (guidance), or a constant one.

use std::time::Duration;

/// IPv4 and UDP headers, octets.
pub const UDP_HEADER: u32 = 28;

/// The pacer: it keeps the time of the next packet, so that a change of the rate acts at once.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    /// Octets of a packet on the wire, headers included.
    packet: u32,
    rate_bps: f64,
    /// When `credit` was counted.
    at: Duration,
    /// Part of the next packet that the rate has allowed so far, octets.
    credit: f64,
    /// When the next packet may go; `None` at rate 0.
    due: Option<Duration>,
}

impl Pacer {
    /// A pacer that sends its first packet at `start`. The rate counts whole packets, headers included.
    pub fn new(packet: u32, rate_bps: f64, start: Duration) -> Self {
        Self {
            packet,
            rate_bps,
            at: start,
            credit: f64::from(packet),
            due: Some(start),
        }
    }

    /// The rate, bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// Changes the rate at `now`.
    pub fn set_rate(&mut self, now: Duration, rate_bps: f64) {
        self.accrue(now);
        self.rate_bps = rate_bps.max(0.0);
        self.due = self.next_due();
    }

    fn accrue(&mut self, now: Duration) {
        if now > self.at {
            let octets = (now - self.at).as_secs_f64() * self.rate_bps / 8.0;
            // A pause earns no burst.
            self.credit = (self.credit + octets).min(f64::from(self.packet));
            self.at = now;
        }
    }

    /// When the next packet may go; `None` at rate 0.
    pub fn next(&self) -> Option<Duration> {
        self.due
    }

    fn next_due(&self) -> Option<Duration> {
        let missing = (f64::from(self.packet) - self.credit).max(0.0);
        if missing == 0.0 {
            return Some(self.at);
        }
        if self.rate_bps <= 0.0 {
            return None;
        }
        let wait = Duration::try_from_secs_f64(missing * 8.0 / self.rate_bps).ok()?;
        self.at.checked_add(wait)
    }

    /// The packet's size, if one may go at `now`.
    pub fn poll_send(&mut self, now: Duration) -> Option<u32> {
        let due = self.due.filter(|&due| due <= now)?;
        // What the packet waited for is used up, and no more: the mean rate is exact whenever this is called on time.
        self.accrue(due);
        self.credit = 0.0;
        self.due = self.next_due();
        Some(self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pacer: &mut Pacer, until: Duration) -> u32 {
        let mut count = 0;
        while let Some(next) = pacer.next()
            && next <= until
        {
            assert!(pacer.poll_send(next).is_some());
            count += 1;
        }
        count
    }

    #[test]
    fn rate_is_exact_and_even() {
        let mut pacer = Pacer::new(1250, 10e6, Duration::ZERO);
        assert!((999..=1001).contains(&sent(&mut pacer, Duration::from_secs(1))));
        let a = pacer.next().unwrap();
        pacer.poll_send(a);
        let gap = pacer.next().unwrap() - a;
        assert!(gap.abs_diff(Duration::from_millis(1)) < Duration::from_nanos(5));
    }

    #[test]
    fn a_new_rate_acts_on_the_packet_already_waiting() {
        let mut pacer = Pacer::new(1250, 1e4, Duration::ZERO);
        pacer.poll_send(Duration::ZERO);
        assert_eq!(pacer.next(), Some(Duration::from_secs(1)));
        pacer.set_rate(Duration::from_millis(500), 1e6);
        assert_eq!(pacer.next(), Some(Duration::from_millis(505)));
        pacer.set_rate(Duration::from_millis(501), 0.0);
        assert_eq!(pacer.next(), None);
    }
}
