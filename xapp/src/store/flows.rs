//! The last decision of each flow, for a limited number of flows.

use crate::cell::DecisionRecord;
use crate::guidance::FlowKey;
use std::collections::HashMap;
use std::sync::Arc;

/// Beyond `max` flows, those decided longest ago are forgotten.
#[derive(Debug)]
pub(super) struct Flows {
    max: usize,
    last: HashMap<FlowKey, Arc<DecisionRecord>>,
}

impl Flows {
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            last: HashMap::new(),
        }
    }

    pub(super) fn decided(&mut self, decision: Arc<DecisionRecord>) {
        self.last.insert(decision.flow.clone(), decision);
        if self.last.len() > self.max {
            self.forget_oldest();
        }
    }

    pub(super) fn last(&self, flow: &FlowKey) -> Option<Arc<DecisionRecord>> {
        self.last.get(flow).cloned()
    }

    /// Leaves a tenth of the room free, so that this is not done for every new flow.
    fn forget_oldest(&mut self) {
        let mut times: Vec<_> = self.last.values().map(|d| d.time_us).collect();
        times.sort_unstable();
        let forget = self.last.len() - (self.max - self.max / 10);
        if let Some(&newest_forgotten) = times.get(forget - 1) {
            self.last
                .retain(|_, decision| decision.time_us > newest_forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::decision;

    #[test]
    fn memory_is_bounded_and_keeps_the_newest_flows() {
        let mut flows = Flows::new(10);
        for n in 1..=100 {
            flows.decided(Arc::new(decision(&n.to_string(), n)));
        }
        assert!(flows.last.len() <= 10);
        assert!(flows.last(&decision("100", 0).flow).is_some());
        assert!(flows.last(&decision("1", 0).flow).is_none());
    }
}
