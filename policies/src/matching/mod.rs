//! Who is this UE? Which UE of the RAN the traffic of an IP address goes to, told by the traffic itself.
//!
//! E2 carries no key that edge servers know, too. But the octets that an edge server sends to a UE arrive at the base
//! station a little later: [`Matcher`] compares both series, without I/O and told the time.
//!
//! # The statistic
//!
//! Let y(k) be the octets that arrived for a UE in bin k (reports of the RAN joined to at least 190 ms), and x(k, d) the
//! octets that the edge sent in the same time, d earlier. For each flow, UE and lag d (−0.2 to 1 s in steps of 25 ms)
//! the evidence of bin k is the logarithm of
//!
//! ```text
//! p(y(k) | flow: x(k, d) + what else the UE gets, predicted from its past)
//! ────────────────────────────────────────────────────────────────────────
//! p(y(k) | no flow: predicted from the UE's own past alone)
//! ```
//!
//! times how much x changed from the bin before, against its uncertainty (0 to 1): a constant rate is predicted just as
//! well by the UE's own past, and is no evidence. Both densities are mixtures of Student's t (last value, running mean)
//! and a broad one for what nobody can predict; the scale of x is a packet, 3 % for headers, and the uncertainty of when
//! within its interval a burst was sent. What the flow sent and the UE did not get speaks against the pair also while x
//! is constant, unless the UE's queue is so old that it may drop. One bin counts for −3 to 8.
//!
//! The evidence adds up (cut to −6 … 25), less a penalty for unlikely lags: those above 0.1 s, negative ones, and, once
//! the lag of this edge server and node is known from bindings beyond doubt, all others. An address is bound to the UE
//! whose sum at its best lag is at least 5.5 and 4 more than that of any other UE, if no other address claims that UE
//! nearly as well. UEs with equal traffic therefore stay unbound, unless their pacing is [dithered](dither). The figures
//! were chosen so that a single start of a flow is enough in a quiet cell, and that wrong bindings are rare in a busy
//! one (`sim/tests/matching`).
//!
//! A binding goes on through silence and constant rates, which say nothing. It ends when the recent evidence (of about six
//! seconds, never above 1) falls to −6, when another UE fits better by 4, when a second address fits the same UE as well, or
//! when flow or UE are gone.

mod clock;
mod curve;
mod dither;
mod evidence;
mod matcher;
mod series;

pub use clock::ClockMap;
pub use dither::{DITHER_STEP, dither};
pub use matcher::{Change, FlowKey, Match, Matcher, UeKey};
