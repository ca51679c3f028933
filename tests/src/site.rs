//! One xApp and one cell with its E2 node, on addresses that stay the same when they end and come back.

use crate::ports;
use crate::process::Process;
use proto::operations::operations_service_client::OperationsServiceClient;
use proto::operations::{Flow, ListFlowsRequest, ListNodesRequest, Node};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::Channel;
use transport::{Address, Protocol};

/// Time for which guidance holds: three control intervals, by default.
pub const VALID_FOR: Duration = Duration::from_millis(600);
/// Service models that Cantor subscribes to.
pub const SUBSCRIPTIONS: usize = 3;
/// UEs of the cell. Nothing is sent to the first one but through its relay; the others always have some traffic.
pub const UES: usize = 3;

/// Where everything is.
#[derive(Debug)]
pub struct Site {
    folder: TempDir,
    /// E2 interface of the xApp.
    pub e2: Address,
    /// Its gRPC services.
    pub grpc: SocketAddr,
    http: SocketAddr,
    /// Where packets go that cross the cell to its first UE.
    pub receiver: SocketAddr,
    /// Where they are sent to.
    pub ingress: SocketAddr,
}

impl Site {
    /// Chooses addresses and writes the configurations.
    ///
    /// # Panics
    /// When files cannot be written.
    pub fn new(protocol: Protocol) -> Self {
        Self::with(protocol, "")
    }

    /// The same, with further lines in the xApp's configuration.
    ///
    /// # Panics
    /// When files cannot be written.
    pub fn with(protocol: Protocol, settings: &str) -> Self {
        let site = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            e2: Address::new(protocol, ports::free()),
            grpc: ports::free(),
            http: ports::free(),
            receiver: ports::free(),
            ingress: ports::free(),
        };
        let write = |file: PathBuf, text: String| std::fs::write(file, text).expect("a file");
        write(site.xapp_file(), site.xapp_configuration() + settings);
        write(site.cell_file(), site.cell_configuration());
        site
    }

    /// Starts the xApp, and waits until it serves.
    pub async fn xapp(&self) -> Process {
        let file = self.xapp_file().display().to_string();
        let mut xapp = Process::start("cantor", ["run", "--config", &file]);
        xapp.line("Cantor runs").await;
        xapp
    }

    /// Starts the cell. Its E2 node finds the xApp, whenever that is there.
    pub async fn cell(&self) -> Process {
        let file = self.cell_file().display().to_string();
        let mut cell = Process::start("cantor-sim", ["cell", "--config", &file]);
        cell.line("relay 0").await;
        cell
    }

    /// Runs `cantor` with the xApp as its operations API, and gives what it printed.
    ///
    /// # Panics
    /// When it does not succeed.
    pub async fn cantor(&self, arguments: &[&str]) -> String {
        let mut command = Process::start("cantor", [arguments, &["--xapp", &self.url()]].concat());
        let status = command.ended().await;
        let printed = command.lines().entries().join("\n");
        assert!(status.success(), "cantor {arguments:?}: {printed}");
        printed
    }

    /// What an HTTP page of the xApp says.
    ///
    /// # Panics
    /// When it cannot be read.
    pub async fn page(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.http).await.expect("HTTP");
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        stream
            .write_all(request.as_bytes())
            .await
            .expect("a request");
        let mut page = String::new();
        stream.read_to_string(&mut page).await.expect("a page");
        page
    }

    /// Address of the xApp for clients.
    pub fn url(&self) -> String {
        format!("http://{}", self.grpc)
    }

    /// The flows, as operators see them.
    pub async fn flows(&self) -> Vec<Flow> {
        let request = ListFlowsRequest::default();
        let answer = self.operations().await.list_flows(request).await;
        answer.expect("the flows").into_inner().flows
    }

    /// The E2 nodes, as operators see them.
    pub async fn nodes(&self) -> Vec<Node> {
        let request = ListNodesRequest {};
        let answer = self.operations().await.list_nodes(request).await;
        answer.expect("the nodes").into_inner().nodes
    }

    async fn operations(&self) -> OperationsServiceClient<Channel> {
        OperationsServiceClient::connect(self.url())
            .await
            .expect("the operations service")
    }

    fn xapp_file(&self) -> PathBuf {
        self.folder.path().join("cantor.toml")
    }

    fn cell_file(&self) -> PathBuf {
        self.folder.path().join("cell.toml")
    }

    fn xapp_configuration(&self) -> String {
        format!(
            "[ran]\nlisten = [\"{}\"]\n\
             [grpc]\nlisten = \"{}\"\n\
             [http]\nlisten = \"{}\"\n",
            self.e2, self.grpc, self.http
        )
    }

    fn cell_configuration(&self) -> String {
        let busy = "[[cell.ues]]\nbackground = { constant = 3e6 }\n";
        format!(
            "[[cell.ues]]\n{busy}{busy}\
             [[relays]]\nue = 0\ningress = \"{}\"\negress = \"{}\"\n\
             [e2]\naddress = \"{}\"\n",
            self.ingress, self.receiver, self.e2
        )
    }
}
