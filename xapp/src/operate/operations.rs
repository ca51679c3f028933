//! `cantor.operations.v1`: nodes, UEs, flows, decisions, and which UE has which address.

use super::ReadinessWatch;
use super::metrics::model_name;
use crate::cell::view::View;
use crate::cell::{CellHandle, DecisionRecord, core::UeView};
use crate::guidance::hub::{HubHandle, Message, Stopping};
use crate::guidance::registry::FlowView;
use crate::guidance::{BindingView, Source, address, binding};
use crate::measure::Identity;
use crate::ran::{SubscriptionState, SubscriptionStatus};
use crate::store::Store;
use futures_util::{Stream, StreamExt as _, future};
use policies::UeId;
use proto::operations::{
    BindRequest, BindResponse, Binding, Decision, EdgeReport, Flow, GetStatusRequest,
    ListBindingsRequest, ListBindingsResponse, ListFlowsRequest, ListFlowsResponse,
    ListNodesRequest, ListNodesResponse, ListUesRequest, ListUesResponse, Node, RanFunction,
    Status as XappStatus, Subscription, Ue, UnbindRequest, UnbindResponse, WatchDecisionsRequest,
    WatchDecisionsResponse, operations_service_server::OperationsService,
};
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio_stream::wrappers::{BroadcastStream, errors::BroadcastStreamRecvError};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

/// The operations service.
#[derive(Debug)]
pub struct Operations {
    /// Identity of this instance.
    pub xapp_id: String,
    /// Name of the RAN link.
    pub ran_link: &'static str,
    /// When the process began.
    pub start: Instant,
    /// Who knows flows and cells.
    pub hub: HubHandle,
    /// Where decisions are.
    pub store: Store,
    /// Whether the process serves.
    pub readiness: ReadinessWatch,
    /// Ends the streams.
    pub stop: CancellationToken,
}

impl Operations {
    async fn views(&self, wanted: impl Fn(&CellHandle) -> bool) -> Result<Vec<View>, Status> {
        let cells = self.hub.cells().await.map_err(stopping)?;
        let asked = cells
            .iter()
            .filter(|cell| wanted(cell))
            .map(CellHandle::view);
        Ok(future::join_all(asked)
            .await
            .into_iter()
            .flatten()
            .collect())
    }
}

#[tonic::async_trait]
impl OperationsService for Operations {
    type WatchDecisionsStream =
        Pin<Box<dyn Stream<Item = Result<WatchDecisionsResponse, Status>> + Send>>;

    async fn get_status(
        &self,
        _: Request<GetStatusRequest>,
    ) -> Result<Response<XappStatus>, Status> {
        let reason = self.readiness.borrow().reason();
        let store = self.store.standing().borrow().clone();
        Ok(Response::new(XappStatus {
            xapp_id: self.xapp_id.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            uptime_ms: u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX),
            ran_link: self.ran_link.into(),
            ready: reason.is_none(),
            not_ready_reason: reason.unwrap_or_default().into(),
            store_good: store.is_good(),
            store: store.to_string(),
        }))
    }

    async fn list_nodes(
        &self,
        _: Request<ListNodesRequest>,
    ) -> Result<Response<ListNodesResponse>, Status> {
        let views = self.views(|_| true).await?;
        Ok(Response::new(ListNodesResponse {
            nodes: views.into_iter().map(node).collect(),
        }))
    }

    async fn list_ues(
        &self,
        request: Request<ListUesRequest>,
    ) -> Result<Response<ListUesResponse>, Status> {
        let wanted = request.into_inner().node;
        let views = self
            .views(|cell| wanted.is_empty() || *cell.node.0 == *wanted)
            .await?;
        let ues = views
            .iter()
            .flat_map(|view| view.ues.iter().map(|seen| ue(&view.node.0, seen)));
        Ok(Response::new(ListUesResponse { ues: ues.collect() }))
    }

    async fn list_flows(
        &self,
        request: Request<ListFlowsRequest>,
    ) -> Result<Response<ListFlowsResponse>, Status> {
        let edge_id = request.into_inner().edge_id;
        let wanted = (!edge_id.is_empty()).then_some(edge_id);
        let flows = self.hub.flows(wanted).await.map_err(stopping)?;
        let now = Instant::now();
        let flows = flows.into_iter().map(|view| {
            let last = self.store.last(&view.key);
            flow(view, last.as_deref(), now)
        });
        Ok(Response::new(ListFlowsResponse {
            flows: flows.collect(),
        }))
    }

    async fn watch_decisions(
        &self,
        _: Request<WatchDecisionsRequest>,
    ) -> Result<Response<Self::WatchDecisionsStream>, Status> {
        let mut skipped = 0;
        let decisions = BroadcastStream::new(self.store.watch()).filter_map(move |item| {
            future::ready(match item {
                Ok(record) => Some(Ok(WatchDecisionsResponse {
                    decision: Some(decision(&record)),
                    skipped: std::mem::take(&mut skipped),
                })),
                Err(BroadcastStreamRecvError::Lagged(lost)) => {
                    skipped += lost;
                    None
                }
            })
        });
        let decisions = decisions.take_until(self.stop.clone().cancelled_owned());
        Ok(Response::new(Box::pin(decisions)))
    }

    async fn bind(&self, request: Request<BindRequest>) -> Result<Response<BindResponse>, Status> {
        let asked = request.into_inner().binding.unwrap_or_default();
        let (address, node, ue) = binding(&asked).map_err(Status::invalid_argument)?;
        let message = Message::Bind(address, node, ue);
        self.hub.send(message).await.map_err(stopping)?;
        Ok(Response::new(BindResponse {}))
    }

    async fn unbind(
        &self,
        request: Request<UnbindRequest>,
    ) -> Result<Response<UnbindResponse>, Status> {
        let text = request.into_inner().ip_address;
        let address = address(&text).map_err(Status::invalid_argument)?;
        if !self.hub.unbind(address).await.map_err(stopping)? {
            return Err(Status::not_found(format!(
                "{address} was not bound by an operator"
            )));
        }
        Ok(Response::new(UnbindResponse {}))
    }

    async fn list_bindings(
        &self,
        _: Request<ListBindingsRequest>,
    ) -> Result<Response<ListBindingsResponse>, Status> {
        let bindings = self.hub.bindings().await.map_err(stopping)?;
        Ok(Response::new(ListBindingsResponse {
            bindings: bindings.into_iter().map(known_binding).collect(),
        }))
    }
}

fn known_binding(view: BindingView) -> Binding {
    use proto::operations::binding::Ue;
    let ue = match view.ue {
        Identity::Ue(UeId::CRnti(rnti)) => Some(Ue::CRnti(rnti.into())),
        Identity::Ue(UeId::AmfUeNgapId(id)) => Some(Ue::AmfUeNgapId(id)),
        Identity::Ue(UeId::RanUeId(id)) => Some(Ue::RanUeId(id)),
        Identity::Ue(UeId::CuUeF1apId(_) | UeId::CuCpUeE1apId(_)) => None,
        Identity::GnbTeid(teid) => Some(Ue::GnbTeid(teid)),
    };
    Binding {
        ip_address: view.address.to_string(),
        node: view.node.unwrap_or_default(),
        ue,
        source: view.source.name().into(),
        confidence: view.source.confidence(),
    }
}

fn stopping(stopping: Stopping) -> Status {
    Status::unavailable(stopping.to_string())
}

fn node(view: View) -> Node {
    let functions = view.info.functions.iter().map(|function| RanFunction {
        id: function.id.into(),
        revision: function.revision.into(),
        oid: function.oid.clone(),
        kind: model_name(function.model).into(),
    });
    Node {
        id: view.node.to_string(),
        peer: view.info.peer.clone(),
        connected: view.connected,
        silent: view.silent,
        e2ap_version: view.info.e2ap_version.into(),
        functions: functions.collect(),
        subscriptions: view.subscriptions.iter().map(subscription).collect(),
        indications: view.indications,
        rejected: view.rejected,
        quarantined: view.quarantined,
        active_ues: view.active_ues,
        used_prbs: view.used_prbs,
        available_prbs: view.available_prbs,
    }
}

fn subscription(status: &SubscriptionStatus) -> Subscription {
    let state = match status.state {
        SubscriptionState::Requested => "requested",
        SubscriptionState::Active => "active",
        SubscriptionState::Silent => "silent",
        SubscriptionState::Failed => "failed",
        SubscriptionState::Ended => "ended",
    };
    Subscription {
        requestor: status.requestor.into(),
        instance: status.instance.into(),
        ran_function: status.function.into(),
        period_ms: status.period_ms,
        state: state.into(),
        detail: status.detail.clone(),
    }
}

fn ue(node: &str, seen: &UeView) -> Ue {
    let report = &seen.report;
    Ue {
        node: node.into(),
        id: report.ue.to_string(),
        prbs: report.prbs,
        mcs: report.mcs,
        retransmission_ratio: report.retransmission_ratio(),
        sinr_db: report.sinr_db,
        cqi: report.cqi.map(u32::from),
        throughput_bps: report.throughput_bps(),
        queue_bytes: report.queue_bytes,
        head_of_line_us: report.head_of_line.map(micros),
        report_age_us: micros(seen.age),
        active: seen.active,
        lost: seen.lost,
    }
}

fn flow(view: FlowView, last: Option<&DecisionRecord>, now: Instant) -> Flow {
    let (node, ue) = view
        .bound
        .map(|(node, ue)| (node.to_string(), ue.to_string()))
        .unwrap_or_default();
    let last_report = view.report.map(|(report, came)| EdgeReport {
        age_us: micros(now.saturating_duration_since(came)),
        interval_us: report.interval_us,
        sent_bytes: report.sent_bytes,
        acknowledged_bytes: report.acknowledged_bytes,
        lost_packets: report.lost_packets,
        one_way_delay_mean_us: report.one_way_delay_mean_us,
        one_way_delay_p99_us: report.one_way_delay_p99_us,
        application_limited: report.application_limited,
        applied_sequence: report.applied_sequence,
    });
    Flow {
        edge_id: view.key.edge.to_string(),
        flow_id: view.key.flow.to_string(),
        state: if view.guided { "bound" } else { "unbound" }.into(),
        detail: view.detail,
        node,
        ue,
        last_decision: last.map(decision),
        connected: view.connected,
        last_report,
        bound_by: view.source.map_or("", Source::name).into(),
        confidence: view.source.and_then(Source::confidence),
    }
}

fn decision(record: &DecisionRecord) -> Decision {
    let shadow = record.shadow.as_ref();
    Decision {
        edge_id: record.flow.edge.to_string(),
        flow_id: record.flow.flow.to_string(),
        node: record.node.to_string(),
        ue: record.ue.to_string(),
        sequence: record.sequence,
        time_us: record.time_us,
        rate_bps: record.decision.rate_bps as u64,
        previous_rate_bps: record.previous_rate_bps as u64,
        controller: record.policy.name().into(),
        prbs: record.decision.prbs,
        target_prbs: record.decision.target_prbs,
        active_ues: record.active_ues,
        queue_bytes: record.queue_bytes.unwrap_or(0),
        note: record.note().into(),
        slice_policy: record.slice_policy.as_deref().unwrap_or_default().into(),
        target_factor: record.target.factor,
        chosen_gain: record.decision.chosen_gain,
        shadow_controller: shadow.map_or("", |s| s.policy.name()).into(),
        shadow_rate_bps: shadow.map(|s| s.rate_bps as u64),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
