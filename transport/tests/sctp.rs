//! The SCTP transport over a kernel that has it (see `kernel`).

mod behaviour;
mod kernel;

use behaviour as check;
use kernel::with_sctp;
use transport::{Connection, Protocol::Sctp};

#[test]
fn every_size_arrives_whole() {
    with_sctp(
        "every_size_arrives_whole",
        check::every_size_arrives_whole(Sctp),
    );
}

#[test]
fn a_slow_reader_makes_the_sender_wait() {
    with_sctp(
        "a_slow_reader_makes_the_sender_wait",
        check::a_slow_reader_makes_the_sender_wait(Sctp),
    );
}

#[test]
fn an_orderly_end_is_told_after_the_data() {
    with_sctp(
        "an_orderly_end_is_told_after_the_data",
        check::an_orderly_end_is_told_after_the_data(Sctp),
    );
}

#[test]
fn dropping_both_halves_ends_in_order() {
    with_sctp(
        "dropping_both_halves_ends_in_order",
        check::dropping_both_halves_ends_in_order(Sctp),
    );
}

#[test]
fn an_abort_is_a_failure() {
    with_sctp("an_abort_is_a_failure", check::an_abort_is_a_failure(Sctp));
}

#[test]
fn a_refused_connection_is_an_error() {
    with_sctp(
        "a_refused_connection_is_an_error",
        check::a_refused_connection_is_an_error(Sctp),
    );
}

#[test]
fn both_address_families_work() {
    with_sctp(
        "both_address_families_work",
        check::both_address_families_work(Sctp),
    );
}

#[test]
fn a_message_over_the_limit_is_refused() {
    with_sctp(
        "a_message_over_the_limit_is_refused",
        check::a_message_over_the_limit_is_refused(Sctp),
    );
}

#[test]
fn a_cancelled_receive_loses_nothing() {
    with_sctp(
        "a_cancelled_receive_loses_nothing",
        check::a_cancelled_receive_loses_nothing(Sctp),
    );
}

/// Inside, tests run one at a time, so counting the process's sockets is fair.
#[test]
fn no_descriptor_is_leaked() {
    with_sctp(
        "no_descriptor_is_leaked",
        check::no_descriptor_is_leaked(Sctp),
    );
}

#[test]
fn e2ap_s_ppid_is_sent_and_any_is_received() {
    with_sctp("e2ap_s_ppid_is_sent_and_any_is_received", async {
        let (ours, theirs) = check::pair(Sctp).await;
        let (mut sender, _keep) = ours.split();
        let (_keep, mut receiver) = theirs.split();
        sender.send(b"a").await.unwrap();
        sender.set_ppid(0).unwrap();
        sender.send(b"b").await.unwrap();
        sender.set_ppid(0x0102_0304).unwrap();
        sender.send(b"c").await.unwrap();
        for (bytes, ppid) in [(b"a", 70), (b"b", 0), (b"c", 0x0102_0304)] {
            let message = receiver.receive().await.unwrap().unwrap();
            assert_eq!(
                (message.bytes.as_slice(), message.ppid, message.stream),
                (&bytes[..], Some(ppid), Some(0))
            );
        }
    });
}

#[test]
fn a_message_that_can_never_be_sent_is_refused_and_the_association_goes_on() {
    with_sctp(
        "a_message_that_can_never_be_sent_is_refused_and_the_association_goes_on",
        async {
            let (ours, theirs) = check::pair(Sctp).await;
            let (mut sender, _keep) = ours.split();
            let (_keep, mut receiver) = theirs.split();
            let error = sender.send(&vec![0; 64 << 20]).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains("net.core.wmem_max"), "{error}");
            sender.send(b"still here").await.unwrap();
            assert_eq!(
                receiver.receive().await.unwrap().unwrap().bytes,
                b"still here"
            );
        },
    );
}

/// Peers that abort before they are accepted, or leave without a word, do not disturb the others.
#[test]
fn a_listener_outlives_its_bad_peers() {
    with_sctp("a_listener_outlives_its_bad_peers", async {
        let listener = check::listener(Sctp, "127.0.0.1").await;
        for i in 0..20 {
            let peer = Connection::connect(listener.local_address(), check::PATIENCE)
                .await
                .unwrap();
            if i % 2 == 0 { peer.abort() } else { drop(peer) }
        }
        let (mut sender, _keep) = Connection::connect(listener.local_address(), check::PATIENCE)
            .await
            .unwrap()
            .split();
        sender.send(b"good").await.unwrap();
        loop {
            let Ok((connection, _)) = listener.accept().await else {
                continue;
            };
            let (_keep, mut receiver) = connection.split();
            if let Ok(Some(message)) = receiver.receive().await {
                assert_eq!(message.bytes, b"good");
                break;
            }
        }
    });
}
