use super::*;
use tokio_util::sync::CancellationToken;

/// A whole flow over loopback: what the receiver counts is what the sender counts, and the sender learns it.
#[tokio::test]
async fn sender_and_receiver_agree_on_what_was_sent() {
    let listen = "127.0.0.1:0".parse().unwrap();
    let receiver = Receiver::bind(ReceiverConfig {
        until_end: true,
        ..ReceiverConfig::new(listen)
    })
    .await
    .unwrap();
    let sender = Sender::bind(SenderConfig {
        duration: Some(Duration::from_millis(400)),
        linger: Duration::from_secs(30),
        ..SenderConfig::new(receiver.local_addr().unwrap())
    })
    .await
    .unwrap();
    let session = sender.session();
    let (mut sent_samples, mut received_samples) = (Vec::new(), Vec::new());
    let (sent, received) = tokio::join!(
        sender.run(Guide::Fixed(8e6), CancellationToken::new(), |s| {
            sent_samples.push(s.clone());
        }),
        receiver.run(CancellationToken::new(), |s| {
            received_samples.push(s.clone());
        }),
    );
    let (sent, received) = (sent.unwrap(), received.unwrap());
    let [flow] = &received.flows[..] else {
        panic!("one session is expected: {received:?}");
    };
    assert_eq!(flow.session, session);
    assert!(flow.ended && flow.packets > 0);
    assert_eq!(flow.packets + flow.lost, sent.packets);
    assert_eq!(flow.bytes, flow.packets * 1_400);
    assert_eq!(sent.acknowledged_bytes, flow.bytes);
    assert_eq!(sent.lost_packets, flow.lost);
    assert!(sent.bytes as f64 <= sent.rate_bps / 8.0 * sent.duration_us as f64 / 1e6 + 1.0);
    let sum = |bytes: &mut dyn Iterator<Item = u64>| bytes.sum::<u64>();
    assert_eq!(
        sum(&mut sent_samples.iter().map(|s| s.sent_bytes)),
        sent.bytes
    );
    assert_eq!(
        sum(&mut received_samples.iter().map(|s| s.bytes)),
        flow.bytes
    );
    assert!(received_samples.iter().all(|s| s.start_us % 100_000 == 0));
}

#[tokio::test]
async fn reports_go_to_the_address_that_was_given() {
    let mut receiver = Receiver::bind(ReceiverConfig::new("127.0.0.1:0".parse().unwrap()))
        .await
        .unwrap();
    let relay = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let feedback = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    receiver.report_to(feedback.local_addr().unwrap());
    let mut packet = [0; 100];
    let data = packet::Packet::Data {
        session: 5,
        sequence: 0,
        sent_us: unix_micros(),
    };
    data.encode(&mut packet);
    relay
        .send_to(&packet, receiver.local_addr().unwrap())
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(receiver.run(stop.clone(), |_| {}));
    let mut buffer = [0; packet::REPORT_BYTES];
    let report = loop {
        let (length, _) = feedback.recv_from(&mut buffer).await.unwrap();
        match packet::Packet::decode(&buffer[..length]) {
            Some(packet::Packet::Report(report)) if report.packets > 0 => break report,
            _ => {}
        }
    };
    assert_eq!((report.session, report.packets, report.bytes), (5, 1, 128));
    stop.cancel();
    assert_eq!(running.await.unwrap().unwrap().flows.len(), 1);
}

#[test]
fn intervals_begin_at_whole_multiples_of_their_length() {
    let length = Duration::from_millis(100);
    assert_eq!(interval_start(1_000_000, length), 900_000);
    assert_eq!(interval_start(1_004_321, length), 900_000);
    assert_eq!(interval_start(999_900, length), 900_000);
}

#[test]
fn mapped_addresses_have_the_short_header() {
    assert_eq!(header_bytes("127.0.0.1:1".parse().unwrap()), 28);
    assert_eq!(header_bytes("[::ffff:127.0.0.1]:1".parse().unwrap()), 28);
    assert_eq!(header_bytes("[::1]:1".parse().unwrap()), 48);
}
