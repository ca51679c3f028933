//! What happens to the loop, and what must hold then. Each scenario starts its own.

use edge::client::Registration;
use edge::guidance::Phase;
use std::time::{Duration, Instant};
use system_tests::decisions::Decisions;
use system_tests::edge_server::EdgeServer;
use system_tests::hostile::Hostile;
use system_tests::lag::Lag;
use system_tests::process::Process;
use system_tests::site::{SUBSCRIPTIONS, Site, VALID_FOR};
use system_tests::stream::BareStream;
use transport::Protocol;

/// In which `cantor run` ends after SIGTERM, whatever its peers do.
const END: Duration = Duration::from_secs(5);

/// Node, xApp, two edge servers of one flow each, and who watches or disturbs them.
struct Loop {
    site: Site,
    xapp: Process,
    cell: Process,
    edge: EdgeServer,
    stream: BareStream,
    decisions: Decisions,
    hostile: Hostile,
    lag: Lag,
}

impl Loop {
    /// Starts all, and waits until both flows are guided.
    async fn start(protocol: Protocol) -> Self {
        let site = Site::new(protocol);
        let lag = Lag::start();
        let mut xapp = site.xapp().await;
        let hostile = Hostile::start(site.e2.clone(), site.grpc);
        let cell = site.cell().await;
        let decisions = Decisions::watch(site.url());
        let edge = EdgeServer::start(site.url(), "edge-1", 1).await;
        let stream = BareStream::start(site.url(), "edge-2", 2);
        subscribed(&mut xapp).await;
        edge.registration(Registration::Bound).await;
        edge.phase(0, Phase::Guided).await;
        stream.newer_than(0).await;
        Self {
            site,
            xapp,
            cell,
            edge,
            stream,
            decisions,
            hostile,
            lag,
        }
    }

    /// Waits until both flows get guidance that is newer than these sequences, and the first one follows it.
    async fn guided_again(&self, edge: u64, stream: u64) {
        self.edge.registration(Registration::Bound).await;
        let since = self.edge.applied();
        self.edge.phase(since - 1, Phase::Guided).await;
        assert!(self.edge.sequence() > edge);
        self.stream.newer_than(stream).await;
    }

    /// Checks what holds at all times. `busy_ues`: UEs with traffic.
    fn check(&self, busy_ues: u32) {
        let lag = self.lag.worst();
        self.edge.check(VALID_FOR, lag);
        self.stream.check(VALID_FOR, lag);
        self.decisions.check(busy_ues);
        assert!(self.hostile.attacks() > 0);
        println!(
            "  {} decisions, {} attacks, worst lag of the test {lag:?}",
            self.decisions.len(),
            self.hostile.attacks()
        );
    }
}

/// Waits until the node reports to the xApp.
pub async fn subscribed(xapp: &mut Process) {
    for _ in 0..SUBSCRIPTIONS {
        xapp.line("subscription active").await;
    }
}

/// How often the xApp lost its node.
fn nodes_lost(xapp: &Process) -> usize {
    let lines = xapp.lines().entries();
    lines
        .iter()
        .filter(|line| line.contains("E2 node gone"))
        .count()
}

pub async fn a_killed_node_comes_back(protocol: Protocol) {
    let mut all = Loop::start(protocol).await;
    assert!(
        all.site
            .flows()
            .await
            .iter()
            .all(|flow| flow.state == "bound")
    );

    let since = all.edge.applied();
    all.cell.kill();
    all.edge.registration(Registration::Unbound).await;
    let flows = all.site.flows().await;
    assert_eq!(flows.len(), 2);
    assert!(
        flows
            .iter()
            .all(|flow| flow.state == "unbound" && flow.connected),
        "{flows:?}"
    );
    let nodes = all.site.nodes().await;
    assert!(nodes.iter().all(|node| !node.connected), "{nodes:?}");
    all.edge.phase(since, Phase::Holding).await;
    all.edge.phase(since, Phase::Fallback).await;

    let before = (all.edge.sequence(), all.stream.newer_than(0).await);
    all.cell = all.site.cell().await;
    subscribed(&mut all.xapp).await;
    all.guided_again(before.0, before.1).await;
    let flows = all.site.flows().await;
    assert!(flows.iter().all(|flow| flow.state == "bound"), "{flows:?}");
    assert_eq!(nodes_lost(&all.xapp), 1);
    all.check(2);
}

/// Its association stays up all the while: that it is silent is all there is to see.
pub async fn a_node_that_stands_still_goes_on(protocol: Protocol) {
    let all = Loop::start(protocol).await;

    let since = all.edge.applied();
    all.cell.signal("STOP");
    all.edge.phase(since, Phase::Holding).await;
    all.edge.phase(since, Phase::Fallback).await;
    let nodes = all.site.nodes().await;
    assert!(nodes.iter().all(|node| node.connected), "{nodes:?}");

    let before = (all.edge.sequence(), all.stream.newer_than(0).await);
    all.cell.signal("CONT");
    all.guided_again(before.0, before.1).await;
    assert_eq!(nodes_lost(&all.xapp), 0);
    all.check(2);
}

pub async fn a_killed_xapp_comes_back(protocol: Protocol) {
    let mut all = Loop::start(protocol).await;

    let since = all.edge.applied();
    all.xapp.kill();
    all.edge.registration(Registration::Pending).await;
    all.edge.phase(since, Phase::Holding).await;
    all.edge.phase(since, Phase::Fallback).await;

    let before = (all.edge.sequence(), all.stream.newer_than(0).await);
    let decided = all.decisions.len();
    all.xapp = all.site.xapp().await;
    subscribed(&mut all.xapp).await;
    all.guided_again(before.0, before.1).await;
    // Over the time for which a UE counts as active after its last data.
    all.decisions.at_least(decided + 20).await;
    assert_eq!(nodes_lost(&all.xapp), 0);
    all.check(2);
}

pub async fn a_killed_edge_server_comes_back(protocol: Protocol) {
    let mut all = Loop::start(protocol).await;
    let receiver = all.site.receiver.to_string();
    let mut receiver = Process::start("cantor-edge", ["receive", "--listen", &receiver, "--json"]);
    receiver.line("listening on").await;
    let send = |site: &Site| {
        let (to, xapp) = (site.ingress.to_string(), site.url());
        let rnti = sim::measure::rnti(0).to_string();
        Process::start(
            "cantor-edge",
            [
                "send",
                "--to",
                &to,
                "--xapp",
                &xapp,
                "--edge-id",
                "edge-3",
                "--flow",
                "video",
                "--c-rnti",
                &rnti,
                "--max-rate",
                "5M",
                "--json",
            ],
        )
    };

    let mut killed = send(&all.site);
    killed.line("-> guided").await;
    killed.kill();
    all.xapp.line("edge server disconnected").await;
    let flows = all.site.flows().await;
    let flow = flows.iter().find(|flow| flow.flow_id == "video");
    assert!(
        flow.is_some_and(|flow| flow.state == "unbound" && !flow.connected),
        "{flows:?}"
    );

    // It comes back, and stands still with its stream open: the next one of the same name takes over.
    let mut stopped = send(&all.site);
    stopped.line("-> guided").await;
    stopped.signal("STOP");
    let mut next = send(&all.site);
    next.line("bound; policy rapid").await;
    next.line("-> guided").await;
    stopped.kill();
    let flows = all.site.flows().await;
    let flow = flows.iter().find(|flow| flow.flow_id == "video");
    assert!(
        flow.is_some_and(|flow| flow.state == "bound" && flow.connected),
        "{flows:?}"
    );

    next.signal("TERM");
    assert_eq!(next.ended().await.code(), Some(0));
    let accepted = number(&next, "guidance_accepted");
    assert!(accepted > 0);
    receiver.signal("TERM");
    assert_eq!(receiver.ended().await.code(), Some(0));
    assert!(number(&receiver, "packets") > 0);
    assert_eq!(nodes_lost(&all.xapp), 0);
    all.check(3);
}

/// The first number of this name in a process's JSON.
fn number(process: &Process, name: &str) -> u64 {
    let lines = process.lines().entries();
    let start = format!("\"{name}\":");
    let number = lines
        .iter()
        .find_map(|line| line.trim().strip_prefix(&start));
    let number = number.map(|number| number.trim().trim_end_matches(','));
    number.and_then(|number| number.parse().ok()).expect(name)
}

pub async fn a_told_xapp_deletes_its_subscriptions_and_ends(protocol: Protocol) {
    let mut all = Loop::start(protocol).await;
    ends(&mut all).await;
    for _ in 0..SUBSCRIPTIONS {
        all.cell.line("subscription deleted").await;
    }
    all.cell.line("connection to the RIC ended").await;
    all.edge.registration(Registration::Pending).await;

    // The same with a node that does not answer, and does not read either.
    all.xapp = all.site.xapp().await;
    subscribed(&mut all.xapp).await;
    all.edge.registration(Registration::Bound).await;
    all.cell.signal("STOP");
    ends(&mut all).await;
    all.check(2);
}

async fn ends(all: &mut Loop) {
    let told = Instant::now();
    all.xapp.signal("TERM");
    let status = all.xapp.ended().await;
    let took = told.elapsed();
    println!("  ended {took:?} after SIGTERM");
    assert_eq!(status.code(), Some(0));
    assert!(took <= END + all.lag.worst(), "{took:?}");
    all.xapp.line("Cantor has stopped").await;
}
