//! The guard: an E2 node of Cantor's own, there for the moments of an E42 setup.
//!
//! FlexRIC's RIC aborts on an E42 setup while no E2 node is connected, and nothing on E42 tells whether one is. So
//! Cantor connects one itself: a gNB of no real network that offers a MAC model. It is up for milliseconds, and only
//! when no real node has proved to be there: an xApp of somebody else that sees it in its node list may subscribe
//! to it, and must not find it gone.

use std::io;
use std::time::Duration;

use e2sm::common::{GlobalGnbId, GnbId, Plmn};
use e2sm::e2ap::{
    self, ComponentConfig, ComponentId, ComponentInterface, E2SetupRequest, GlobalE2NodeId, Pdu,
    Version,
};
use transport::{Address, Connection, Receiver, Sender};

use super::association::mac_function;

/// MCC 999 is for private networks; no operator has MNC 999 there.
const PLMN: Plmn = Plmn([0x99, 0x99, 0x99]);
/// The upper half of the gNB id of every guard; the lower half tells guards apart.
const MARK: u32 = 0xca27;

/// An E2 association that has set up.
pub(super) struct Guard {
    sender: Sender,
    receiver: Receiver,
}

impl Guard {
    /// Connects and sets up. When this returns the RIC has a node.
    pub(super) async fn raise(
        address: Address,
        version: Version,
        instance: u16,
        wait: Duration,
    ) -> io::Result<Guard> {
        // In a task of its own: whoever waits for it may give up, but it must not stop between connecting and setup.
        let raising = tokio::spawn(async move { connect(&address, version, instance, wait).await });
        raising.await.map_err(io::Error::other)?
    }

    /// Leaves in order, so that the RIC forgets the node.
    pub(super) async fn lower(self) {
        // A failure means that the association is gone already.
        let _ = self.sender.finish().await;
        drop(self.receiver);
    }
}

async fn connect(
    address: &Address,
    version: Version,
    instance: u16,
    wait: Duration,
) -> io::Result<Guard> {
    let setup = e2ap::encode(&setup(instance), version).map_err(io::Error::other)?;
    let (mut sender, mut receiver) = Connection::connect(address, wait).await?.split();
    let set_up = async {
        sender.send(&setup).await?;
        let answer = receiver.receive().await.map_err(io::Error::other)?;
        let octets = answer.ok_or(io::ErrorKind::UnexpectedEof)?.bytes;
        match e2ap::decode(&octets, version).map(|decoded| decoded.value) {
            Ok(Pdu::E2SetupResponse(_)) => Ok(()),
            Ok(pdu) => Err(io::Error::other(format!(
                "{} instead of an answer",
                pdu.name()
            ))),
            Err(error) => Err(io::Error::other(error)),
        }
    };
    let result = tokio::time::timeout(wait, set_up)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    match result {
        Ok(()) => Ok(Guard { sender, receiver }),
        Err(error) => {
            leave_without_notice(sender, receiver);
            Err(error)
        }
    }
}

/// The RIC looks for the node of an association that shuts down, and aborts if there is none: one that has not set
/// up must end by ABORT, of which the RIC is not told.
fn leave_without_notice(sender: Sender, receiver: Receiver) {
    transport::abort(sender, receiver);
}

fn setup(instance: u16) -> Pdu {
    Pdu::E2SetupRequest(E2SetupRequest {
        transaction: 0,
        node: GlobalE2NodeId::Gnb {
            gnb: GlobalGnbId {
                plmn: PLMN,
                gnb: GnbId::Bits {
                    value: MARK << 16 | u32::from(instance),
                    length: 32,
                },
            },
            en_gnb: None,
            cu_up: None,
            du: None,
        },
        functions: vec![mac_function()],
        components: vec![ComponentConfig {
            interface: ComponentInterface::Ng,
            id: ComponentId::Ng("Cantor guard".into()),
            request: b"Cantor guard".to_vec(),
            response: b"Cantor guard".to_vec(),
        }],
    })
}

/// Whether a node is a guard, of this Cantor or another: it reports nothing and will be gone in a moment.
pub(super) fn is_guard(node: &GlobalE2NodeId) -> bool {
    matches!(
        node,
        GlobalE2NodeId::Gnb {
            gnb: GlobalGnbId { plmn: PLMN, gnb: GnbId::Bits { value, length: 32 } },
            ..
        } if value >> 16 == MARK
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_recognised_and_gnbs_are_not() {
        for version in Version::ALL {
            let octets = e2ap::encode(&setup(7), version).unwrap();
            let Pdu::E2SetupRequest(mut request) = e2ap::decode(&octets, version).unwrap().value
            else {
                panic!()
            };
            assert!(is_guard(&request.node));
            let GlobalE2NodeId::Gnb { gnb, .. } = &mut request.node else {
                panic!()
            };
            gnb.plmn = Plmn([0x05, 0xf5, 0x10]);
            assert!(!is_guard(&request.node));
        }
    }
}
