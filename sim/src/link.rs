//! A wired bottleneck: a drop-tail queue served at a constant rate, at a rate that changes, or by a mahimahi trace.

use std::collections::VecDeque;
use std::time::Duration;

/// Octets that one opportunity of a mahimahi trace delivers (mm-link's MTU).
const OPPORTUNITY: u32 = 1504;

/// How fast the link serves.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// Rates in bit/s from these times on, ascending; before the first and at rate 0 nothing leaves.
    Rates(Vec<(Duration, f64)>),
    /// Delivery opportunities, repeated.
    Trace(Opportunities),
}

impl Service {
    /// A constant rate in bit/s.
    pub fn constant(bps: f64) -> Self {
        Self::Rates(vec![(Duration::ZERO, bps)])
    }
}

/// The opportunities of a mahimahi packet delivery trace (`mm-link`'s file format).
#[derive(Clone, Debug, PartialEq)]
pub struct Opportunities {
    /// Milliseconds, ascending; the last one is the period.
    at_ms: Vec<u64>,
}

/// Why a trace cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line that is no number of milliseconds, or less than the line before.
    #[error("mahimahi trace, line {line}: {text:?}: must be milliseconds, ascending")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What is there.
        text: String,
    },
    /// Nothing, or nothing after millisecond 0.
    #[error("mahimahi trace: needs at least one opportunity after millisecond 0")]
    Empty,
}

impl Opportunities {
    /// Octets that one opportunity delivers.
    pub const OCTETS: u32 = OPPORTUNITY;

    /// Opportunities at these milliseconds, ascending. Without one there is a single one after a second.
    pub fn of(mut at_ms: Vec<u64>) -> Self {
        if at_ms.last().is_none_or(|&last| last == 0) {
            at_ms.push(1000);
        }
        Self { at_ms }
    }

    /// Reads a trace: one opportunity to send 1504 octets per line, in milliseconds.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut at_ms: Vec<u64> = Vec::new();
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty())
        {
            match line.trim().parse() {
                Ok(ms) if at_ms.last().is_none_or(|&last| last <= ms) => at_ms.push(ms),
                _ => {
                    return Err(TraceError::Line {
                        line: index + 1,
                        text: line.to_owned(),
                    });
                }
            }
        }
        match at_ms.last() {
            Some(&last) if last > 0 => Ok(Self { at_ms }),
            _ => Err(TraceError::Empty),
        }
    }

    /// Mean rate, bit/s.
    pub fn mean_bps(&self) -> f64 {
        let period = self.period_ms() as f64 / 1e3;
        self.at_ms.len() as f64 * f64::from(OPPORTUNITY) * 8.0 / period
    }

    fn period_ms(&self) -> u64 {
        *self.at_ms.last().unwrap_or(&1)
    }

    fn at(&self, index: u64) -> Duration {
        let len = self.at_ms.len() as u64;
        let ms = self.at_ms[(index % len) as usize] + index / len * self.period_ms();
        Duration::from_millis(ms)
    }

    /// Index of the first opportunity at or after `now`.
    fn first_from(&self, now: Duration) -> u64 {
        let ms = now.as_nanos().div_ceil(1_000_000) as u64;
        // The last opportunity of a period falls together with the next one's begin.
        let round = ms.saturating_sub(1) / self.period_ms();
        let within = ms - round * self.period_ms();
        let before = self.at_ms.partition_point(|&at| at < within);
        round * self.at_ms.len() as u64 + before as u64
    }
}

/// The link; `T` is what the caller sends.
#[derive(Clone, Debug)]
pub struct Link<T> {
    service: Service,
    buffer: u64,
    queue: VecDeque<(T, u32)>,
    queued: u64,
    /// When the packet at the head has left.
    departure: Option<Duration>,
    /// Of a trace: the next opportunity, and what is left of the last one used.
    opportunity: u64,
    remainder: (Duration, u32),
    drops: u64,
    arrived: u64,
}

impl<T> Link<T> {
    /// An idle link whose queue holds at most `buffer` octets, the packet being served included.
    pub fn new(service: Service, buffer: u64) -> Self {
        Self {
            service,
            buffer,
            queue: VecDeque::new(),
            queued: 0,
            departure: None,
            opportunity: 0,
            remainder: (Duration::ZERO, 0),
            drops: 0,
            arrived: 0,
        }
    }

    /// Octets in the queue, the packet being served included.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// Packets dropped.
    pub fn drops(&self) -> u64 {
        self.drops
    }

    /// Octets taken into the queue so far.
    pub fn arrived_octets(&self) -> u64 {
        self.arrived
    }

    /// Octets that it could deliver in [`from`, `to`).
    pub fn capacity_octets(&self, from: Duration, to: Duration) -> u64 {
        match &self.service {
            Service::Rates(rates) => {
                let spans = rates.iter().enumerate().map(|(index, &(begin, bps))| {
                    let end = rates.get(index + 1).map_or(to, |&(next, _)| next.min(to));
                    bps / 8.0 * end.saturating_sub(begin.max(from)).as_secs_f64()
                });
                spans.sum::<f64>() as u64
            }
            Service::Trace(trace) => {
                let count = trace.first_from(to) - trace.first_from(from);
                count * u64::from(OPPORTUNITY)
            }
        }
    }

    /// A packet arrives; false if it is dropped.
    pub fn push(&mut self, now: Duration, packet: T, len: u32) -> bool {
        if self.queued + u64::from(len) > self.buffer {
            self.drops += 1;
            return false;
        }
        self.arrived += u64::from(len);
        self.queue.push_back((packet, len));
        self.queued += u64::from(len);
        if self.queue.len() == 1 {
            self.departure = self.serve(now, len);
        }
        true
    }

    /// When the next packet leaves.
    pub fn next_departure(&self) -> Option<Duration> {
        self.departure
    }

    /// The packet that leaves at [`Self::next_departure`].
    pub fn pop(&mut self) -> Option<T> {
        let now = self.departure?;
        let (packet, len) = self.queue.pop_front()?;
        self.queued -= u64::from(len);
        self.departure = match self.queue.front() {
            Some(&(_, next)) => self.serve(now, next),
            None => None,
        };
        Some(packet)
    }

    /// When a packet whose service begins at `now` has left.
    fn serve(&mut self, now: Duration, len: u32) -> Option<Duration> {
        match &self.service {
            Service::Rates(rates) => {
                let mut bits = f64::from(len) * 8.0;
                let current = rates.partition_point(|&(from, _)| from <= now);
                let mut at = now;
                for index in current.saturating_sub(1)..rates.len() {
                    let (from, bps) = rates[index];
                    at = at.max(from);
                    let until = rates.get(index + 1).map(|&(next, _)| next);
                    let finish = (bps > 0.0).then(|| at + Duration::from_secs_f64(bits / bps));
                    match (finish, until) {
                        (Some(finish), Some(until)) if finish > until => {
                            bits -= bps * (until - at).as_secs_f64();
                            at = until;
                        }
                        (Some(finish), _) => return Some(finish),
                        (None, Some(until)) => at = until,
                        (None, None) => return None,
                    }
                }
                None
            }
            Service::Trace(trace) => {
                let mut missing = len;
                let (at, left) = self.remainder;
                // An opportunity that comes to an empty queue is lost; what is left of one serves the same instant only.
                if at == now && left > 0 {
                    let used = left.min(missing);
                    missing -= used;
                    self.remainder.1 -= used;
                    if missing == 0 {
                        return Some(now);
                    }
                }
                if trace.at(self.opportunity) < now {
                    self.opportunity = trace.first_from(now);
                }
                loop {
                    let at = trace.at(self.opportunity);
                    self.opportunity += 1;
                    if missing <= OPPORTUNITY {
                        self.remainder = (at, OPPORTUNITY - missing);
                        return Some(at);
                    }
                    missing -= OPPORTUNITY;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn departures(link: &mut Link<u32>) -> Vec<(u32, u128)> {
        std::iter::from_fn(|| {
            let at = link.next_departure()?;
            Some((link.pop()?, at.as_micros()))
        })
        .collect()
    }

    #[test]
    fn serves_in_order_and_drops_what_does_not_fit() {
        let mut link = Link::new(Service::constant(8e6), 2500);
        let kept: Vec<bool> = (0..3).map(|i| link.push(MS, i, 1000)).collect();
        assert_eq!((kept, link.drops()), (vec![true, true, false], 1));
        assert_eq!(departures(&mut link), [(0, 2000), (1, 3000)]);
    }

    #[test]
    fn a_changing_rate_is_integrated() {
        let rates = vec![(Duration::ZERO, 8e6), (MS * 2, 0.0), (MS * 10, 4e6)];
        let mut link = Link::new(Service::Rates(rates), 10_000);
        link.push(MS, 0, 1000);
        link.push(MS, 1, 1000);
        link.push(MS, 2, 500);
        // The second waits out the pause.
        assert_eq!(departures(&mut link), [(0, 2000), (1, 12_000), (2, 13_000)]);
    }

    #[test]
    fn a_trace_delivers_1504_octets_per_opportunity() {
        let trace = Opportunities::parse("2\n5\n5\n10\n").unwrap();
        assert!((trace.mean_bps() - 4.0 * 1504.0 * 8.0 / 0.01).abs() < 1e-6);
        let mut link = Link::new(Service::Trace(trace), 100_000);
        link.push(MS, 0, 1504);
        link.push(MS, 1, 700);
        link.push(MS, 2, 700);
        link.push(MS, 3, 2000);
        link.push(MS, 4, 100);
        // 3 needs the second opportunity of millisecond 5 (its first one was spent on 1 and 2) and the one at 10.
        let seen = departures(&mut link);
        assert_eq!(seen[..3], [(0, 2000), (1, 5000), (2, 5000)]);
        assert_eq!(seen[3..], [(3, 10_000), (4, 10_000)]);
        link.push(MS * 21, 5, 1504);
        assert_eq!(link.next_departure(), Some(MS * 22), "the trace repeats");
        assert!(Opportunities::parse("3\n2\n").is_err() && Opportunities::parse("").is_err());
    }
}
