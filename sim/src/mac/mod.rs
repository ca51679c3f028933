//! What the MAC layer decides every slot: link adaptation, who gets which PRBs, and HARQ.

pub mod harq;
pub mod link;
pub mod scheduler;
