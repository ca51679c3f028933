//! One E2 node behind the RIC: associations of its own, on which Cantor subscribes and hears the reports.
//!
//! Associations for each node, because the RIC deletes all subscriptions of an xApp when a report can no longer be
//! forwarded to it, and aborts if one of them is at a node that is gone. So when a node is gone only its own
//! associations are closed, and no report comes for it.
//!
//! And one for each subscription, because the agent reads one message per wake-up: if Cantor is killed, the RIC's
//! deletions of one association's subscriptions would come at once, and all but the first would stay unread.

mod asking;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use e2sm::e2ap::{GlobalE2NodeId, Pdu};
use e2sm::e42::E42Node;
use tokio::sync::oneshot;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use super::Ric;
use super::association::{Asked, Associations, Lost};
use super::ledger::Ledger;
use super::silence::{Silence, Step};
use crate::ran::identity::{self, Part};
use crate::ran::outlet::AssociationId;
use crate::ran::plan::{self, Wanted};
use crate::ran::{NodeId, RanEvent, RanFunction};

/// How a node is known here.
pub(super) fn node_id(node: &GlobalE2NodeId) -> NodeId {
    NodeId(node.to_string().into())
}

/// Serves a node until it, the RIC or Cantor ends. `begun` is dropped when its subscriptions were asked for.
pub(super) async fn serve(
    ric: Arc<Ric>,
    node: GlobalE2NodeId,
    begun: oneshot::Sender<()>,
    stop: CancellationToken,
) {
    let id = node_id(&node);
    let mut served = match Served::begin(&ric, node).await {
        Ok(served) => served,
        Err(Lost(reason)) => {
            tracing::info!(node = %id, reason, "E2 node cannot be served now");
            return;
        }
    };
    let reason = match served.run(begun, stop).await {
        Ok(reason) => reason,
        Err(Lost(reason)) => reason,
    };
    tracing::info!(node = %id, reason, "E2 node is down");
    served.tell().await;
    served.push(RanEvent::NodeDown { node: id, reason }).await;
    served.associations.close().await;
}

struct Served {
    ric: Arc<Ric>,
    node: GlobalE2NodeId,
    /// One for each subscription that is planned, in the same order.
    associations: Associations,
    outlet: AssociationId,
    /// Never cancelled by the outlet: a node has one task.
    close: CancellationToken,
    /// xApp ids of the associations.
    xapp_ids: Vec<u16>,
    planned: Vec<Wanted>,
    ledger: Ledger,
    silence: Silence,
    /// What is still wanted is asked for then.
    ask_at: Option<Instant>,
    renewed: Option<Instant>,
}

/// Between an unasked deletion, or a request without an answer, and the next attempt.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Between looks at the rates of reports.
const TICK: Duration = Duration::from_millis(500);
/// Doubled reports are dealt with at most this often.
const RENEW_EVERY: Duration = Duration::from_secs(120);

impl Served {
    async fn begin(ric: &Arc<Ric>, node: GlobalE2NodeId) -> Result<Served, Lost> {
        let mut associations = Associations::connect(ric).await?;
        let Some(response) = associations.set_up(0, &mut |_, _| {}).await? else {
            return Err(no_answer());
        };
        let Some(listed) = response.nodes.into_iter().rfind(|n| n.node == node) else {
            associations.close().await;
            return Err(gone());
        };
        let (functions, planned) = offered(listed, ric);
        let mut xapp_ids = vec![response.xapp_id];
        for on in 1..planned.len() {
            associations.connect_another().await?;
            let response = associations.set_up(on, &mut |_, _| {}).await?;
            let response = response.ok_or_else(no_answer)?;
            if !response.nodes.iter().any(|listed| listed.node == node) {
                return Err(gone());
            }
            xapp_ids.push(response.xapp_id);
        }
        let now = Instant::now();
        let id = node_id(&node);
        tracing::info!(node = %id, ?xapp_ids, functions = functions.len(), "E2 node is up");
        let served = Served {
            ric: Arc::clone(ric),
            outlet: ric.next_association(),
            close: CancellationToken::new(),
            xapp_ids,
            ledger: Ledger::new(id.clone(), planned.clone(), Arc::clone(&ric.counters), now),
            silence: Silence::new(ric.silence(), now),
            ask_at: Some(now),
            renewed: None,
            node,
            associations,
            planned,
        };
        served
            .push(RanEvent::NodeUp {
                node: id,
                peer: ric.config.ric.to_string(),
                e2ap_version: ric.config.version.as_str(),
                functions,
            })
            .await;
        Ok(served)
    }

    /// `Ok` is an end that Cantor wanted.
    async fn run(
        &mut self,
        begun: oneshot::Sender<()>,
        stop: CancellationToken,
    ) -> Result<String, Lost> {
        self.subscribe().await?;
        drop(begun);
        let mut tick = tokio::time::interval(TICK.min(self.ric.silence()));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.tell().await;
            tokio::select! {
                pdu = self.associations.next() => {
                    let pdu = pdu?;
                    take(&mut self.ledger, &self.ric, self.outlet, &self.close, pdu, Instant::now());
                }
                _ = tick.tick() => self.look_after().await?,
                () = sleep_until(self.ask_at.unwrap_or_else(far).into()) => self.subscribe().await?,
                () = stop.cancelled() => {
                    self.delete_all("Cantor stops", Duration::ZERO).await?;
                    return Ok("Cantor stops".into());
                }
            }
            if self.ask_at.is_none() && self.ledger.next_wanted().is_some() {
                self.ask_at = Some(Instant::now() + ASK_AGAIN);
            }
        }
    }

    /// Asks for everything that is wanted, one after the other.
    async fn subscribe(&mut self) -> Result<(), Lost> {
        let ric = Arc::clone(&self.ric);
        // The RIC numbers subscriptions as they come. All of a node's in one go and in the order configured, so that
        // after its restart a number means the same RAN function again: it aborts when it does not.
        let _batch = ric.batch.lock().await;
        self.ask_at = None;
        while let Some(wanted) = self.ledger.next_wanted().cloned() {
            let Some(turn) = self.turn_while_there(&ric).await? else {
                return Ok(());
            };
            let function = wanted.function;
            let request = ric.next_request(self.xapp_id_for(function));
            self.ledger.asked(function, request);
            match self.ask_for(turn, request, &wanted).await? {
                Asked::Answered(()) => self.ledger.answered(function, request, Instant::now()),
                // The agent is behind with reading: it will come to it.
                Asked::Overdue => self.ledger.unanswered(function, request),
                Asked::Unread => {
                    // Perhaps the node is gone: what reports nothing is looked after.
                    self.ledger.unanswered(function, request);
                    return Ok(());
                }
            }
            self.tell().await;
        }
        self.push_spares().await
    }

    /// Deletes everything that the RIC knows of, as long as the node is there and answers.
    ///
    /// `overdue`: for so long the node's answers are waited for when the RIC has read a deletion.
    async fn delete_all(&mut self, why: &str, overdue: Duration) -> Result<(), Lost> {
        let ric = Arc::clone(&self.ric);
        let _batch = ric.batch.lock().await;
        while let Some((request, function)) = self.ledger.next_known() {
            let Some(turn) = self.turn_while_there(&ric).await? else {
                return Ok(());
            };
            self.ledger.deleting(request, why);
            match self.ask_to_delete(turn, request, function, overdue).await? {
                Asked::Answered(()) => self.ledger.listed(Instant::now()),
                Asked::Overdue => {}
                Asked::Unread => return Ok(()),
            }
        }
        Ok(())
    }

    /// Looks at silence and at doubled reports.
    async fn look_after(&mut self) -> Result<(), Lost> {
        let now = Instant::now();
        match self.silence.step(self.ledger.reported(), now) {
            Step::None => {}
            Step::Look => {
                self.look().await?;
            }
            Step::Renew => self.renew("nothing was reported").await?,
        }
        let lately = |at| now.saturating_duration_since(at) < RENEW_EVERY;
        if self.ledger.doubled(now) && !self.renewed.is_some_and(lately) {
            self.renewed = Some(now);
            self.renew("reports of a former subscription come along")
                .await?;
        }
        Ok(())
    }

    /// New subscriptions in place of the present ones.
    async fn renew(&mut self, why: &str) -> Result<(), Lost> {
        if !self.look().await? {
            return Ok(());
        }
        tracing::info!(node = %node_id(&self.node), why, "subscriptions are renewed");
        self.delete_all(why, self.ric.config.timing.overdue).await?;
        self.subscribe().await
    }

    /// Asks the RIC whether the node is connected. False: there is no knowing now.
    async fn look(&mut self) -> Result<bool, Lost> {
        let Served {
            associations,
            ledger,
            ric,
            outlet,
            close,
            ..
        } = self;
        let mut aside = |pdu, now| take(ledger, ric, *outlet, close, pdu, now);
        let Some(response) = associations.set_up(0, &mut aside).await? else {
            return Ok(false);
        };
        let now = Instant::now();
        let Some(listed) = response.nodes.into_iter().rfind(|n| n.node == self.node) else {
            return Err(gone());
        };
        if offered(listed, &self.ric).1 != self.planned {
            return Err(Lost("it came back with other functions".into()));
        }
        self.ledger.listed(now);
        Ok(true)
    }

    async fn tell(&mut self) {
        while let Some(status) = self.ledger.next_status() {
            let node = node_id(&self.node);
            self.push(RanEvent::Subscription { node, status }).await;
        }
    }

    async fn push(&self, event: RanEvent) {
        self.ric.outlet.push(self.outlet, &self.close, event).await;
    }
}

/// Takes what was not waited for.
fn take(
    ledger: &mut Ledger,
    ric: &Ric,
    outlet: AssociationId,
    close: &CancellationToken,
    pdu: Pdu,
    now: Instant,
) {
    if let Some(event) = ledger.take(pdu, now) {
        ric.reported(now);
        ric.outlet.push_indication(outlet, close, event);
    }
}

/// What a node offers, and what Cantor wants of it.
fn offered(node: E42Node, ric: &Ric) -> (Vec<RanFunction>, Vec<Wanted>) {
    let part = Part::of(&node.node, &node.components);
    let functions: BTreeMap<_, _> = node
        .functions
        .into_iter()
        .map(identity::ran_function)
        .map(|function| (function.id, function))
        .collect();
    let planned = plan::plan(part, functions.values(), &ric.config.wishes);
    (functions.into_values().collect(), planned)
}

fn gone() -> Lost {
    Lost("it is no longer connected to the RIC".into())
}

fn no_answer() -> Lost {
    Lost("no answer to the E42 setup".into())
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}
