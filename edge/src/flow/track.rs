//! What a receiver knows of one session: arithmetic without sockets.

use super::delay::{DelaySummary, Delays};
use super::packet::Report;
use serde::Serialize;

/// Sequence numbers in which a duplicate is told from a late packet.
const WINDOW: u64 = 4_096;

/// Follows the packets of one session.
#[derive(Clone, Debug)]
pub struct Track {
    session: u64,
    /// Sequence after the highest one seen.
    next: u64,
    /// Which of the last [`WINDOW`] sequences were seen, as a ring of bits.
    seen: Box<[bool]>,
    packets: u64,
    bytes: u64,
    reordered: u64,
    duplicates: u64,
    reports: u64,
    ended: bool,
    newest_sent_us: i64,
    first_came_us: i64,
    last_came_us: i64,
    since_report: Delays,
    since_sample: Delays,
    all: Delays,
}

/// A session as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowTotals {
    /// The session's number, chosen by the sender.
    pub session: u64,
    /// Packets received, without duplicates.
    pub packets: u64,
    /// Octets of IP packets received, without duplicates.
    pub bytes: u64,
    /// Mean rate between the first and the last packet, bit/s.
    pub goodput_bps: f64,
    /// Packets that did not come.
    pub lost: u64,
    /// Lost packets per packet sent.
    pub loss_ratio: f64,
    /// Packets that came after one of a higher number.
    pub reordered: u64,
    /// Packets that came again.
    pub duplicates: u64,
    /// Time between the first and the last packet, µs.
    pub duration_us: u64,
    /// One-way delay; `None`: no packet came.
    pub delay: Option<DelaySummary>,
    /// The sender said that it had finished.
    pub ended: bool,
}

impl Track {
    /// A session of which nothing came yet.
    pub fn new(session: u64) -> Self {
        Self {
            session,
            next: 0,
            seen: vec![false; WINDOW as usize].into_boxed_slice(),
            packets: 0,
            bytes: 0,
            reordered: 0,
            duplicates: 0,
            reports: 0,
            ended: false,
            newest_sent_us: 0,
            first_came_us: 0,
            last_came_us: 0,
            since_report: Delays::new(),
            since_sample: Delays::new(),
            all: Delays::new(),
        }
    }

    /// A data packet of `bytes` (the IP packet) came at `now_us`, Unix time.
    pub fn data(&mut self, sequence: u64, sent_us: i64, bytes: u64, now_us: i64) {
        if !self.is_new(sequence) {
            self.duplicates += 1;
            return;
        }
        if self.packets == 0 {
            self.first_came_us = now_us;
        }
        self.last_came_us = now_us;
        self.newest_sent_us = sent_us;
        self.packets += 1;
        self.bytes += bytes;
        let delay = u64::try_from(now_us.saturating_sub(sent_us)).unwrap_or(0);
        for delays in [
            &mut self.since_report,
            &mut self.since_sample,
            &mut self.all,
        ] {
            delays.record(delay);
        }
    }

    /// The sender finished after so many packets.
    pub fn end(&mut self, packets: u64) {
        self.skip_to(packets);
        self.ended = true;
    }

    /// Octets of IP packets and packets so far, without duplicates.
    pub fn received(&self) -> (u64, u64) {
        (self.bytes, self.packets)
    }

    /// Packets that were skipped and did not come (yet).
    pub fn lost(&self) -> u64 {
        self.next.saturating_sub(self.packets)
    }

    /// The next report to the sender.
    pub fn report(&mut self, now_us: i64) -> Report {
        self.reports += 1;
        let saturated = |us: u64| u32::try_from(us).unwrap_or(u32::MAX);
        let delay = self.since_report.summary();
        self.since_report.clear();
        Report {
            session: self.session,
            number: self.reports,
            packets: self.packets,
            bytes: self.bytes,
            lost: self.lost(),
            reordered: self.reordered,
            delay_us: delay.map(|d| (d.mean_us as u32, saturated(d.p99_us))),
            newest_sent_us: self.newest_sent_us,
            held_us: u32::try_from(now_us.saturating_sub(self.last_came_us).max(0))
                .unwrap_or(u32::MAX),
            ended: self.ended,
        }
    }

    /// Delay of the packets since the last call.
    pub fn sample_delay(&mut self) -> Option<DelaySummary> {
        let delay = self.since_sample.summary();
        self.since_sample.clear();
        delay
    }

    /// The session as a whole.
    pub fn totals(&self) -> FlowTotals {
        let duration_us =
            u64::try_from(self.last_came_us.saturating_sub(self.first_came_us)).unwrap_or(0);
        FlowTotals {
            session: self.session,
            packets: self.packets,
            bytes: self.bytes,
            goodput_bps: if duration_us > 0 {
                self.bytes as f64 * 8e6 / duration_us as f64
            } else {
                0.0
            },
            lost: self.lost(),
            loss_ratio: if self.next > 0 {
                self.lost() as f64 / self.next as f64
            } else {
                0.0
            },
            reordered: self.reordered,
            duplicates: self.duplicates,
            duration_us,
            delay: self.all.summary(),
            ended: self.ended,
        }
    }

    /// Notes a sequence; false if it was seen before.
    fn is_new(&mut self, sequence: u64) -> bool {
        let slot = (sequence % WINDOW) as usize;
        if sequence >= self.next {
            self.skip_to(sequence.saturating_add(1));
        } else if self.next - sequence > WINDOW {
            // Too long ago to know whether it is a duplicate: most likely it is only late.
            self.reordered += 1;
            return true;
        } else if self.seen[slot] {
            return false;
        } else {
            self.reordered += 1;
        }
        self.seen[slot] = true;
        true
    }

    /// Makes the window end before `next`.
    fn skip_to(&mut self, next: u64) {
        if next.saturating_sub(self.next) >= WINDOW {
            self.seen.fill(false);
        } else {
            for sequence in self.next..next {
                self.seen[(sequence % WINDOW) as usize] = false;
            }
        }
        self.next = self.next.max(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds (sequence, sent at, came at) of packets with 1000 octets.
    fn feed(track: &mut Track, packets: &[(u64, i64, i64)]) {
        for &(sequence, sent_us, came_us) in packets {
            track.data(sequence, sent_us, 1_000, came_us);
        }
    }

    #[test]
    fn loss_reordering_and_duplicates_are_told_apart() {
        let mut track = Track::new(1);
        let at = |s: u64| (s, 0, s as i64 * 100);
        feed(&mut track, &[0, 1, 4, 3, 3, 4, 6].map(at));
        let totals = track.totals();
        assert_eq!((totals.packets, totals.bytes), (5, 5_000));
        assert_eq!(totals.reordered, 1, "3 came after 4");
        assert_eq!(totals.duplicates, 2, "3 and 4 came twice");
        assert_eq!(totals.lost, 2, "2 and 5");
        // The end tells of the tail that nobody saw.
        track.end(10);
        track.end(10);
        assert_eq!(track.totals().lost, 5);
        assert_eq!(track.totals().loss_ratio, 0.5);
    }

    #[test]
    fn late_packets_repair_the_loss_even_after_the_window() {
        let mut track = Track::new(1);
        feed(&mut track, &[(0, 0, 0), (2, 0, 0), (10_000, 0, 0)]);
        assert_eq!(track.lost(), 9_998);
        feed(&mut track, &[(1, 0, 0), (9_999, 0, 0), (9_999, 0, 0)]);
        assert_eq!(track.lost(), 9_996);
        assert_eq!(track.totals().duplicates, 1);
    }

    #[test]
    fn numbers_at_the_end_of_their_range_do_no_harm() {
        let mut track = Track::new(1);
        feed(
            &mut track,
            &[
                (u64::MAX, i64::MIN, i64::MAX),
                (u64::MAX, i64::MAX, i64::MIN),
            ],
        );
        track.end(u64::MAX);
        let totals = track.totals();
        assert_eq!(totals.duplicates + totals.packets, 2);
        assert_eq!(track.report(i64::MIN).held_us, 0);
    }

    #[test]
    fn goodput_and_delay_are_those_of_the_packets() {
        let mut track = Track::new(1);
        // 101 packets in 100 ms: delays of 1 to 101 ms.
        for i in 0..101 {
            track.data(i, 0, 1_000, 1_000 * (i as i64 + 1));
        }
        let totals = track.totals();
        assert_eq!(totals.duration_us, 100_000);
        assert_eq!(totals.goodput_bps, 101.0 * 8_000.0 / 0.1);
        let delay = totals.delay.expect("packets came");
        assert_eq!(delay.mean_us, 51_000.0);
        for (found, expected) in [
            (delay.p50_us, 51_000),
            (delay.p95_us, 96_000),
            (delay.p99_us, 100_000),
            (delay.max_us, 101_000),
        ] {
            let error = found as f64 / f64::from(expected) - 1.0;
            assert!(error.abs() < 0.002, "{found} is not {expected}");
        }
    }

    #[test]
    fn reports_count_from_the_begin_and_give_delays_since_the_last_one() {
        let mut track = Track::new(7);
        feed(&mut track, &[(0, 0, 10), (1, 0, 20)]);
        let first = track.report(50);
        assert_eq!((first.number, first.packets, first.bytes), (1, 2, 2_000));
        assert_eq!(first.delay_us, Some((15, 20)));
        assert_eq!(first.held_us, 30);
        let second = track.report(100);
        assert_eq!(
            (second.number, second.packets, second.delay_us),
            (2, 2, None)
        );
        assert!(!second.ended);
    }

    #[test]
    fn clocks_that_are_behind_give_no_negative_delay() {
        let mut track = Track::new(1);
        track.data(0, 1_000, 100, 400);
        assert_eq!(track.sample_delay().map(|d| d.max_us), Some(0));
        assert_eq!(track.sample_delay(), None);
    }
}
