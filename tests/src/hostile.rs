//! Peers that mean harm, or know no better: garbage and silence on the E2 and gRPC ports.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::task::AbortOnDropHandle;
use transport::{Address, Connection, Protocol};

/// Time between two attacks: a nuisance, not a flood.
const PAUSE: Duration = Duration::from_millis(50);
/// How long an attacker waits for what the xApp does.
const WAIT: Duration = Duration::from_secs(1);
/// Connections that are held open without a word.
const SILENT: usize = 16;

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Attacks the ports as long as it lives.
#[derive(Debug)]
pub struct Hostile {
    attacks: Arc<AtomicU64>,
    _task: AbortOnDropHandle<()>,
}

impl Hostile {
    /// Begins.
    pub fn start(e2: Address, grpc: SocketAddr) -> Self {
        let attacks = Arc::new(AtomicU64::new(0));
        let count = attacks.clone();
        let task = tokio::spawn(async move {
            let mut silent = VecDeque::new();
            let mut pause = interval(PAUSE);
            pause.set_missed_tick_behavior(MissedTickBehavior::Delay);
            for kind in (0..4_u8).cycle() {
                pause.tick().await;
                // While the xApp is away there is nobody to attack.
                let attacked = [
                    attack_e2(&e2, kind, &mut silent).await.is_ok(),
                    attack_grpc(grpc, kind, &mut silent).await.is_ok(),
                ];
                let succeeded = attacked.iter().filter(|attacked| **attacked).count();
                count.fetch_add(succeeded as u64, Ordering::Relaxed);
                silent.truncate(SILENT);
            }
        });
        Self {
            attacks,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Attacks that reached the xApp.
    pub fn attacks(&self) -> u64 {
        self.attacks.load(Ordering::Relaxed)
    }
}

/// A connection that is kept only to be held open.
enum Silent {
    E2 { _connection: Connection },
    Grpc { _stream: TcpStream },
}

async fn attack_e2(
    address: &Address,
    kind: u8,
    silent: &mut VecDeque<Silent>,
) -> std::io::Result<()> {
    if kind == 0 && address.protocol == Protocol::Tcp {
        // A length that nobody should believe, and no message.
        let port = (address.host.as_str(), address.port);
        let mut stream = TcpStream::connect(port).await?;
        stream.write_all(&[0xff; 4]).await?;
        return wait_for_end(stream).await;
    }
    let connection = Connection::connect(address, WAIT).await?;
    match kind {
        1 => silent.push_front(Silent::E2 {
            _connection: connection,
        }),
        2 => connection.abort(),
        _ => {
            let (mut sender, _receiver) = connection.split();
            // The beginning of an E2 setup request, and what is none of E2AP's PDUs.
            sender
                .send(&[0x00, 0x01, 0x00, 0x81, 0x00, 0x00, 0x04])
                .await?;
            sender.send(&[0xff; 4096]).await?;
        }
    }
    Ok(())
}

async fn attack_grpc(
    address: SocketAddr,
    kind: u8,
    silent: &mut VecDeque<Silent>,
) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    match kind {
        0 => {
            stream.write_all(&[0xff; 4096]).await?;
            wait_for_end(stream).await?;
        }
        1 => silent.push_front(Silent::Grpc { _stream: stream }),
        2 => {
            stream.write_all(HTTP2_PREFACE).await?;
            stream.write_all(&[0xff; 64]).await?;
            wait_for_end(stream).await?;
        }
        _ => {
            stream.write_all(HTTP2_PREFACE).await?;
            silent.push_front(Silent::Grpc { _stream: stream });
        }
    }
    Ok(())
}

/// Reads until the xApp ends the connection, which may come as an error.
async fn wait_for_end(mut stream: TcpStream) -> std::io::Result<()> {
    let mut answer = Vec::new();
    let _ = timeout(WAIT, stream.read_to_end(&mut answer)).await;
    Ok(())
}
