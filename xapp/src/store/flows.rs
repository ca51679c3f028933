//! The last decision of each flow, for a limited number of flows.

use crate::cell::DecisionRecord;
use crate::guidance::FlowKey;
use policies::decision_log::LoggedDecision;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Beyond `max` flows, those decided longest ago are forgotten.
#[derive(Debug)]
pub(super) struct Flows {
    max: usize,
    last: HashMap<FlowKey, Last>,
    /// Of earlier processes, as long as this one has decided nothing for the flow.
    found: HashMap<FlowKey, Arc<LoggedDecision>>,
    /// Flows whose last decision is not written yet, each once; `None`: there is no backend.
    waiting: Option<VecDeque<FlowKey>>,
}

#[derive(Debug)]
struct Last {
    decision: Arc<DecisionRecord>,
    waits: bool,
}

impl Flows {
    pub(super) fn new(max: usize, backend: bool) -> Self {
        Self {
            max,
            last: HashMap::new(),
            found: HashMap::new(),
            waiting: backend.then(VecDeque::new),
        }
    }

    pub(super) fn decided(&mut self, decision: Arc<DecisionRecord>) {
        let key = decision.flow.clone();
        if !self.found.is_empty() {
            self.found.remove(&key);
        }
        let waits = self.waiting.is_some();
        let before = self.last.insert(key.clone(), Last { decision, waits });
        if let Some(waiting) = &mut self.waiting
            && !before.is_some_and(|before| before.waits)
        {
            waiting.push_back(key);
        }
        if self.last.len() > self.max {
            self.forget_oldest();
        }
    }

    pub(super) fn last(&self, flow: &FlowKey) -> Option<Arc<DecisionRecord>> {
        Some(self.last.get(flow)?.decision.clone())
    }

    /// What an earlier process decided last for a flow for which this one has decided nothing.
    pub(super) fn found(&self, flow: &FlowKey) -> Option<Arc<LoggedDecision>> {
        self.found.get(flow).cloned()
    }

    /// Decisions of earlier processes.
    pub(super) fn find(&mut self, decisions: Vec<LoggedDecision>) {
        for decision in decisions {
            let key = FlowKey {
                edge: decision.edge.as_str().into(),
                flow: decision.flow.as_str().into(),
            };
            if self.found.len() < self.max && !self.last.contains_key(&key) {
                self.found.insert(key, Arc::new(decision));
            }
        }
    }

    /// Takes decisions to write, up to `max`.
    pub(super) fn take(&mut self, max: usize) -> Vec<Arc<DecisionRecord>> {
        let Some(waiting) = &mut self.waiting else {
            return Vec::new();
        };
        let mut taken = Vec::new();
        while taken.len() < max
            && let Some(key) = waiting.pop_front()
        {
            if let Some(last) = self.last.get_mut(&key) {
                last.waits = false;
                taken.push(last.decision.clone());
            }
        }
        taken
    }

    /// The backend is back, and what it has is uncertain: all is written again.
    pub(super) fn back(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.clear();
            waiting.extend(self.last.keys().cloned());
            self.last.values_mut().for_each(|last| last.waits = true);
        }
    }

    /// Number of decisions that are not written yet.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.as_ref().map_or(0, VecDeque::len)
    }

    /// Leaves a tenth of the room free, so that this is not done for every new flow.
    fn forget_oldest(&mut self) {
        let time = |last: &Last| last.decision.time_us;
        let mut times: Vec<_> = self.last.values().map(time).collect();
        times.sort_unstable();
        let forget = self.last.len() - (self.max - self.max / 10);
        if let Some(&newest_forgotten) = times.get(forget - 1) {
            self.last.retain(|_, last| time(last) > newest_forgotten);
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.retain(|key| self.last.contains_key(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record::logged;
    use crate::store::tests::decision;

    #[test]
    fn memory_is_bounded_and_keeps_the_newest_flows() {
        let mut flows = Flows::new(10, true);
        for n in 1..=100 {
            flows.decided(Arc::new(decision(&n.to_string(), n)));
        }
        assert!(flows.last.len() <= 10);
        assert!(flows.waiting() <= 10);
        assert!(flows.last(&decision("100", 0).flow).is_some());
        assert!(flows.last(&decision("1", 0).flow).is_none());
    }

    #[test]
    fn only_the_newest_decision_of_a_flow_is_written() {
        let mut flows = Flows::new(10, true);
        for sequence in 1..=5 {
            flows.decided(Arc::new(decision("a", sequence)));
            flows.decided(Arc::new(decision("b", 2 * sequence)));
        }
        let sequences = |taken: Vec<Arc<DecisionRecord>>| -> Vec<u64> {
            taken.iter().map(|decision| decision.sequence).collect()
        };
        assert_eq!(sequences(flows.take(1)), [5]);
        flows.decided(Arc::new(decision("a", 6)));
        assert_eq!(sequences(flows.take(9)), [10, 6]);
        assert_eq!(flows.waiting(), 0);
        flows.back();
        flows.decided(Arc::new(decision("a", 7)));
        let mut again = sequences(flows.take(9));
        again.sort_unstable();
        assert_eq!(again, [7, 10]);
    }

    #[test]
    fn what_is_found_counts_until_the_flow_is_decided_here() {
        let mut flows = Flows::new(10, true);
        flows.decided(Arc::new(decision("here", 5)));
        flows.find(vec![
            logged(&decision("here", 1)),
            logged(&decision("there", 2)),
        ]);
        let key = |flow| decision(flow, 0).flow;
        assert!(flows.found(&key("here")).is_none());
        assert_eq!(flows.found(&key("there")).unwrap().sequence, 2);
        flows.decided(Arc::new(decision("there", 3)));
        assert!(flows.found(&key("there")).is_none());
    }
}
