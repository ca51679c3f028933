//! Downlink HARQ of one UE (TS 38.321 clause 5.3.2): stop-and-wait processes, asynchronous retransmissions.

use crate::rlc::Payload;

/// Transmissions of one transport block: the first and at most three retransmissions.
pub const MAX_TRANSMISSIONS: u8 = 4;

/// A transport block as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it carries.
    pub payload: Payload,
    /// PRBs it takes.
    pub prbs: u16,
    /// Data symbols it takes: a retransmission needs the same.
    pub symbols: u8,
    /// MCS index.
    pub mcs: u8,
    /// Size, octets.
    pub octets: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// Free for new data from this slot on.
    Free { from: u64 },
    /// Failed: to be sent again at this slot or later, for the `round`-th time (0 is the first transmission).
    Failed { due: u64, round: u8, block: Block },
}

/// The HARQ processes of one UE.
#[derive(Clone, Debug)]
pub struct Harq {
    processes: Vec<Process>,
    failed: usize,
}

/// A retransmission that may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// Process index.
    pub process: usize,
    /// 1 to 3.
    pub round: u8,
    /// The block.
    pub block: Block,
}

impl Harq {
    /// `processes` free processes.
    pub fn new(processes: usize) -> Self {
        Self {
            processes: vec![Process::Free { from: 0 }; processes],
            failed: 0,
        }
    }

    /// A process that can take new data in slot `now`.
    pub fn free_process(&self, now: u64) -> Option<usize> {
        self.processes
            .iter()
            .position(|p| matches!(p, Process::Free { from } if *from <= now))
    }

    /// The retransmission that has been due longest and fits into `prbs` PRBs of `symbols` symbols.
    pub fn due(&self, now: u64, prbs: u16, symbols: u8) -> Option<Retransmission> {
        self.due_if(now, |block| block.prbs <= prbs && block.symbols == symbols)
    }

    /// The retransmission that has been due longest and that `fits`.
    pub fn due_if(&self, now: u64, fits: impl Fn(&Block) -> bool) -> Option<Retransmission> {
        if self.failed == 0 {
            return None;
        }
        let mut longest: Option<(u64, usize)> = None;
        for (process, state) in self.processes.iter().enumerate() {
            if let Process::Failed { due, block, .. } = state
                && *due <= now
                && longest.is_none_or(|(before, _)| *due < before)
                && fits(block)
            {
                longest = Some((*due, process));
            }
        }
        let (_, process) = longest?;
        match self.processes[process] {
            Process::Failed { round, block, .. } => Some(Retransmission {
                process,
                round,
                block,
            }),
            Process::Free { .. } => None,
        }
    }

    /// Records the outcome of a transmission, after which the process may be used again from slot `next` on. True if the
    /// block has thereby failed for good.
    pub fn transmitted(
        &mut self,
        next: u64,
        process: usize,
        round: u8,
        block: Block,
        success: bool,
    ) -> bool {
        let was_failed = matches!(self.processes[process], Process::Failed { .. });
        let again = !success && round + 1 < MAX_TRANSMISSIONS;
        self.failed = self.failed + usize::from(again) - usize::from(was_failed);
        self.processes[process] = if again {
            Process::Failed {
                due: next,
                round: round + 1,
                block,
            }
        } else {
            Process::Free { from: next }
        };
        !success && !again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlc::RlcQueue;

    fn block(prbs: u16, symbols: u8) -> Block {
        let mut queue = RlcQueue::new(1000);
        queue.push(0, Some(1), 100);
        Block {
            payload: queue.pull(0, 1000).unwrap(),
            prbs,
            symbols,
            mcs: 28,
            octets: 1000,
        }
    }

    #[test]
    fn a_block_is_sent_at_most_four_times_a_round_trip_apart() {
        let mut harq = Harq::new(16);
        let mut now = 0;
        assert!(!harq.transmitted(now + 8, 0, 0, block(20, 13), false));
        for round in 1..=3 {
            assert_eq!(harq.due(now + 7, 106, 13), None);
            now += 8;
            let retransmission = harq.due(now, 106, 13).unwrap();
            assert_eq!(retransmission.round, round);
            let failed = harq.transmitted(now + 8, 0, round, retransmission.block, false);
            assert_eq!(failed, round == 3);
        }
        assert_eq!(harq.due(now + 100, 106, 13), None);
    }

    #[test]
    fn a_retransmission_needs_the_room_of_the_first_transmission() {
        let mut harq = Harq::new(16);
        harq.transmitted(8, 3, 0, block(50, 13), false);
        assert_eq!(harq.due(8, 49, 13), None);
        assert_eq!(harq.due(8, 106, 9), None, "a special slot is too short");
        assert_eq!(harq.due(8, 50, 13).unwrap().process, 3);
    }

    #[test]
    fn a_process_is_busy_until_its_next_slot() {
        let mut harq = Harq::new(1);
        harq.transmitted(13, 0, 0, block(1, 13), true);
        assert_eq!(harq.free_process(12), None);
        assert_eq!(harq.free_process(13), Some(0));
    }
}
