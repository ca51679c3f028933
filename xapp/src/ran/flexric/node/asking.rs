//! What is asked of a node: each request on its association, in Cantor's turn, and only while the node is there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use e2sm::e2ap::{Pdu, RicRequestId, RicSubscriptionDeleteResponse, RicSubscriptionResponse};
use e2sm::e42::{E42SubscriptionDeleteRequest, E42SubscriptionRequest};

use super::super::Ric;
use super::super::association::{Asked, Lost};
use super::super::rules;
use super::{ASK_AGAIN, Served, node_id, take};
use crate::ran::plan::Wanted;

/// Cantor's turn at the RIC.
type Turn<'a> = tokio::sync::MutexGuard<'a, ()>;

/// Spare subscriptions for an agent that is behind: each has it read two messages.
const MOST_SPARES: usize = 8;

impl Served {
    /// Has an agent read on that is behind.
    ///
    /// It reads one message per wake-up. When an xApp dies the RIC deletes all that it had subscribed to at once: of
    /// these deletions all but the first stay unread, and from then on every request waits for as many others to come
    /// after it. So subscriptions that nobody needs are sent after Cantor's, and their deletions: of these the last
    /// ones may stay unread.
    pub(super) async fn push_spares(&mut self) -> Result<(), Lost> {
        let ric = Arc::clone(&self.ric);
        let Some(spare) = self.planned.iter().find_map(rules::spare) else {
            return Ok(());
        };
        for _ in 0..MOST_SPARES {
            if !self.ledger.awaits_answers() {
                break;
            }
            let Some(turn) = self.turn_while_there(&ric).await? else {
                return Ok(());
            };
            let request = ric.next_request(self.xapp_id_for(spare.function));
            tracing::debug!(node = %node_id(&self.node), ?request, "the agent is behind: a spare subscription");
            if self.ask_for(turn, request, &spare).await? == Asked::Unread {
                return Ok(());
            }
            let Some(turn) = self.turn_while_there(&ric).await? else {
                return Ok(());
            };
            let overdue = ric.config.timing.overdue;
            self.ask_to_delete(turn, request, spare.function, overdue)
                .await?;
            self.tell().await;
        }
        Ok(())
    }

    /// Cantor's turn at the RIC, with the node known to be there. `None`: there is no knowing now.
    pub(super) async fn turn_while_there<'a>(
        &mut self,
        ric: &'a Ric,
    ) -> Result<Option<Turn<'a>>, Lost> {
        for _ in 0..3 {
            let turn = ric.turn.lock().await;
            if rules::node_is_there(self.ledger.proved(), Instant::now()) {
                return Ok(Some(turn));
            }
            drop(turn);
            if !self.look().await? {
                break;
            }
        }
        self.ask_at = Some(Instant::now() + ASK_AGAIN);
        Ok(None)
    }

    pub(super) async fn ask_for(
        &mut self,
        turn: Turn<'_>,
        request: RicRequestId,
        wanted: &Wanted,
    ) -> Result<Asked<()>, Lost> {
        let pdu = Pdu::E42SubscriptionRequest(E42SubscriptionRequest {
            xapp_id: self.xapp_id_for(wanted.function),
            node: self.node.clone(),
            request,
            ran_function: wanted.function,
            details: rules::one_action(wanted),
        });
        let is_answer = |pdu: &Pdu| match pdu {
            Pdu::RicSubscriptionResponse(RicSubscriptionResponse {
                request: of,
                ran_function,
                ..
            }) => (*of == request && *ran_function == wanted.function).then_some(()),
            _ => None,
        };
        let overdue = self.ric.config.timing.overdue;
        self.ask(wanted.function, turn, &pdu, is_answer, overdue)
            .await
    }

    pub(super) async fn ask_to_delete(
        &mut self,
        turn: Turn<'_>,
        request: RicRequestId,
        ran_function: u16,
        overdue: Duration,
    ) -> Result<Asked<()>, Lost> {
        let pdu = Pdu::E42SubscriptionDeleteRequest(E42SubscriptionDeleteRequest {
            xapp_id: self.xapp_id_for(ran_function),
            request,
            ran_function,
        });
        let is_answer = |pdu: &Pdu| match pdu {
            Pdu::RicSubscriptionDeleteResponse(RicSubscriptionDeleteResponse {
                request: of,
                ..
            }) => (*of == request).then_some(()),
            _ => None,
        };
        self.ask(ran_function, turn, &pdu, is_answer, overdue).await
    }

    /// Asks on the association of a RAN function.
    async fn ask<T>(
        &mut self,
        function: u16,
        turn: Turn<'_>,
        pdu: &Pdu,
        answer: impl Fn(&Pdu) -> Option<T>,
        overdue: Duration,
    ) -> Result<Asked<T>, Lost> {
        let on = self.association_for(function);
        let Served {
            associations,
            ledger,
            ric,
            outlet,
            close,
            ..
        } = self;
        let mut aside = |pdu, now| take(ledger, ric, *outlet, close, pdu, now);
        associations
            .ask(on, turn, pdu, answer, overdue, &mut aside)
            .await
    }

    fn association_for(&self, function: u16) -> usize {
        let of = |wanted: &Wanted| wanted.function == function;
        self.planned.iter().position(of).unwrap_or(0)
    }

    pub(super) fn xapp_id_for(&self, function: u16) -> u16 {
        self.xapp_ids[self.association_for(function)]
    }
}
