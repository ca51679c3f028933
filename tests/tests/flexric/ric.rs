//! The fake RIC at sockets: reads as the real one reads, and is gone when it aborts.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use e2sm::e2ap::Version;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use transport::{Address, Connection, Listener, Protocol, Sender};

use crate::core::{Association, Core};

pub struct Ric {
    /// Where E2 nodes connect.
    pub e2: Address,
    /// Where xApps connect.
    pub e42: Address,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
    pub core: Arc<Mutex<Core>>,
    /// Messages of xApps that lay unread because two came together.
    pub pipelined: Arc<Mutex<usize>>,
}

/// What happens at the sockets.
enum Event {
    Connected(Association, Sender),
    Message(Association, Vec<u8>),
    /// In order, or not.
    Ended(Association, bool),
}

impl Ric {
    pub async fn start(version: Version) -> Ric {
        let any = |port| Address {
            protocol: Protocol::Tcp,
            host: "127.0.0.1".into(),
            port,
        };
        Ric::start_at(version, any(0), any(0)).await
    }

    pub async fn start_at(version: Version, e2: Address, e42: Address) -> Ric {
        let (nodes, xapps) = (bind(&e2).await, bind(&e42).await);
        let (e2, e42) = (nodes.local_address().clone(), xapps.local_address().clone());
        let core = Arc::new(Mutex::new(Core::new(version)));
        let (stop, pipelined) = (CancellationToken::new(), Arc::default());
        let task = tokio::spawn(run(
            nodes,
            xapps,
            Arc::clone(&core),
            Arc::clone(&pipelined),
            stop.clone(),
        ));
        Ric {
            e2,
            e42,
            stop,
            task,
            core,
            pipelined,
        }
    }

    /// Killed, and where it was.
    pub async fn kill(self) -> (Address, Address) {
        self.stop.cancel();
        let _ = self.task.await;
        (self.e2, self.e42)
    }

    pub fn assert_alive(&self) {
        assert_eq!(self.core.lock().unwrap().aborted(), None, "the RIC aborted");
    }

    /// Nodes and requests that it knows of.
    pub fn known(&self) -> (usize, usize) {
        self.core.lock().unwrap().known()
    }
}

async fn bind(address: &Address) -> Listener {
    loop {
        match Listener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
                tokio::task::yield_now().await;
            }
        }
    }
}

async fn run(
    nodes: Listener,
    xapps: Listener,
    core: Arc<Mutex<Core>>,
    pipelined: Arc<Mutex<usize>>,
    stop: CancellationToken,
) {
    let (from_nodes, mut node_events) = mpsc::unbounded_channel();
    let (from_xapps, mut xapp_events) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    // Associations with nodes have odd numbers.
    tasks.spawn(accept(nodes, from_nodes, 1));
    tasks.spawn(accept(xapps, from_xapps, 2));
    let mut senders: HashMap<Association, Sender> = HashMap::new();
    let mut unread = VecDeque::new();
    while core.lock().unwrap().aborted().is_none() {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(event) = node_events.recv() => match event {
                Event::Connected(of, sender) => { senders.insert(of, sender); }
                Event::Message(of, octets) => core.lock().unwrap().hear_node(of, &octets),
                Event::Ended(of, in_order) => {
                    senders.remove(&of);
                    if in_order {
                        core.lock().unwrap().node_shut_down(of);
                    }
                }
            },
            Some(event) = xapp_events.recv() => {
                // Edge-triggered: all that has come by now is one wake-up, and one message is read for it.
                let mut arrived = VecDeque::from([event]);
                while let Ok(event) = xapp_events.try_recv() {
                    arrived.push_back(event);
                }
                let mut awake = false;
                for event in arrived {
                    match event {
                        Event::Connected(of, sender) => { senders.insert(of, sender); }
                        Event::Message(of, octets) => {
                            unread.push_back(Unread::Message(of, octets));
                            awake = true;
                        }
                        Event::Ended(of, _) => { senders.remove(&of); }
                    }
                }
                if awake {
                    read_one(&core, &mut unread, &pipelined);
                }
            }
        }
        let out = core.lock().unwrap().take_out();
        let mut failed = false;
        for (to, octets) in out {
            let sent = match senders.get_mut(&to) {
                Some(sender) => sender.send(&octets).await.is_ok(),
                None => false,
            };
            if !sent && to % 2 == 0 {
                unread.push_back(Unread::SendFailed(to));
                failed = true;
            }
        }
        if failed {
            read_one(&core, &mut unread, &pipelined);
        }
    }
    if let Some(why) = core.lock().unwrap().aborted() {
        println!("the RIC aborts: {why}");
    }
}

/// What lies in the socket of the xApps.
enum Unread {
    Message(Association, Vec<u8>),
    /// A notification, which lies there like a message.
    SendFailed(Association),
}

fn read_one(core: &Mutex<Core>, unread: &mut VecDeque<Unread>, pipelined: &Mutex<usize>) {
    match unread.pop_front() {
        Some(Unread::Message(of, octets)) => core.lock().unwrap().hear_xapp(of, &octets),
        Some(Unread::SendFailed(of)) => core.lock().unwrap().send_failed(of),
        None => {}
    }
    *pipelined.lock().unwrap() += unread.len();
}

async fn accept(listener: Listener, events: mpsc::UnboundedSender<Event>, first: Association) {
    let mut readers = JoinSet::new();
    let mut next = first;
    while let Ok((connection, _)) = listener.accept().await {
        readers.spawn(read(connection, events.clone(), next));
        next += 2;
    }
}

async fn read(connection: Connection, events: mpsc::UnboundedSender<Event>, of: Association) {
    let (sender, mut receiver) = connection.split();
    let _ = events.send(Event::Connected(of, sender));
    loop {
        let event = match receiver.receive().await {
            Ok(Some(message)) => Event::Message(of, message.bytes),
            Ok(None) => Event::Ended(of, true),
            Err(_) => Event::Ended(of, false),
        };
        let ended = matches!(event, Event::Ended(..));
        if events.send(event).is_err() || ended {
            return;
        }
    }
}
