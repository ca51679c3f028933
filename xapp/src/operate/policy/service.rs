//! `cantor.operations.v1.PolicyService`: slice policies for operators.

use super::Policies;
use super::explain::explained;
use crate::cell::CellHandle;
use crate::cell::view::SliceView;
use crate::config::Control;
use crate::guidance::hub::{HubHandle, Stopping};
use crate::guidance::registry::FlowView;
use futures_util::future;
use policies::slice::{ObjectiveState, Provenance, Source, to_yaml};
use proto::operations::{
    AppliedPolicy, ApplyPoliciesRequest, ApplyPoliciesResponse, DeletePolicyRequest,
    DeletePolicyResponse, ExplainFlowRequest, ExplainFlowResponse, ListPoliciesRequest,
    ListPoliciesResponse, SlicePolicy, policy_service_server::PolicyService,
};
use std::collections::BTreeMap;
use tonic::{Request, Response, Status};

/// The service.
#[derive(Debug)]
pub struct PolicyApi {
    /// The slice policies.
    pub policies: Policies,
    /// Who knows flows and cells.
    pub hub: HubHandle,
    /// How rates are decided where no slice policy says otherwise.
    pub control: Control,
}

#[tonic::async_trait]
impl PolicyService for PolicyApi {
    async fn apply_policies(
        &self,
        request: Request<ApplyPoliciesRequest>,
    ) -> Result<Response<ApplyPoliciesResponse>, Status> {
        let ApplyPoliciesRequest {
            text,
            name,
            dry_run,
        } = request.into_inner();
        let name = if name.is_empty() { "request" } else { &name };
        let applied = self.policies.apply(Source::Operator, &text, name, dry_run);
        let applied = applied.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let policies = applied.into_iter().map(|(name, outcome)| AppliedPolicy {
            name,
            outcome: outcome.name().into(),
        });
        Ok(Response::new(ApplyPoliciesResponse {
            policies: policies.collect(),
        }))
    }

    async fn list_policies(
        &self,
        request: Request<ListPoliciesRequest>,
    ) -> Result<Response<ListPoliciesResponse>, Status> {
        let cells = self.hub.cells().await.map_err(stopping)?;
        let name = request.into_inner().name;
        Ok(Response::new(listed(&self.policies, &cells, &name).await))
    }

    async fn delete_policy(
        &self,
        request: Request<DeletePolicyRequest>,
    ) -> Result<Response<DeletePolicyResponse>, Status> {
        let name = request.into_inner().name;
        if self.policies.remove(Source::Operator, &name) {
            return Ok(Response::new(DeletePolicyResponse {}));
        }
        let set = self.policies.read();
        let elsewhere = Source::ALL
            .into_iter()
            .find_map(|source| set.get(source, &name));
        Err(Status::not_found(match elsewhere {
            Some(entry) => format!(
                "policy {name} was not given by an operator but by {}: take it back there",
                entry.origin
            ),
            None => format!("no policy {name:?}"),
        }))
    }

    async fn explain_flow(
        &self,
        request: Request<ExplainFlowRequest>,
    ) -> Result<Response<ExplainFlowResponse>, Status> {
        let flow = self.flow_named(request.into_inner()).await?;
        let key = flow.key;
        let Some((node, _)) = flow.bound else {
            return Err(Status::failed_precondition(format!(
                "flow {key} is not bound to a UE: {}",
                flow.detail
            )));
        };
        let cells = self.hub.cells().await.map_err(stopping)?;
        let rule = match cells.iter().find(|cell| cell.node == node) {
            Some(cell) => cell.rule(key.clone()).await,
            None => None,
        };
        let rule = rule.ok_or_else(|| {
            Status::unavailable(format!(
                "flow {key} is on its way to another cell: ask again"
            ))
        })?;
        let explained = explained(&self.policies, &key, &rule, &self.control);
        Ok(Response::new(explained))
    }
}

impl PolicyApi {
    /// The flow of a name: of one edge server, or the only one.
    async fn flow_named(&self, request: ExplainFlowRequest) -> Result<FlowView, Status> {
        let ExplainFlowRequest { flow_id, edge_id } = request;
        let edge = (!edge_id.is_empty()).then_some(edge_id);
        let mut flows = self.hub.flows(edge).await.map_err(stopping)?;
        flows.retain(|view| *view.key.flow == *flow_id);
        match flows.len() {
            0 => Err(Status::not_found(format!("no flow {flow_id:?}"))),
            1 => Ok(flows.remove(0)),
            _ => {
                let edges: Vec<_> = flows.iter().map(|view| &*view.key.edge).collect();
                Err(Status::failed_precondition(format!(
                    "several edge servers have a flow {flow_id:?}: name one of {}",
                    edges.join(", ")
                )))
            }
        }
    }
}

fn stopping(stopping: Stopping) -> Status {
    Status::unavailable(stopping.to_string())
}

/// All policies, or those of a name, and how they stand in the cells.
async fn listed(policies: &Policies, cells: &[CellHandle], name: &str) -> ListPoliciesResponse {
    let views = future::join_all(cells.iter().map(CellHandle::slices)).await;
    let mut standing: BTreeMap<Provenance, SliceView> = BTreeMap::new();
    for view in views.into_iter().flatten() {
        match standing.get_mut(&view.policy) {
            Some(known) => add(known, view),
            None => {
                standing.insert(view.policy.clone(), view);
            }
        }
    }
    let set = policies.read();
    let wanted = set
        .iter()
        .filter(|entry| name.is_empty() || entry.policy.name() == name);
    let listed = wanted.map(|entry| {
        let effective = &entry.effective;
        let view = effective.provenance.as_ref().and_then(|p| standing.get(p));
        let (measured_ms, state) = view
            .and_then(|view| view.objective)
            .unwrap_or((None, ObjectiveState::NotMeasured));
        SlicePolicy {
            name: entry.policy.name().into(),
            source: entry.origin.source.name().into(),
            origin: entry.origin.place.to_string(),
            scope: entry.policy.spec.scope.to_string(),
            priority: entry.policy.spec.priority,
            document: to_yaml(&entry.policy),
            flows: view.map_or(0, |view| view.flows),
            objective: effective
                .latency
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
            objective_state: state_name(state).into(),
            measured_ms,
        }
    });
    ListPoliciesResponse {
        policies: listed.collect(),
        problems: policies.problems(),
    }
}

/// A policy in one more cell: of the objectives the worst counts.
fn add(known: &mut SliceView, view: SliceView) {
    known.flows += view.flows;
    let ms = |view: &SliceView| view.objective.and_then(|(measured, _)| measured);
    if ms(&view) > ms(known) {
        (known.objective, known.factor) = (view.objective, view.factor);
    }
}

pub(super) fn state_name(state: ObjectiveState) -> &'static str {
    match state {
        ObjectiveState::NotMeasured => "",
        ObjectiveState::Met => "met",
        ObjectiveState::Violated => "violated",
    }
}
