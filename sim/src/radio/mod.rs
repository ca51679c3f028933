//! What the physical layer fixes: numerology and TDD pattern, MCS and CQI tables, transport block sizes.

pub mod mcs;
pub mod numerology;
pub mod tbs;
