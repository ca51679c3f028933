//! The main job on a recorded session: what the policies would have guided.
//!
//! Every node of the recording gets the measurements and the deciding core that `cantor run` gives it, and every UE
//! a flow. The recording does not react to the guidance, so a law that integrates runs into a bound sooner or later;
//! [`Start::Arrivals`] lets every interval begin at the rate at which data really arrived.

mod event;
mod stream;
mod summary;

pub use event::{Decided, Event};
pub use summary::{NodeSummary, UeSummary};

use crate::{
    capture::{
        Direction, Pdu as Recorded,
        session::{self, Session},
    },
    config::Config,
    models::Model,
    ran::ServiceModel,
};
use e2sm::{
    aper::DecodeError,
    e2ap::{Pdu, Version},
    flexric,
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use stream::{Indication, Stream};

/// At which rate a control interval starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Start {
    /// At what was guided last, as if the sender had followed. It did not: expect the bounds.
    Guided,
    /// At the rate at which the UE's data arrived at the base station: one step of the law from what really was.
    #[default]
    Arrivals,
}

/// How to replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// Settings of `cantor run`.
    pub config: Config,
    /// At which rate an interval starts.
    pub start: Start,
    /// Report period in ms, where a recording has several subscriptions; `None`: the first that reports.
    pub period_ms: Option<u32>,
    /// Replay what the near-RT RIC forwarded to its xApps, not what the nodes sent.
    pub e42: bool,
    /// E2AP version, where it is not to be told.
    pub version: Option<Version>,
    /// The model that learned policies run.
    pub model: Option<Arc<Model>>,
}

/// A PDU of the recording could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It does not decode.
    #[error(transparent)]
    Pdu(#[from] DecodeError),
    /// Its service model's octets do not.
    #[error(transparent)]
    Measure(#[from] crate::measure::Error),
    /// Nothing is known of when it came.
    #[error("no time: replay needs a packet capture or a recorder's stream")]
    NoTime,
}

/// A recording being replayed. Its nodes are told apart by association and, behind a near-RT RIC, by name.
#[derive(Debug)]
pub struct Replay {
    options: Options,
    session: Session,
    begin: Option<Duration>,
    streams: BTreeMap<(u32, String), Stream>,
    nodes_spoke: bool,
}

impl Replay {
    /// Nothing replayed yet.
    pub fn new(options: Options) -> Self {
        Self {
            session: Session::new(options.version),
            options,
            begin: None,
            streams: BTreeMap::new(),
            nodes_spoke: false,
        }
    }

    /// Replays the next PDU; what follows from it is added to `events`.
    ///
    /// # Errors
    /// When it cannot be used. The next one may be good again.
    pub fn pdu(&mut self, recorded: &Recorded, events: &mut Vec<Event>) -> Result<(), Error> {
        let (decoded, _) = self.session.decode(recorded)?;
        let Pdu::RicIndication(indication) = decoded.value else {
            return Ok(());
        };
        let forwarded = recorded.direction == Some(Direction::RicToXApp);
        self.nodes_spoke |= !forwarded;
        if forwarded != self.options.e42 && (self.nodes_spoke || self.options.e42) {
            // The same reports twice: from the node, and as the near-RT RIC passed them on.
            return Ok(());
        }
        let Some(model) = used(
            self.session
                .model(recorded.association, indication.ran_function),
        ) else {
            return Ok(());
        };
        let time = recorded.time.ok_or(Error::NoTime)?;
        let begin = *self.begin.get_or_insert(time);
        let association = recorded.association;
        let subscription =
            self.session
                .subscription(association, indication.request, indication.ran_function);
        let node = subscription
            .and_then(|subscription| subscription.node.as_deref())
            .or_else(|| self.session.node(association))
            .map_or_else(|| format!("association {association}"), str::to_owned);
        let period_ms = subscription.and_then(|subscription| subscription.period_ms);
        if period_ms.is_some()
            && self
                .options
                .period_ms
                .is_some_and(|wanted| period_ms != Some(wanted))
        {
            return Ok(());
        }
        let stream = self
            .streams
            .entry((association, node.clone()))
            .or_insert_with(|| Stream::new(node, &self.options, begin, period_ms));
        if let Some(subscription) = subscription.filter(|_| model == ServiceModel::Kpm) {
            stream.kpm_names(&subscription.names);
        }
        let indication = Indication {
            model,
            request: indication.request,
            period_ms,
            header: indication.header,
            message: indication.message,
        };
        stream.indication(&indication, time.saturating_sub(begin), events)?;
        Ok(())
    }

    /// What became of each node.
    pub fn summaries(&self) -> Vec<NodeSummary> {
        self.streams.values().map(Stream::summary).collect()
    }
}

/// The service models from which UE reports are made.
fn used(model: session::Model) -> Option<ServiceModel> {
    match model {
        session::Model::Kpm { .. } => Some(ServiceModel::Kpm),
        session::Model::FlexRic(flexric::Model::Mac) => Some(ServiceModel::Mac),
        session::Model::FlexRic(flexric::Model::Rlc) => Some(ServiceModel::Rlc),
        session::Model::FlexRic(_) | session::Model::Other => None,
    }
}
