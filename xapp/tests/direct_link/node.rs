//! The least E2 node: sets up with a real gNB's octets, admits what it is asked for, and reports what it is told.

use std::time::Duration;

use e2sm::e2ap::{
    AdmittedAction, Pdu, RicIndication, RicIndicationType, RicRequestId,
    RicSubscriptionDeleteRequest, RicSubscriptionDeleteResponse, RicSubscriptionRequest,
    RicSubscriptionResponse, Version, decode, encode,
};
use transport::{Address, Connection, Receiver, Sender};

pub struct Node {
    sender: Sender,
    receiver: Receiver,
}

/// A subscription that Cantor made.
#[derive(Clone, Copy)]
pub struct Subscription {
    pub request: RicRequestId,
    ran_function: u16,
}

impl Node {
    pub async fn connect(address: &Address) -> Node {
        Node::try_connect(address).await.unwrap()
    }

    pub async fn try_connect(address: &Address) -> std::io::Result<Node> {
        let (sender, receiver) = Connection::connect(address, Duration::from_secs(30))
            .await?
            .split();
        Ok(Node { sender, receiver })
    }

    /// Sets up and admits the one subscription.
    pub async fn set_up(&mut self) -> Subscription {
        self.try_set_up().await.expect("a setup and a subscription")
    }

    /// As `set_up`, unless the association ends before.
    pub async fn try_set_up(&mut self) -> Option<Subscription> {
        let octets = vector("oai/oai_e2_setup_req");
        self.sender.send(&octets).await.ok()?;
        loop {
            if let Pdu::RicSubscriptionRequest(RicSubscriptionRequest {
                request,
                ran_function,
                ..
            }) = self.receive().await?
            {
                let (admitted, not_admitted) = (vec![AdmittedAction { id: 0 }], None);
                self.send(Pdu::RicSubscriptionResponse(RicSubscriptionResponse {
                    request,
                    ran_function,
                    admitted,
                    not_admitted,
                }))
                .await;
                return Some(Subscription {
                    request,
                    ran_function,
                });
            }
        }
    }

    pub async fn report(&mut self, subscription: Subscription, message: &[u8]) {
        let Subscription {
            request,
            ran_function,
        } = subscription;
        self.send(Pdu::RicIndication(RicIndication {
            request,
            ran_function,
            action: 0,
            sequence_number: None,
            kind: RicIndicationType::Report,
            header: vec![0; 4],
            message: message.to_vec(),
            call_process: None,
        }))
        .await;
    }

    /// Waits until everything sent so far was dealt with: PDUs are answered in order.
    pub async fn synchronise(&mut self) {
        self.sender
            .send(&vector("flexric/syn_node_config_update"))
            .await
            .unwrap();
        while !matches!(
            self.receive().await.expect("an acknowledgement"),
            Pdu::E2NodeConfigurationUpdateAcknowledge(_)
        ) {}
    }

    /// Waits for a deletion and answers it.
    pub async fn deleted(&mut self) -> RicRequestId {
        let Some(Pdu::RicSubscriptionDeleteRequest(RicSubscriptionDeleteRequest {
            request,
            ran_function,
        })) = self.receive().await
        else {
            panic!("no deletion")
        };
        self.send(Pdu::RicSubscriptionDeleteResponse(
            RicSubscriptionDeleteResponse {
                request,
                ran_function,
            },
        ))
        .await;
        request
    }

    /// Reads until the association ends, one way or another.
    pub async fn wait_for_end(mut self) {
        while self.receive().await.is_some() {}
    }

    pub fn abort(self) {
        transport::abort(self.sender, self.receiver);
    }

    /// Ends in order after everything was sent.
    pub async fn finish(self) {
        self.sender.finish().await.unwrap();
    }

    async fn send(&mut self, pdu: Pdu) {
        self.sender
            .send(&encode(&pdu, Version::V2_03).unwrap())
            .await
            .unwrap();
    }

    async fn receive(&mut self) -> Option<Pdu> {
        let message = self.receiver.receive().await.ok()??;
        Some(decode(&message.bytes, Version::V2_03).unwrap().value)
    }
}

fn vector(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/vectors/{name}.hex", env!("CARGO_MANIFEST_DIR"));
    hex::decode(std::fs::read_to_string(path).unwrap().trim()).unwrap()
}
