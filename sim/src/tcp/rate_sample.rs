//! Delivery rate samples (draft-ietf-ccwg-bbr section 4.1, "Delivery Rate Samples").

use std::time::Duration;

/// What a segment remembers of the connection at the time it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SendState {
    /// When it was sent.
    pub sent_at: Duration,
    /// Number of its transmission.
    pub transmission: u64,
    /// P.first_send_time: start of the interval over which the send rate is measured.
    pub first_sent_at: Duration,
    /// P.delivered_time.
    pub delivered_at: Duration,
    /// P.delivered: octets delivered by then.
    pub delivered: u64,
    /// P.lost: octets lost by then.
    pub lost: u64,
    /// P.tx_in_flight: octets in flight, itself included.
    pub in_flight: u64,
    /// The application (or the controller) did not offer enough to fill the window.
    pub app_limited: bool,
}

/// A rate sample: RS of the draft.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Delivery rate in octets per second, if the interval was long enough to tell.
    pub rate: Option<f64>,
    /// Octets delivered in the interval.
    pub delivered: u64,
    /// Octets lost since the newest segment delivered was sent.
    pub lost: u64,
    /// State of the newest segment delivered, when it was sent.
    pub newest: SendState,
}

/// Connection state of the sampler.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSampler {
    delivered: u64,
    delivered_at: Duration,
    first_sent_at: Duration,
    lost: u64,
    /// C.app_limited: while `delivered` is at most this, samples are application-limited.
    app_limited_until: Option<u64>,
    newest: Option<SendState>,
}

impl RateSampler {
    /// A segment is sent; `in_flight` is what was in flight before it.
    pub fn on_send(
        &mut self,
        now: Duration,
        transmission: u64,
        len: u32,
        in_flight: u64,
    ) -> SendState {
        if in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendState {
            sent_at: now,
            transmission,
            first_sent_at: self.first_sent_at,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: in_flight + u64::from(len),
            app_limited: self.app_limited_until.is_some(),
        }
    }

    /// A segment has been delivered.
    pub fn on_delivered(&mut self, now: Duration, len: u32, sent: SendState) {
        self.delivered += u64::from(len);
        self.delivered_at = now;
        let newer =
            |old: SendState| (sent.sent_at, sent.transmission) > (old.sent_at, old.transmission);
        if self.newest.is_none_or(newer) {
            self.newest = Some(sent);
            self.first_sent_at = sent.sent_at;
        }
    }

    /// A segment has been lost.
    pub fn on_lost(&mut self, len: u32) {
        self.lost += u64::from(len);
    }

    /// There is less to send than the window allows.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = Some((self.delivered + in_flight).max(1));
    }

    /// All of one acknowledgement's segments have been given; `None` if it delivered none.
    pub fn sample(&mut self, now: Duration, min_rtt: Duration) -> Option<RateSample> {
        if self
            .app_limited_until
            .is_some_and(|until| self.delivered > until)
        {
            self.app_limited_until = None;
        }
        let newest = self.newest.take()?;
        let send_elapsed = newest.sent_at - newest.first_sent_at;
        let ack_elapsed = now - newest.delivered_at;
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = self.delivered - newest.delivered;
        let reliable = interval >= min_rtt && interval > Duration::ZERO;
        Some(RateSample {
            rate: reliable.then(|| delivered as f64 / interval.as_secs_f64()),
            delivered,
            lost: self.lost - newest.lost,
            newest,
        })
    }

    /// Octets delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Octets lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn rate_is_what_was_delivered_over_the_slower_of_sending_and_acknowledging() {
        let mut sampler = RateSampler::default();
        // Ten segments of 1000 octets sent at once, acknowledged one every 10 ms after 50 ms: 100 octets/ms.
        let sent: Vec<_> = (0..10)
            .map(|i| sampler.on_send(MS, i, 1000, i * 1000))
            .collect();
        let mut rates = Vec::new();
        for (i, &state) in sent.iter().enumerate() {
            let now = MS * (51 + 10 * i as u32);
            sampler.on_delivered(now, 1000, state);
            rates.extend(sampler.sample(now, MS * 50).unwrap().rate);
        }
        // One window of 10,000 octets in 140 ms: the first round includes the path's own delay.
        assert_eq!(rates.len(), 10);
        assert!((rates[9] - 10_000.0 / 0.14).abs() < 1.0, "{rates:?}");
    }

    #[test]
    fn short_intervals_give_no_rate() {
        let mut sampler = RateSampler::default();
        let state = sampler.on_send(MS, 0, 1000, 0);
        sampler.on_delivered(MS * 2, 1000, state);
        assert_eq!(sampler.sample(MS * 2, MS * 5).unwrap().rate, None);
        assert_eq!(
            sampler.sample(MS * 2, MS * 5),
            None,
            "nothing delivered since"
        );
    }

    #[test]
    fn application_limit_ends_when_what_was_in_flight_is_delivered() {
        let mut sampler = RateSampler::default();
        let first = sampler.on_send(MS, 0, 1000, 0);
        sampler.mark_app_limited(1000);
        let second = sampler.on_send(MS * 3, 1, 1000, 1000);
        assert!(!first.app_limited && second.app_limited);
        sampler.on_delivered(MS * 9, 1000, first);
        sampler.sample(MS * 9, MS);
        sampler.on_delivered(MS * 11, 1000, second);
        sampler.sample(MS * 11, MS);
        assert!(!sampler.on_send(MS * 12, 2, 1000, 0).app_limited);
    }
}
