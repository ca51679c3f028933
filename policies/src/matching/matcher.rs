//! All flows against all UEs, and what is concluded.

use super::curve::Curve;
use super::evidence::{Best, LEAD, Pair};
use super::series::Series;
use crate::report::{UeId, UeReport};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Evidence for a binding: odds of 240 to 1, of those that no other UE shares.
const ENOUGH: f32 = 5.5;
/// How much better than any other a UE or an address must fit.
const MARGIN: f32 = 4.0;
/// Recent evidence that ends a binding.
const CONTRADICTION: f32 = -6.0;
/// Evidence from which on a binding's lag is taken for that of its edge server and node.
const SURE: f32 = 15.0;
/// A flow without reports for this long cannot be checked any more, seconds.
const SILENCE: f64 = 5.0;
/// Bins before the first octets of a UE that are looked at: that nothing came before is evidence, too.
const BINS_BEFORE: u64 = 12;
/// Pairs of flows and UEs under comparison, of about a kilobyte each. Flows beyond wait.
const MAX_PAIRS: usize = 32_768;
/// A queue whose oldest packet is older than this may be full, and drop.
const OLD_QUEUE: Duration = Duration::from_millis(250);

/// A flow of an edge server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Name of the edge server.
    pub edge: Arc<str>,
    /// Name of the flow there.
    pub flow: Arc<str>,
}

impl std::fmt::Display for FlowKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.edge, self.flow)
    }
}

/// A UE of an E2 node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UeKey {
    /// Name of the node.
    pub node: Arc<str>,
    /// The UE there.
    pub ue: UeId,
}

/// A UE that an address was found to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Which UE.
    pub ue: UeKey,
    /// Probability that it is the right one, as the evidence says.
    pub confidence: f64,
    /// How much later than at the edge octets appear in the RAN's reports, seconds.
    pub lag: f64,
}

/// A conclusion.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The traffic of an address goes to this UE; or its confidence changed.
    Bound(IpAddr, Match),
    /// It is not known any more where it goes, and why.
    Unbound(IpAddr, String),
}

#[derive(Debug)]
struct Flow {
    address: IpAddr,
    curve: Curve,
    pairs: BTreeMap<UeKey, (Pair, Best)>,
}

#[derive(Debug)]
struct Bound {
    ue: UeKey,
    lag: f64,
    /// As it was told, in percent.
    percent: u8,
}

/// Compares the traffic of flows with that of UEs.
#[derive(Debug, Default)]
pub struct Matcher {
    flows: BTreeMap<FlowKey, Flow>,
    ues: BTreeMap<UeKey, Series>,
    /// UEs whose address is known by other means.
    taken: BTreeSet<UeKey>,
    bound: BTreeMap<IpAddr, Bound>,
    changes: Vec<Change>,
}

impl Matcher {
    /// A flow is to be matched.
    pub fn add_flow(&mut self, flow: FlowKey, address: IpAddr) {
        let new = Flow {
            address,
            curve: Curve::default(),
            pairs: BTreeMap::new(),
        };
        self.flows.insert(flow, new);
    }

    /// A flow is matched no more. The binding of its address ends with its last flow.
    pub fn remove_flow(&mut self, flow: &FlowKey) {
        if let Some(gone) = self.flows.remove(flow)
            && !self.flows.values().any(|f| f.address == gone.address)
        {
            self.bound.remove(&gone.address);
        }
    }

    /// Whether a flow is matched.
    pub fn has_flow(&self, flow: &FlowKey) -> bool {
        self.flows.contains_key(flow)
    }

    /// An edge server sent `octets` of a flow in the `length` before `end`. `began`: these are the first ones ever.
    pub fn sent(
        &mut self,
        flow: &FlowKey,
        end: Duration,
        length: Duration,
        octets: u64,
        began: bool,
    ) {
        let Some(flow) = self.flows.get_mut(flow) else {
            return;
        };
        let (end, length) = (end.as_secs_f64(), length.as_secs_f64());
        let begin = end - length;
        let follows =
            (flow.curve.end()).is_some_and(|last| (begin - last).abs() <= length.max(0.02));
        if !follows {
            if began {
                flow.curve.restart(begin - SILENCE);
                flow.curve.push(begin, 0.0);
            } else {
                flow.curve.restart(begin);
            }
        }
        flow.curve.push(end, octets as f64);
    }

    /// A UE was measured. `end`: of the report's window, on the clock of [`Matcher::sent`].
    pub fn arrived(&mut self, node: &Arc<str>, report: &UeReport, end: Duration) {
        let Some(octets) = report.arrived_bytes.or(report.delivered_bytes) else {
            return;
        };
        let may_drop = report.head_of_line.is_some_and(|age| age > OLD_QUEUE);
        let series = self
            .ues
            .entry(UeKey {
                node: node.clone(),
                ue: report.ue,
            })
            .or_default();
        let (end, length) = (end.as_secs_f64(), report.length.as_secs_f64());
        series.push(end, length, octets as f64, may_drop);
    }

    /// A UE is gone, or another one now.
    pub fn remove_ue(&mut self, ue: &UeKey) {
        self.remove_ues(|key| key == ue);
    }

    /// A node is gone with its UEs.
    pub fn remove_node(&mut self, node: &str) {
        self.remove_ues(|key| *key.node == *node);
    }

    /// These UEs have an address that is known by other means, and are no candidates.
    pub fn set_taken(&mut self, taken: BTreeSet<UeKey>) {
        self.taken = taken;
    }

    /// Number of UEs that are compared.
    pub fn ues(&self) -> usize {
        self.ues.len()
    }

    /// Looks at what came since the last call, and concludes.
    pub fn update(&mut self, now: Duration) -> Vec<Change> {
        self.compare();
        self.check_bound(now.as_secs_f64());
        self.bind();
        std::mem::take(&mut self.changes)
    }

    fn remove_ues(&mut self, gone: impl Fn(&UeKey) -> bool) {
        self.ues.retain(|key, _| !gone(key));
        for flow in self.flows.values_mut() {
            flow.pairs.retain(|key, _| !gone(key));
        }
        let lost: Vec<IpAddr> = self
            .bound
            .iter()
            .filter(|(_, bound)| gone(&bound.ue))
            .map(|(address, _)| *address)
            .collect();
        for address in lost {
            self.unbind(address, "its UE is gone".into());
        }
    }

    /// Feeds every pair with the bins that both sides are known for.
    fn compare(&mut self) {
        let lags = self.known_lags();
        let mut pairs: usize = self.flows.values().map(|flow| flow.pairs.len()).sum();
        for (key, flow) in &mut self.flows {
            let Some(end) = flow.curve.end() else {
                continue;
            };
            for (ue, series) in &self.ues {
                if self.taken.contains(ue) {
                    flow.pairs.remove(ue);
                    continue;
                }
                let known = lags.get(&(key.edge.clone(), ue.node.clone())).copied();
                let (pair, best) = match flow.pairs.get_mut(ue) {
                    Some(pair) => pair,
                    None if series.recent_octets() > 0.0 && pairs < MAX_PAIRS => {
                        pairs += 1;
                        let pair = Pair::new(series.next().saturating_sub(BINS_BEFORE));
                        let best = pair.best(known);
                        flow.pairs.entry(ue.clone()).or_insert((pair, best))
                    }
                    None => continue,
                };
                let mut seen = false;
                loop {
                    match series.get(pair.next) {
                        Err(first) => pair.next = first,
                        Ok(Some(bin)) if bin.to + LEAD <= end => {
                            pair.observe(&flow.curve, bin);
                            pair.next += 1;
                            seen = true;
                        }
                        Ok(_) => break,
                    }
                }
                if seen {
                    *best = pair.best(known);
                }
            }
        }
    }

    /// The usual lag between an edge server and a node, from the bindings that are beyond doubt.
    fn known_lags(&self) -> BTreeMap<(Arc<str>, Arc<str>), f64> {
        let mut lags: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for (key, flow) in &self.flows {
            if let Some(bound) = self.bound.get(&flow.address)
                && let Some((_, best)) = flow.pairs.get(&bound.ue)
                && best.sum >= SURE
            {
                let of_node = lags.entry((key.edge.clone(), bound.ue.node.clone()));
                of_node.or_default().push(bound.lag);
            }
        }
        lags.into_iter()
            .map(|(key, mut lags)| {
                lags.sort_by(f64::total_cmp);
                (key, lags[lags.len() / 2])
            })
            .collect()
    }

    /// Ends the bindings that fit no more.
    fn check_bound(&mut self, now: f64) {
        let mut ended = Vec::new();
        for (address, bound) in &mut self.bound {
            let flows = || self.flows.values().filter(|flow| flow.address == *address);
            let heard = flows().filter_map(|flow| flow.curve.end());
            if heard.fold(f64::MIN, f64::max) < now - SILENCE {
                ended.push((
                    *address,
                    "its edge server does not report what it sends".into(),
                ));
                continue;
            }
            for flow in flows() {
                let Some((pair, own)) = flow.pairs.get(&bound.ue) else {
                    continue;
                };
                if pair.recent(bound.lag) <= CONTRADICTION {
                    ended.push((
                        *address,
                        format!("its traffic is not that of {} any more", bound.ue.ue),
                    ));
                    break;
                }
                let better = flow.pairs.iter().find(|(ue, (_, best))| {
                    **ue != bound.ue && best.sum >= ENOUGH && best.sum >= own.sum + MARGIN
                });
                if let Some((better, _)) = better {
                    ended.push((
                        *address,
                        format!("its traffic fits {} better than {}", better.ue, bound.ue.ue),
                    ));
                    break;
                }
                let percent = percent(own.sum, self.ues.len());
                if percent > bound.percent {
                    (bound.percent, bound.lag) = (percent, own.lag);
                    self.changes.push(Change::Bound(*address, bound.found()));
                }
            }
        }
        for (address, why) in ended {
            self.unbind(address, why);
        }
    }

    /// Binds what fits one UE, and that one alone.
    fn bind(&mut self) {
        let mut claims: BTreeMap<UeKey, Vec<(IpAddr, Best)>> = BTreeMap::new();
        for flow in self.flows.values() {
            if self.bound.contains_key(&flow.address) {
                continue;
            }
            if let Some((ue, best)) = clear_winner(&flow.pairs) {
                claims
                    .entry(ue.clone())
                    .or_default()
                    .push((flow.address, best));
            }
        }
        for (ue, mut claims) in claims {
            claims.sort_by(|a, b| b.1.sum.total_cmp(&a.1.sum));
            let (address, best) = claims[0];
            let rival = claims.iter().find(|(other, _)| same_kind(*other, address));
            if rival.is_some_and(|(_, rival)| rival.sum > best.sum - MARGIN) {
                continue;
            }
            if let Some((holder, held)) = self.holder(&ue, address) {
                if best.sum > held - MARGIN {
                    self.unbind(
                        holder,
                        format!("the traffic of {address} fits its UE as well"),
                    );
                }
                if best.sum < held + MARGIN {
                    continue;
                }
            }
            let bound = Bound {
                ue,
                lag: best.lag,
                percent: percent(best.sum, self.ues.len()),
            };
            self.changes.push(Change::Bound(address, bound.found()));
            self.bound.insert(address, bound);
        }
    }

    /// Who is bound to a UE, other than `address` and those of the other IP version; and its evidence.
    fn holder(&self, ue: &UeKey, address: IpAddr) -> Option<(IpAddr, f32)> {
        let mut bound = self.bound.iter();
        let (holder, _) = bound.find(|(other, b)| b.ue == *ue && same_kind(**other, address))?;
        let flows = self.flows.values().filter(|flow| flow.address == *holder);
        let sums = flows.filter_map(|flow| Some(flow.pairs.get(ue)?.1.sum));
        Some((*holder, sums.fold(f32::MIN, f32::max)))
    }

    fn unbind(&mut self, address: IpAddr, why: String) {
        let Some(bound) = self.bound.remove(&address) else {
            return;
        };
        for flow in self
            .flows
            .values_mut()
            .filter(|flow| flow.address == address)
        {
            if let Some(series) = self.ues.get(&bound.ue) {
                // What spoke for it has proved nothing.
                let pair = Pair::new(series.next());
                let best = pair.best(None);
                flow.pairs.insert(bound.ue.clone(), (pair, best));
            }
        }
        self.changes.push(Change::Unbound(address, why));
    }
}

impl Bound {
    fn found(&self) -> Match {
        Match {
            ue: self.ue.clone(),
            confidence: f64::from(self.percent) / 100.0,
            lag: self.lag,
        }
    }
}

/// Another address of the same IP version: a UE has one of each.
fn same_kind(other: IpAddr, address: IpAddr) -> bool {
    other != address && other.is_ipv4() == address.is_ipv4()
}

/// The UE that fits, if no other fits nearly as well.
fn clear_winner(pairs: &BTreeMap<UeKey, (Pair, Best)>) -> Option<(&UeKey, Best)> {
    let mut first: Option<(&UeKey, Best)> = None;
    let mut second = f32::MIN;
    for (ue, (_, best)) in pairs {
        match &first {
            Some((_, top)) if best.sum <= top.sum => second = second.max(best.sum),
            _ => {
                second = second.max(first.map_or(f32::MIN, |(_, top)| top.sum));
                first = Some((ue, *best));
            }
        }
    }
    first.filter(|(_, best)| {
        best.sum >= ENOUGH && best.sum >= second + MARGIN && best.recent > CONTRADICTION / 2.0
    })
}

/// Probability that a UE with this evidence is the right one of so many, in percent.
fn percent(sum: f32, ues: usize) -> u8 {
    let odds = f64::from(sum).exp() / ues.max(1) as f64;
    (100.0 * odds / (1.0 + odds)) as u8
}
