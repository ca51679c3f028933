//! From the RAN link to the cells: one task per node that ever connected.

use super::task::{CellHandle, Command, Context, Indication, Task};
use super::view::NodeInfo;
use crate::guidance::hub::Message;
use crate::ran::{NodeId, RanEvent};
use std::collections::{HashMap, VecDeque};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Nodes that are gone stay listed, up to this many.
const REMEMBERED_NODES: usize = 64;

/// Hands the events of the link to the cells until the link ends; then the cells end.
pub async fn dispatch(mut events: mpsc::Receiver<RanEvent>, context: Context) {
    let mut cells = Cells {
        context,
        handles: HashMap::new(),
        gone: VecDeque::new(),
        tasks: JoinSet::new(),
    };
    while let Some(event) = events.recv().await {
        cells.handle(event).await;
    }
    for (node, _) in cells.handles.drain() {
        let _ = cells.context.hub.send(Message::CellEnded(node)).await;
    }
    while cells.tasks.join_next().await.is_some() {}
}

struct Cells {
    context: Context,
    handles: HashMap<NodeId, CellHandle>,
    /// Nodes that are not connected, the longest gone first.
    gone: VecDeque<NodeId>,
    tasks: JoinSet<()>,
}

impl Cells {
    async fn handle(&mut self, event: RanEvent) {
        match event {
            RanEvent::NodeUp {
                node,
                peer,
                e2ap_version,
                functions,
            } => {
                self.gone.retain(|gone| *gone != node);
                let up = Command::Up(NodeInfo {
                    peer,
                    e2ap_version,
                    functions,
                });
                self.cell(node).await.command(up).await;
            }
            RanEvent::NodeDown { node, reason } => {
                if let Some(cell) = self.handles.get(&node) {
                    cell.command(Command::Down(reason)).await;
                    self.gone.retain(|gone| *gone != node);
                    self.gone.push_back(node);
                    self.forget_longest_gone().await;
                }
            }
            RanEvent::Subscription { node, status } => {
                if let Some(cell) = self.handles.get(&node) {
                    cell.command(Command::Subscription(status)).await;
                }
            }
            RanEvent::Indication {
                node,
                model,
                header,
                message,
                received,
            } => {
                let indication = Indication {
                    model,
                    header,
                    message,
                    received,
                };
                if let Some(cell) = self.handles.get(&node)
                    && !cell.indication(indication)
                {
                    self.context.metrics.indication_dropped();
                }
            }
        }
    }

    /// The cell of a node, begun if there is none.
    async fn cell(&mut self, node: NodeId) -> CellHandle {
        if let Some(cell) = self.handles.get(&node) {
            return cell.clone();
        }
        let (task, handle) = Task::new(node.clone(), self.context.clone());
        // The hub must know the cell before it hears from it.
        let started = Message::CellStarted(handle.clone());
        let _ = self.context.hub.send(started).await;
        self.handles.insert(node, handle.clone());
        self.tasks.spawn(task.run());
        handle
    }

    async fn forget_longest_gone(&mut self) {
        if self.gone.len() > REMEMBERED_NODES
            && let Some(node) = self.gone.pop_front()
        {
            self.handles.remove(&node);
            let _ = self.context.hub.send(Message::CellEnded(node)).await;
            while self.tasks.try_join_next().is_some() {}
        }
    }
}
