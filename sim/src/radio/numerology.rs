//! Slots, frames and the TDD pattern (TS 38.211 clause 4.3).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// OFDM symbols of a slot with normal cyclic prefix.
pub const SYMBOLS_PER_SLOT: u8 = 14;

/// Subcarrier spacing 15 · 2^µ kHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numerology(u8);

impl Numerology {
    /// Numerology µ, 0 to 3 (15 to 120 kHz: those that carry data).
    pub fn new(mu: u8) -> Option<Self> {
        (mu <= 3).then_some(Self(mu))
    }

    /// Duration of one slot, 1 ms / 2^µ.
    pub fn slot_duration(self) -> Duration {
        Duration::from_micros(1000 >> self.0)
    }

    /// Slots of a 10 ms frame.
    pub fn slots_per_frame(self) -> u64 {
        10 << self.0
    }

    /// Slots of one second.
    pub fn slots_per_second(self) -> u64 {
        1000 << self.0
    }

    /// System frame number (0 to 1023) and slot within the frame.
    pub fn frame_and_slot(self, slot: u64) -> (u16, u16) {
        let per_frame = self.slots_per_frame();
        ((slot / per_frame % 1024) as u16, (slot % per_frame) as u16)
    }
}

/// Kind of a slot in the TDD pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotKind {
    Downlink,
    Special,
    Uplink,
}

/// A periodic TDD pattern such as `DDDSU`; `D` alone is FDD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TddPattern(Vec<SlotKind>);

impl TddPattern {
    /// Downlink symbols of a slot, when special slots have `special` of them.
    pub fn downlink_symbols(&self, slot: u64, special: u8) -> u8 {
        match self.0[(slot % self.0.len() as u64) as usize] {
            SlotKind::Downlink => SYMBOLS_PER_SLOT,
            SlotKind::Special => special,
            SlotKind::Uplink => 0,
        }
    }

    /// The slot can carry uplink control: an uplink slot, or the end of a special slot.
    pub fn has_uplink(&self, slot: u64) -> bool {
        self.0[(slot % self.0.len() as u64) as usize] != SlotKind::Downlink
    }

    /// The slot belongs to the uplink.
    pub fn is_uplink(&self, slot: u64) -> bool {
        self.0[(slot % self.0.len() as u64) as usize] == SlotKind::Uplink
    }

    /// Slots after which the pattern repeats.
    pub fn period(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Why a text is no TDD pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("TDD pattern {0:?}: write 1 to 160 slots as letters D, S and U, at least one of them D")]
pub struct BadPattern(String);

impl FromStr for TddPattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let bad = || BadPattern(text.to_owned());
        let slots = text
            .chars()
            .map(|letter| match letter {
                'D' => Ok(SlotKind::Downlink),
                'S' => Ok(SlotKind::Special),
                'U' => Ok(SlotKind::Uplink),
                _ => Err(bad()),
            })
            .collect::<Result<Vec<_>, _>>()?;
        // 160: slots of the longest period (10 ms) at 240 kHz, TS 38.331 TDD-UL-DL-Pattern times two patterns.
        if slots.len() > 160 || !slots.contains(&SlotKind::Downlink) {
            return Err(bad());
        }
        Ok(Self(slots))
    }
}

impl fmt::Display for TddPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in &self.0 {
            f.write_str(match kind {
                SlotKind::Downlink => "D",
                SlotKind::Special => "S",
                SlotKind::Uplink => "U",
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_repeats_and_special_slots_are_short() {
        let pattern: TddPattern = "DDDSU".parse().unwrap();
        let symbols: Vec<u8> = (0..6).map(|s| pattern.downlink_symbols(s, 10)).collect();
        assert_eq!(symbols, [14, 14, 14, 10, 0, 14]);
        assert_eq!(pattern.to_string(), "DDDSU");
    }

    #[test]
    fn patterns_without_downlink_are_refused() {
        for bad in ["", "UUU", "SU", "DDX"] {
            assert!(bad.parse::<TddPattern>().is_err(), "{bad}");
        }
    }

    #[test]
    fn frame_number_wraps_after_1024_frames() {
        let numerology = Numerology::new(1).unwrap();
        assert_eq!(numerology.slot_duration(), Duration::from_micros(500));
        assert_eq!(numerology.frame_and_slot(1024 * 20 + 21), (1, 1));
    }
}
