//! What the MAC layer decides every slot: link adaptation, who gets which PRBs, and HARQ.

pub mod behaviour;
pub mod feedback;
pub mod harq;
pub mod link;
pub mod radio_link;
pub mod scheduler;
pub mod uplink;
