//! Subscriptions of the RIC, and the indications that they cause.

use super::functions::Function;
use super::{kpm, records};
use crate::cell::Cell;
use e2sm::e2ap::{
    AdmittedAction, Cause, NotAdmittedAction, Pdu, RicAction, RicActionType, RicIndication,
    RicIndicationType, RicRequestCause, RicRequestId, RicSubscriptionFailure,
    RicSubscriptionRequest, RicSubscriptionResponse,
};
use e2sm::flexric::{EventTrigger, INDICATION_HEADER, Stats};
use std::time::Duration;

/// Longest report period, ms: what FlexRIC's agent bears.
const MAX_PERIOD_MS: u32 = 10_000;

/// A subscription.
#[derive(Debug)]
pub(super) struct Subscription {
    request: RicRequestId,
    function: u16,
    period: Duration,
    next: Duration,
    actions: Vec<(u8, Content)>,
}

/// What an action reports.
#[derive(Debug)]
enum Content {
    Mac,
    Rlc,
    Kpm(kpm::Report),
}

/// Treats a request: the subscription, if at least one of its actions is admitted, and the answer.
pub(super) fn open(
    request: &RicSubscriptionRequest,
    functions: &[Function],
    room: bool,
    now: Duration,
    cell: &Cell,
) -> (Option<Subscription>, Pdu) {
    let refuse = |cause| {
        let failure = RicSubscriptionFailure {
            request: request.request,
            ran_function: request.ran_function,
            cause: Cause::RicRequest(cause),
            diagnostics: None,
        };
        (None, Pdu::RicSubscriptionFailure(failure))
    };
    if !room {
        return refuse(RicRequestCause::FunctionResourceLimit);
    }
    let Some(function) = functions.iter().find(|f| f.id() == request.ran_function) else {
        return refuse(RicRequestCause::RanFunctionIdInvalid);
    };
    let Some(period) = period(function, &request.details.event_trigger) else {
        return refuse(RicRequestCause::Unspecified);
    };
    let (mut admitted, mut not_admitted, mut actions) = (Vec::new(), Vec::new(), Vec::new());
    for action in &request.details.actions {
        let id = action.id;
        let refused = if actions.iter().any(|&(known, _)| known == id) {
            RicRequestCause::DuplicateAction
        } else if let Some(content) = content(function, action, cell) {
            admitted.push(AdmittedAction { id });
            actions.push((id, content));
            continue;
        } else {
            RicRequestCause::ActionNotSupported
        };
        not_admitted.push(NotAdmittedAction {
            id,
            cause: Cause::RicRequest(refused),
        });
    }
    if admitted.is_empty() {
        return refuse(RicRequestCause::ActionNotSupported);
    }
    let (id, function) = (request.request, request.ran_function);
    tracing::info!(?id, function, ?period, "subscribed");
    let subscription = Subscription {
        request: id,
        function,
        period,
        next: now + period,
        actions,
    };
    let response = RicSubscriptionResponse {
        request: id,
        ran_function: function,
        admitted,
        not_admitted: Some(not_admitted),
    };
    (Some(subscription), Pdu::RicSubscriptionResponse(response))
}

/// The report period that an event trigger asks for, if the node bears it.
fn period(function: &Function, trigger: &[u8]) -> Option<Duration> {
    let period_ms = match function {
        Function::Kpm { .. } => {
            let (trigger, _) = e2sm::kpm::EventTrigger::decode(trigger).ok()?;
            trigger.period_ms
        }
        Function::Mac | Function::Rlc => EventTrigger::decode(trigger).ok()?.period_ms,
    };
    let borne = (1..=MAX_PERIOD_MS).contains(&period_ms);
    borne.then(|| Duration::from_millis(u64::from(period_ms)))
}

fn content(function: &Function, action: &RicAction, cell: &Cell) -> Option<Content> {
    if action.kind != RicActionType::Report {
        return None;
    }
    match function {
        Function::Mac => Some(Content::Mac),
        Function::Rlc => Some(Content::Rlc),
        Function::Kpm { dialect, plmn } => {
            let definition = action.definition.as_deref().unwrap_or_default();
            match kpm::Report::new(definition, *dialect, *plmn, cell) {
                Ok(report) => Some(Content::Kpm(report)),
                Err(error) => {
                    tracing::warn!(action = action.id, %error, "KPM action not admitted");
                    None
                }
            }
        }
    }
}

impl Subscription {
    /// Whether this is the subscription of that request.
    pub(super) fn is(&self, request: RicRequestId, function: u16) -> bool {
        self.request == request && self.function == function
    }

    /// Adds the indications that are due.
    pub(super) fn poll(
        &mut self,
        now: Duration,
        unix_us: i64,
        cell: &Cell,
        indications: &mut Vec<RicIndication>,
    ) {
        if now < self.next {
            return;
        }
        // Periods that have piled up give one report, as with FlexRIC's agent.
        let late = (now - self.next).as_nanos() / self.period.as_nanos();
        self.next += self.period * (late as u32 + 1);
        for (action, content) in &mut self.actions {
            let Some((header, message)) = content.encode(cell, unix_us) else {
                continue;
            };
            indications.push(RicIndication {
                request: self.request,
                ran_function: self.function,
                action: *action,
                sequence_number: None,
                kind: RicIndicationType::Report,
                header,
                message,
                call_process: None,
            });
        }
    }
}

impl Content {
    /// Header and message; `None` if there is nothing to report.
    fn encode(&mut self, cell: &Cell, unix_us: i64) -> Option<(Vec<u8>, Vec<u8>)> {
        let plain = |message: Vec<u8>| Some((INDICATION_HEADER.to_vec(), message));
        match self {
            // Like OAI, nothing is sent while there is no UE.
            Self::Mac | Self::Rlc if cell.ue_count() == 0 => None,
            Self::Mac => plain(
                Stats {
                    records: records::mac(cell),
                    tstamp_us: unix_us,
                }
                .encode(),
            ),
            Self::Rlc => plain(
                Stats {
                    records: records::rlc(cell),
                    tstamp_us: unix_us,
                }
                .encode(),
            ),
            Self::Kpm(report) => report.encode(cell, unix_us),
        }
    }
}
