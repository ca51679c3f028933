//! The whole loop as processes that are killed and come back, among hostile peers: over TCP, and over kernel SCTP.

mod idle;
mod scenarios;

use system_tests::kernel::with_sctp;
use transport::Protocol::{Sctp, Tcp};

#[tokio::test]
async fn a_killed_node_comes_back_over_tcp() {
    scenarios::a_killed_node_comes_back(Tcp).await;
}

#[tokio::test]
async fn a_node_that_stands_still_goes_on_over_tcp() {
    scenarios::a_node_that_stands_still_goes_on(Tcp).await;
}

#[tokio::test]
async fn a_killed_xapp_comes_back_over_tcp() {
    scenarios::a_killed_xapp_comes_back(Tcp).await;
}

#[tokio::test]
async fn a_killed_edge_server_comes_back_over_tcp() {
    scenarios::a_killed_edge_server_comes_back(Tcp).await;
}

#[tokio::test]
async fn a_told_xapp_deletes_its_subscriptions_and_ends_over_tcp() {
    scenarios::a_told_xapp_deletes_its_subscriptions_and_ends(Tcp).await;
}

/// All in one: where the kernel has no SCTP, another one is started for it, which takes its time.
#[test]
fn all_scenarios_over_sctp() {
    with_sctp("all_scenarios_over_sctp", async {
        println!("a killed node comes back");
        scenarios::a_killed_node_comes_back(Sctp).await;
        println!("a node that stands still goes on");
        scenarios::a_node_that_stands_still_goes_on(Sctp).await;
        println!("a killed xApp comes back");
        scenarios::a_killed_xapp_comes_back(Sctp).await;
        println!("a killed edge server comes back");
        scenarios::a_killed_edge_server_comes_back(Sctp).await;
        println!("a told xApp deletes its subscriptions and ends");
        scenarios::a_told_xapp_deletes_its_subscriptions_and_ends(Sctp).await;
    });
}
