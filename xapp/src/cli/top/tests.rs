//! The screen, as text, and the feed against a server that comes and goes.

use super::draw::draw;
use super::fetch::{Feed, Snapshot, Update};
use super::table::{self, Panel};
use super::view::{Outcome, View};
use crate::cli::UsageError;
use crate::cli::xapp::Xapp;
use proto::operations::operations_service_server::{OperationsService, OperationsServiceServer};
use proto::operations::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;

fn decision(flow_id: &str, sequence: u64, rate_bps: u64) -> Decision {
    Decision {
        edge_id: "edge-1".into(),
        flow_id: flow_id.into(),
        ue: "rnti:f0db".into(),
        sequence,
        time_us: 1_000_000 + sequence as i64 * 100_000,
        rate_bps,
        previous_rate_bps: rate_bps / 2,
        controller: "rapid".into(),
        prbs: Some(21.5),
        target_prbs: 24.0,
        active_ues: 3,
        queue_bytes: 1_500,
        ..Default::default()
    }
}

fn snapshot() -> Snapshot {
    let ue = |id: &str, prbs, throughput_bps| Ue {
        node: "gnb:001-01:00000e00/32".into(),
        id: id.into(),
        prbs,
        throughput_bps,
        report_age_us: 12_000,
        active: true,
        ..Default::default()
    };
    Snapshot {
        taken_us: 2_000_000,
        status: Status {
            xapp_id: "cantor-0".into(),
            version: "0.1.0".into(),
            uptime_ms: 3_723_000,
            ran_link: "direct".into(),
            ready: true,
            ..Default::default()
        },
        nodes: vec![Node {
            id: "gnb:001-01:00000e00/32".into(),
            connected: true,
            active_ues: 3,
            used_prbs: 70.25,
            available_prbs: 72.0,
            rejected: 4,
            ..Default::default()
        }],
        ues: vec![
            ue("rnti:f0db", Some(21.5), Some(40e6)),
            ue("rnti:0001", None, None),
            ue("rnti:0a0a", Some(48.0), Some(90e6)),
        ],
        flows: vec![Flow {
            edge_id: "edge-1".into(),
            flow_id: "video-7".into(),
            state: "bound".into(),
            ue: "rnti:f0db".into(),
            bound_by: "traffic".into(),
            confidence: Some(0.99),
            connected: true,
            last_decision: Some(decision("video-7", 5, 41_000_000)),
            last_report: Some(EdgeReport {
                interval_us: 100_000,
                acknowledged_bytes: Some(500_000),
                one_way_delay_mean_us: Some(8_400),
                ..Default::default()
            }),
            ..Default::default()
        }],
        decisions: [
            decision("video-7", 5, 41_000_000),
            decision("bulk\u{1b}[2J", 4, 7_000_000),
        ]
        .into(),
        skipped: 0,
    }
}

fn view(snapshot: Snapshot) -> View {
    let mut view = View::new("http://ric:50051");
    view.update(Update::Snapshot(Box::new(snapshot)));
    view
}

/// The screen as lines of text.
fn screen(view: &mut View, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, view)).unwrap();
    let cells = terminal.backend().buffer().content().chunks(width.into());
    cells
        .map(|line| line.iter().map(|cell| cell.symbol()).collect())
        .collect()
}

fn press(view: &mut View, codes: &[KeyCode]) -> Outcome {
    let mut outcome = Outcome::Stay;
    for code in codes {
        outcome = view.key(KeyEvent::new(*code, KeyModifiers::NONE));
    }
    outcome
}

/// The line that has all of these.
fn has(lines: &[String], parts: &[&str]) {
    assert!(
        lines
            .iter()
            .any(|line| parts.iter().all(|part| line.contains(part))),
        "no line with {parts:?} in\n{}",
        lines.join("\n")
    );
}

#[test]
fn one_screen_shows_cells_ues_flows_and_decisions() {
    let lines = screen(&mut view(snapshot()), 160, 32);
    has(
        &lines[..1],
        &["cantor-0 0.1.0", "ready", "direct", "up 1:02:03"],
    );
    has(&lines, &["gnb:001-01:00000e00/32", "up", "70.2", "72.0"]);
    has(
        &lines,
        &["rnti:f0db", "21.5", "40.0 Mbit/s", "12.0 ms", "active"],
    );
    has(
        &lines,
        &[
            "video-7",
            "edge-1",
            "bound",
            "rapid",
            "41.0 Mbit/s",
            "24.0",
            "40.0 Mbit/s",
            "8.40 ms",
        ],
    );
    has(&lines, &["500 ms", "video-7", "+100.0 %", "1.5 kB"]);
    has(&lines[31..], &["q", "quit", "sort"]);
}

#[test]
fn a_small_terminal_still_shows_something_of_every_table() {
    let lines = screen(&mut view(snapshot()), 80, 24);
    for panel in Panel::ALL {
        has(&lines, &[panel.title()]);
    }
    has(&lines, &["gnb:001-01"]);
    has(&lines, &["video-7"]);
    // Too small for anything: it must only not fail.
    for (width, height) in [(1, 1), (10, 3), (3, 40)] {
        screen(&mut view(snapshot()), width, height);
    }
}

#[test]
fn a_lost_xapp_is_told_and_what_was_seen_stays_until_it_is_back() {
    let mut view = view(snapshot());
    view.update(Update::Lost("connection refused".into()));
    let lines = screen(&mut view, 120, 30);
    has(
        &lines,
        &["No answer from http://ric:50051: connection refused"],
    );
    has(&lines, &["rnti:f0db"]);
    view.update(Update::Snapshot(Box::new(snapshot())));
    assert!(
        !screen(&mut view, 120, 30)
            .iter()
            .any(|line| line.contains("No answer"))
    );
}

#[test]
fn before_the_first_answer_it_says_where_it_looks() {
    let mut view = View::new("http://ric:50051");
    has(
        &screen(&mut view, 80, 10),
        &["Connecting to http://ric:50051"],
    );
    // Keys do no harm while there is nothing.
    press(
        &mut view,
        &[
            KeyCode::Down,
            KeyCode::Char('s'),
            KeyCode::End,
            KeyCode::Tab,
        ],
    );
    screen(&mut view, 80, 10);
}

#[test]
fn keys_sort_turn_round_and_zoom() {
    let mut view = view(snapshot());
    let order = |view: &View| -> Vec<String> {
        let table = view.table(1).unwrap();
        table.rows.iter().map(|row| row[0].text.clone()).collect()
    };
    assert_eq!(press(&mut view, &[KeyCode::Tab]), Outcome::Stay);
    assert_eq!(
        order(&view),
        ["rnti:f0db", "rnti:0001", "rnti:0a0a"],
        "as listed"
    );
    press(&mut view, &[KeyCode::Char('s')]);
    assert_eq!(
        order(&view),
        ["rnti:0001", "rnti:0a0a", "rnti:f0db"],
        "by name"
    );
    press(&mut view, &[KeyCode::Char('s')]);
    assert_eq!(
        order(&view),
        ["rnti:f0db", "rnti:0a0a", "rnti:0001"],
        "by PRBs; unknown last"
    );
    press(&mut view, &[KeyCode::Char('r'), KeyCode::Enter]);
    assert_eq!(
        order(&view),
        ["rnti:0a0a", "rnti:f0db", "rnti:0001"],
        "and the other way round"
    );
    let lines = screen(&mut view, 120, 20);
    has(&lines, &["PRBS▼"]);
    assert!(
        !lines.iter().any(|line| line.contains("Cells")),
        "only one table is shown"
    );
    assert_eq!(press(&mut view, &[KeyCode::Char('q')]), Outcome::Quit);
}

#[test]
fn scrolling_reaches_every_row_and_survives_rows_that_go() {
    let mut many = snapshot();
    let ue = many.ues[0].clone();
    many.ues = (0..100)
        .map(|i| Ue {
            id: format!("rnti:{i:04x}"),
            ..ue.clone()
        })
        .collect();
    let mut view = view(many);
    press(&mut view, &[KeyCode::Tab, KeyCode::End]);
    has(&screen(&mut view, 100, 24), &["rnti:0063"]);
    press(&mut view, &[KeyCode::Up, KeyCode::PageUp]);
    assert_eq!(view.panels[1].rows.selected(), Some(88));
    view.update(Update::Snapshot(Box::new(snapshot())));
    screen(&mut view, 100, 24);
    assert_eq!(view.panels[1].rows.selected(), Some(2));
}

#[test]
fn plain_text_has_all_rows_and_no_control_characters_of_others() {
    let text = table::text(&snapshot());
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    has(&lines, &["UEs (3)"]);
    has(&lines, &["NODE", "LINK", "UES"]);
    has(&lines, &["rnti:0a0a", "48.0", "90.0 Mbit/s"]);
    has(&lines, &["bulk·[2J"]);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn json_tells_unknown_from_zero() {
    let json = super::json::snapshot(&snapshot());
    assert_eq!(json["ues"][1]["prbs"], serde_json::Value::Null);
    assert_eq!(json["flows"][0]["last_decision"]["rate_bps"], 41_000_000);
    assert_eq!(json["nodes"][0]["used_prbs"], 70.25);
}

/// An xApp with the fixed snapshot.
struct Fake;

#[tonic::async_trait]
impl OperationsService for Fake {
    type WatchDecisionsStream = Pin<
        Box<dyn futures_util::Stream<Item = Result<WatchDecisionsResponse, tonic::Status>> + Send>,
    >;

    async fn get_status(
        &self,
        _: tonic::Request<GetStatusRequest>,
    ) -> Result<tonic::Response<Status>, tonic::Status> {
        Ok(tonic::Response::new(snapshot().status))
    }

    async fn list_nodes(
        &self,
        _: tonic::Request<ListNodesRequest>,
    ) -> Result<tonic::Response<ListNodesResponse>, tonic::Status> {
        let nodes = snapshot().nodes;
        Ok(tonic::Response::new(ListNodesResponse { nodes }))
    }

    async fn list_ues(
        &self,
        _: tonic::Request<ListUesRequest>,
    ) -> Result<tonic::Response<ListUesResponse>, tonic::Status> {
        let ues = snapshot().ues;
        Ok(tonic::Response::new(ListUesResponse { ues }))
    }

    async fn list_flows(
        &self,
        _: tonic::Request<ListFlowsRequest>,
    ) -> Result<tonic::Response<ListFlowsResponse>, tonic::Status> {
        let flows = snapshot().flows;
        Ok(tonic::Response::new(ListFlowsResponse { flows }))
    }

    async fn watch_decisions(
        &self,
        _: tonic::Request<WatchDecisionsRequest>,
    ) -> Result<tonic::Response<Self::WatchDecisionsStream>, tonic::Status> {
        use futures_util::StreamExt as _;
        let made = (1..=3).map(|sequence| {
            Ok(WatchDecisionsResponse {
                decision: Some(decision("video-7", sequence, 1_000_000 * sequence)),
                skipped: u64::from(sequence == 2),
            })
        });
        let decisions = futures_util::stream::iter(made).chain(futures_util::stream::pending());
        Ok(tonic::Response::new(Box::pin(decisions)))
    }

    async fn bind(
        &self,
        _: tonic::Request<BindRequest>,
    ) -> Result<tonic::Response<BindResponse>, tonic::Status> {
        Err(tonic::Status::unimplemented("not asked by top"))
    }

    async fn unbind(
        &self,
        _: tonic::Request<UnbindRequest>,
    ) -> Result<tonic::Response<UnbindResponse>, tonic::Status> {
        Err(tonic::Status::unimplemented("not asked by top"))
    }

    async fn list_bindings(
        &self,
        _: tonic::Request<ListBindingsRequest>,
    ) -> Result<tonic::Response<ListBindingsResponse>, tonic::Status> {
        Err(tonic::Status::unimplemented("not asked by top"))
    }
}

/// Serves until the sender is dropped, connections included.
async fn serve(
    address: SocketAddr,
) -> (
    SocketAddr,
    tokio::sync::oneshot::Sender<()>,
    tokio::task::JoinHandle<()>,
) {
    let socket = TcpListener::bind(address).await.unwrap();
    let address = socket.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    // On a runtime of its own: with it go the connections, as with a process that is killed.
    let socket = socket.into_std().unwrap();
    let task = tokio::task::spawn_blocking(move || {
        let runtime = crate::cli::runtime().unwrap();
        runtime.block_on(async {
            let incoming = TcpListenerStream::new(TcpListener::from_std(socket).unwrap());
            let service = OperationsServiceServer::new(Fake);
            let server = tonic::transport::Server::builder().add_service(service);
            tokio::select! {
                served = server.serve_with_incoming(incoming) => served.unwrap(),
                _ = stopped => {}
            }
        });
    });
    (address, stop, task)
}

async fn next(
    updates: &mut tokio::sync::mpsc::Receiver<Update>,
    wanted: impl Fn(&Update) -> bool,
) -> Update {
    let found = async {
        loop {
            let update = updates.recv().await.unwrap();
            if wanted(&update) {
                return update;
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), found).await;
    found.expect("no such update came")
}

fn feed(url: &str) -> Result<Feed, UsageError> {
    let xapp = Xapp { url: url.into() };
    Ok(Feed::new(xapp.endpoint()?))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_survives_an_xapp_that_goes_and_comes_back() {
    let (address, stop, task) = serve("127.0.0.1:0".parse().unwrap()).await;
    let feed = feed(&format!("http://{address}")).unwrap();
    let mut updates = feed.watch(Duration::from_millis(20));
    let full = |update: &Update| matches!(update, Update::Snapshot(s) if s.decisions.len() == 3);
    let Update::Snapshot(seen) = next(&mut updates, full).await else {
        unreachable!()
    };
    assert_eq!(
        (seen.nodes.len(), seen.ues.len(), seen.flows.len()),
        (1, 3, 1)
    );
    assert_eq!(seen.decisions[0].sequence, 3, "the newest first");
    assert_eq!(seen.skipped, 1);

    drop(stop);
    task.await.unwrap();
    next(&mut updates, |update| matches!(update, Update::Lost(_))).await;
    let (_, stop, task) = serve(address).await;
    next(&mut updates, |update| matches!(update, Update::Snapshot(_))).await;
    drop(stop);
    task.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_look_gives_the_last_decision_of_each_flow_or_says_who_did_not_answer() {
    let (address, stop, task) = serve("127.0.0.1:0".parse().unwrap()).await;
    let xapp = format!("http://{address}");
    let seen = feed(&xapp).unwrap().once().await.unwrap();
    assert_eq!(seen.decisions.len(), 1);
    drop(stop);
    task.await.unwrap();
    let error = feed(&xapp).unwrap().once().await.unwrap_err();
    let text = format!("{error:#}");
    assert!(
        text.contains(&address.to_string()) && text.contains("refused"),
        "{text}"
    );
    for wrong in ["", "127.0.0.1:50051", "https://ric:50051"] {
        assert!(
            feed(wrong).is_err_and(|why| why.0.contains("--xapp")),
            "{wrong}"
        );
    }
}
