//! The TCP transport over loopback.

#[allow(dead_code)]
mod behaviour;

use std::time::Duration;

use behaviour as check;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use transport::{Protocol::Tcp, ReceiveError};

#[tokio::test]
async fn every_size_arrives_whole() {
    check::every_size_arrives_whole(Tcp).await;
}

#[tokio::test]
async fn a_slow_reader_makes_the_sender_wait() {
    check::a_slow_reader_makes_the_sender_wait(Tcp).await;
}

#[tokio::test]
async fn an_orderly_end_is_told_after_the_data() {
    check::an_orderly_end_is_told_after_the_data(Tcp).await;
}

#[tokio::test]
async fn dropping_both_halves_ends_in_order() {
    check::dropping_both_halves_ends_in_order(Tcp).await;
}

#[tokio::test]
async fn an_abort_is_a_failure() {
    check::an_abort_is_a_failure(Tcp).await;
}

#[tokio::test]
async fn a_refused_connection_is_an_error() {
    check::a_refused_connection_is_an_error(Tcp).await;
}

#[tokio::test]
async fn both_address_families_work() {
    check::both_address_families_work(Tcp).await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused() {
    check::a_message_over_the_limit_is_refused(Tcp).await;
}

#[tokio::test]
async fn a_cancelled_receive_loses_nothing() {
    check::a_cancelled_receive_loses_nothing(Tcp).await;
}

#[tokio::test]
async fn a_peer_that_breaks_the_framing_is_told_from_one_that_ends() {
    for (octets, expected) in [
        (&[0u8, 0, 0, 5, 1, 2][..], "incomplete"),
        (&[0, 0, 0][..], "incomplete"),
        (&[0, 0, 0, 0][..], "framing"),
        (b"GET / HTTP/1.1\r\n\r\n", "too long"),
    ] {
        let listener = check::listener(Tcp, "127.0.0.1").await;
        let mut stream = TcpStream::connect(("127.0.0.1", listener.local_address().port))
            .await
            .unwrap();
        let (_sender, mut receiver) = listener.accept().await.unwrap().0.split();
        stream.write_all(octets).await.unwrap();
        drop(stream);
        let error = match receiver.receive().await {
            Err(ReceiveError::Incomplete { .. }) => "incomplete",
            Err(ReceiveError::Framing(_)) => "framing",
            Err(ReceiveError::TooLong { .. }) => "too long",
            other => panic!("{octets:?}: {other:?}"),
        };
        assert_eq!(error, expected, "{octets:?}");
    }
}

/// A peer that trickles its octets is still understood.
#[tokio::test]
async fn a_message_may_come_octet_by_octet() {
    let listener = check::listener(Tcp, "127.0.0.1").await;
    let mut stream = TcpStream::connect(("127.0.0.1", listener.local_address().port))
        .await
        .unwrap();
    stream.set_nodelay(true).unwrap();
    let (_sender, mut receiver) = listener.accept().await.unwrap().0.split();
    let trickle = async {
        for octet in [0u8, 0, 0, 3, 7, 8, 9] {
            stream.write_all(&[octet]).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let (message, ()) = tokio::join!(
        tokio::time::timeout(Duration::from_secs(60), receiver.receive()),
        trickle
    );
    assert_eq!(message.unwrap().unwrap().unwrap().bytes, [7, 8, 9]);
}
