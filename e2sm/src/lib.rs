//! E2AP, E2SM-KPM and FlexRIC service models: octets to types and back (aligned PER).
//!
//! Everything here is a pure function of its input: no I/O, no clock, no global state. Decoders take octets
//! from outside, so they never panic, never allocate more than a small multiple of what they were given, and
//! step over what they do not know while counting it in [`aper::Notes`].

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod aper;
pub mod common;
pub mod e2ap;
pub mod e42;
pub mod flexric;
pub mod kpm;
