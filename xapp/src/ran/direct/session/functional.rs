//! Subscriptions and indications (E2AP 8.2).

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use e2sm::e2ap::{
    Cause, Pdu, RicAction, RicActionType, RicIndication, RicRequestCause, RicRequestId,
    RicSubscriptionDeleteRequired, RicSubscriptionDetails, RicSubscriptionFailure,
    RicSubscriptionRequest, RicSubscriptionResponse,
};

use super::subscriptions::ACTION_ID;
use super::{Phase, Session};
use crate::ran::RanEvent;
use crate::ran::plan::Wanted;

impl Session {
    pub(super) fn subscribe(&mut self, request: RicRequestId, wanted: Wanted, now: Instant) {
        let pdu = Pdu::RicSubscriptionRequest(RicSubscriptionRequest {
            request,
            ran_function: wanted.function,
            details: RicSubscriptionDetails {
                event_trigger: wanted.trigger,
                actions: vec![RicAction {
                    id: ACTION_ID,
                    kind: RicActionType::Report,
                    definition: wanted.action_definition,
                    subsequent: None,
                }],
            },
        });
        if !self.send(&pdu) {
            self.subscriptions
                .refused(request, "the request cannot be encoded", now);
        }
    }

    pub(super) fn subscribed(&mut self, response: RicSubscriptionResponse, now: Instant) {
        let admitted = response
            .admitted
            .iter()
            .any(|action| action.id == ACTION_ID);
        let refusal = (!admitted).then(|| {
            let refused = response
                .not_admitted
                .iter()
                .flatten()
                .find(|action| action.id == ACTION_ID);
            refused.map_or_else(
                || "the action was not admitted".to_owned(),
                |action| action.cause.to_string(),
            )
        });
        if refusal.is_some() {
            self.counters.subscriptions_refused.fetch_add(1, Relaxed);
        }
        self.subscriptions.responded(
            response.request,
            response.ran_function,
            refusal.as_deref(),
            now,
        );
    }

    pub(super) fn subscription_failed(&mut self, failure: RicSubscriptionFailure, now: Instant) {
        self.counters.subscriptions_refused.fetch_add(1, Relaxed);
        let ours = self
            .subscriptions
            .refused(failure.request, &failure.cause.to_string(), now);
        // The node has other functions than it told.
        if ours && failure.cause == Cause::RicRequest(RicRequestCause::RanFunctionIdInvalid) {
            self.query_services();
        }
    }

    pub(super) fn deletion_required(
        &mut self,
        required: RicSubscriptionDeleteRequired,
        now: Instant,
    ) {
        for subscription in required.subscriptions {
            self.counters.subscriptions_refused.fetch_add(1, Relaxed);
            // E2AP 8.2.6: it still exists; the near-RT RIC deletes it.
            self.subscriptions.ended_by_node(
                subscription.request,
                &subscription.cause.to_string(),
                now,
            );
            self.subscriptions
                .delete_stray(subscription.request, subscription.ran_function);
        }
    }

    pub(super) fn indicated(&mut self, indication: RicIndication, now: Instant) {
        let RicIndication {
            request,
            ran_function,
            action,
            header,
            message,
            ..
        } = indication;
        match (
            &self.node,
            self.subscriptions.reporting(request, ran_function, action),
        ) {
            (Some(node), Some(model)) => {
                self.counters.indications.fetch_add(1, Relaxed);
                self.foreign = 0;
                self.subscriptions.reported(now);
                self.events.push_back(RanEvent::Indication {
                    node: node.id.clone(),
                    model,
                    header,
                    message,
                    received: now,
                });
            }
            (Some(_), None) => {
                self.counters.indications_foreign.fetch_add(1, Relaxed);
                // FlexRIC's agent goes on with the subscriptions of a former RIC.
                if self.phase == Phase::Up {
                    self.subscriptions.delete_stray(request, ran_function);
                    self.foreign = self.foreign.saturating_add(1);
                    self.reset_if_confused(now);
                }
            }
            (None, _) => {
                self.counters.indications_foreign.fetch_add(1, Relaxed);
                self.complain(now);
            }
        }
    }
}
