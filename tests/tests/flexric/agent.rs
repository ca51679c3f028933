//! FlexRIC's agent as measured: it admits what it can do, reports each period, keeps its subscriptions when the
//! RIC restarts, and aborts, with the gNB, on everything else.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use e2sm::e2ap::{
    AdmittedAction, Pdu, RicActionType, RicIndication, RicIndicationType, RicRequestId,
    RicSubscriptionDeleteResponse, RicSubscriptionRequest, RicSubscriptionResponse, Version,
    decode, encode,
};
use e2sm::kpm::{
    ActionDefinition, ActionFormat, Dialect, RanFunctionDescription, TestType, TestValue,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use transport::{Address, Connection};

/// An agent that runs.
pub struct Agent {
    stop: CancellationToken,
    pub state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub struct State {
    /// Why it aborted.
    pub aborted: Option<String>,
    /// What it reports.
    pub subscriptions: Vec<(RicRequestId, u16, Duration)>,
    /// It was connected and set up.
    pub set_up: bool,
    /// No UE is attached: it reports nothing.
    pub idle: bool,
    /// So many messages lie before what comes next: it reads one for each that comes.
    pub behind: usize,
}

/// What an agent offers, as captured.
#[derive(Clone)]
pub struct Kind {
    /// E2setupRequest.
    pub setup: Vec<u8>,
    pub version: Version,
}

impl Kind {
    /// Of a vector, e.g. `v2_e2_setup_req`.
    pub fn of(vector: &str) -> Kind {
        let version = match &vector[..2] {
            "v1" => Version::V1_01,
            _ => Version::V2_03,
        };
        Kind {
            setup: crate::vector(vector),
            version,
        }
    }
}

impl Agent {
    pub fn start(ric: &Address, kind: Kind) -> Agent {
        let (stop, state) = (CancellationToken::new(), Arc::default());
        tokio::spawn(run(ric.clone(), kind, stop.clone(), Arc::clone(&state)));
        Agent { stop, state }
    }

    /// Killed: the kernel closes its association.
    pub fn kill(self) {
        self.stop.cancel();
    }

    /// Reports nothing for a moment and is killed then: in the very moment of a request nothing could help.
    pub async fn fall_silent_and_die(self) {
        self.state.lock().unwrap().idle = true;
        tokio::time::sleep(Duration::from_millis(60)).await;
        self.kill();
    }

    pub fn subscriptions(&self) -> usize {
        self.state.lock().unwrap().subscriptions.len()
    }

    pub fn assert_alive(&self) {
        assert_eq!(
            self.state.lock().unwrap().aborted,
            None,
            "the agent aborted"
        );
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Between attempts to reach the RIC: 3 s in the real one.
const RETRY: Duration = Duration::from_millis(30);

async fn run(ric: Address, kind: Kind, stop: CancellationToken, state: Arc<Mutex<State>>) {
    let serving = async {
        loop {
            if let Ok(connection) = Connection::connect(&ric, Duration::from_secs(1)).await {
                serve(connection, &kind, &state).await;
            }
            state.lock().unwrap().set_up = false;
            if state.lock().unwrap().aborted.is_some() {
                return;
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = serving => {}
    }
}

async fn serve(connection: Connection, kind: &Kind, state: &Mutex<State>) {
    let (mut sender, mut receiver) = connection.split();
    if sender.send(&kind.setup).await.is_err() {
        return;
    }
    let mut due: Vec<Instant> = Vec::new();
    let mut unread = VecDeque::new();
    loop {
        let subscriptions = state.lock().unwrap().subscriptions.clone();
        due.resize(subscriptions.len(), Instant::now());
        let next = due.iter().min().copied();
        let wake = next.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        let answer = tokio::select! {
            received = receiver.receive() => {
                let Ok(Some(message)) = received else { return };
                unread.push_back(message.bytes);
                if unread.len() <= state.lock().unwrap().behind {
                    continue;
                }
                let octets = unread.pop_front().unwrap();
                let pdu = decode(&octets, kind.version).unwrap().value;
                match heard(pdu, kind, &mut state.lock().unwrap()) {
                    Ok(answer) => answer,
                    Err(why) => {
                        state.lock().unwrap().aborted = Some(why);
                        return;
                    }
                }
            }
            () = tokio::time::sleep_until(wake) => {
                let at = due.iter().position(|at| *at == wake).unwrap();
                let (request, function, period) = subscriptions[at];
                due[at] += period;
                let idle = state.lock().unwrap().idle;
                (!idle).then(|| report(request, function))
            }
        };
        if let Some(pdu) = answer
            && sender
                .send(&encode(&pdu, kind.version).unwrap())
                .await
                .is_err()
        {
            return;
        }
    }
}

fn report(request: RicRequestId, ran_function: u16) -> Pdu {
    let message = match ran_function {
        142..=148 => vec![0; 12],
        _ => crate::indication_message("v2_e42_ind_kpm_1"),
    };
    Pdu::RicIndication(RicIndication {
        request,
        ran_function,
        action: 0,
        sequence_number: None,
        kind: RicIndicationType::Report,
        header: vec![0; 4],
        message,
        call_process: None,
    })
}

/// What the agent does on a PDU of the RIC; `Err`: it aborts.
pub fn heard(pdu: Pdu, kind: &Kind, state: &mut State) -> Result<Option<Pdu>, String> {
    match pdu {
        Pdu::E2SetupResponse(_) => {
            state.set_up = true;
            Ok(None)
        }
        Pdu::RicSubscriptionRequest(request) => {
            let period = subscribed(&request, kind)?;
            state
                .subscriptions
                .push((request.request, request.ran_function, period));
            Ok(Some(Pdu::RicSubscriptionResponse(
                RicSubscriptionResponse {
                    request: request.request,
                    ran_function: request.ran_function,
                    admitted: vec![AdmittedAction {
                        id: request.details.actions[0].id,
                    }],
                    not_admitted: Some(Vec::new()),
                },
            )))
        }
        Pdu::RicSubscriptionDeleteRequest(request) => {
            let of = |(id, function, _): &(RicRequestId, u16, Duration)| {
                *id == request.request && *function == request.ran_function
            };
            if let Some(at) = state.subscriptions.iter().position(of) {
                state.subscriptions.remove(at);
            }
            Ok(Some(Pdu::RicSubscriptionDeleteResponse(
                RicSubscriptionDeleteResponse {
                    request: request.request,
                    ran_function: request.ran_function,
                },
            )))
        }
        other => Err(format!("{} is not implemented", other.name())),
    }
}

/// The period of a subscription that the agent survives.
pub fn subscribed(request: &RicSubscriptionRequest, kind: &Kind) -> Result<Duration, String> {
    let Pdu::E2SetupRequest(setup) = decode(&kind.setup, kind.version).unwrap().value else {
        panic!("no setup")
    };
    let function = setup
        .functions
        .iter()
        .find(|function| function.id == request.ran_function)
        .ok_or("unknown RAN function")?;
    let [action] = request.details.actions.as_slice() else {
        return Err("not one action".into());
    };
    if action.kind != RicActionType::Report {
        return Err("not a report".into());
    }
    let trigger = &request.details.event_trigger;
    let period_ms = if request.ran_function == 2 {
        kpm(&function.definition, action.definition.as_deref())?;
        e2sm::kpm::EventTrigger::decode(trigger)
            .map_err(|e| e.to_string())?
            .0
            .period_ms
    } else {
        let exact = trigger
            .as_slice()
            .try_into()
            .map_err(|_| "trigger of another length")?;
        u32::from_le_bytes(exact)
    };
    if !(1..=10_000).contains(&period_ms) {
        return Err(format!("period of {period_ms} ms"));
    }
    Ok(Duration::from_millis(period_ms.into()))
}

/// What KPM needs so that no gNB aborts, at once or at the first report.
fn kpm(definition: &[u8], action: Option<&[u8]>) -> Result<(), String> {
    let (description, _) = RanFunctionDescription::decode(definition).map_err(|e| e.to_string())?;
    let dialect = Dialect::from_short_name(&description.name.short_name);
    let action = action.ok_or("no action definition")?;
    let (action, _) = ActionDefinition::decode(action, dialect).map_err(|e| e.to_string())?;
    let ActionFormat::Format4 { conditions, action } = action.format else {
        return Err("not action format 4".into());
    };
    let [condition] = conditions.as_slice() else {
        return Err("not one condition".into());
    };
    let value = condition.test.value.as_ref();
    let right = match dialect {
        Dialect::FlexRic2023 => matches!(value, Some(TestValue::Int(_))),
        Dialect::Standard => matches!(value, Some(TestValue::Octets(sst)) if sst.len() == 1),
    };
    if condition.test.test != TestType::SNssai || condition.test.expression.is_none() || !right {
        return Err(format!("condition {condition:?}"));
    }
    const NAMES: [&str; 7] = [
        "DRB.PdcpSduVolumeDL",
        "DRB.PdcpSduVolumeUL",
        "DRB.RlcSduDelayDl",
        "DRB.UEThpDl",
        "DRB.UEThpUl",
        "RRU.PrbTotDl",
        "RRU.PrbTotUl",
    ];
    let known = |info: &e2sm::kpm::MeasInfo<'_>| {
        info.measure
            .name()
            .is_some_and(|name| NAMES.contains(&name))
    };
    action
        .info
        .iter()
        .all(known)
        .then_some(())
        .ok_or("unknown name".into())
}
