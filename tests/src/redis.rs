//! Redis servers as processes, each in a folder of its own on a loopback port.

use crate::process::Process;
use crate::{PATIENCE, ports};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// Debian's packages redis-server and redis-tools have it and redis-cli; tests/run installs them.
const SERVER: &str = "redis-server";
/// Between two looks at what a server has: it does not tell when that changes.
const LOOK: Duration = Duration::from_millis(20);

/// Whether tests with Redis are wanted. `CANTOR_SKIP_REDIS=1` leaves them out, and each says so.
pub fn wanted(test: &str) -> bool {
    let skip = std::env::var("CANTOR_SKIP_REDIS").is_ok_and(|value| value == "1");
    if skip {
        // Past the test harness, which keeps what passing tests print.
        let _ = writeln!(std::io::stderr(), "{test}: left out by CANTOR_SKIP_REDIS=1");
    }
    !skip
}

/// A server that keeps nothing on disk.
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    address: SocketAddr,
    arguments: Vec<String>,
    process: Option<Process>,
}

impl RedisServer {
    /// Starts a server, and waits until it serves.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts one with further arguments.
    ///
    /// # Panics
    /// When there is no `redis-server`.
    pub async fn with(arguments: &[&str]) -> Self {
        let mut server = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            address: ports::free(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            process: None,
        };
        server.come_back().await;
        server
    }

    /// Starts it again, empty, at the same address.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn come_back(&mut self) {
        let folder = self.folder.path().display().to_string();
        let port = self.address.port().to_string();
        let mut arguments = vec!["--bind", "127.0.0.1", "--port", &port, "--dir", &folder];
        arguments.extend([
            "--save",
            "",
            "--appendonly",
            "no",
            "--repl-diskless-sync-delay",
            "0",
        ]);
        arguments.extend(self.arguments.iter().map(String::as_str));
        let mut process = Process::program(Path::new(SERVER), arguments);
        process.line("Ready to accept connections").await;
        self.process = Some(process);
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Sends it a signal, e.g. `STOP`.
    ///
    /// # Panics
    /// When it does not run.
    pub fn signal(&self, name: &str) {
        self.process.as_ref().expect("it runs").signal(name);
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a setting.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// What it answers to a command.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn ask(&self, command: &[&str]) -> String {
        let output = Command::new("redis-cli")
            .args(["-p", &self.address.port().to_string(), "--raw"])
            .args(command)
            .output()
            .expect("redis-cli can be started");
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Waits until its answer to a command is `wanted`, and gives it.
    ///
    /// # Panics
    /// When patience ends.
    pub async fn answers(&self, command: &[&str], wanted: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let answer = self.ask(command);
            if wanted(&answer) {
                return answer;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{command:?} was answered by {answer:?} to the end"
            );
            sleep(LOOK).await;
        }
    }
}

/// A Sentinel that watches one master.
#[derive(Debug)]
pub struct Sentinel {
    _folder: TempDir,
    address: SocketAddr,
    process: Process,
}

impl Sentinel {
    /// Starts a Sentinel that is quick to give a master up, and waits until it knows the master's one replica.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn start(master: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let address = ports::free();
        let (ip, port) = (master.ip(), master.port());
        let configuration = format!(
            "bind 127.0.0.1\nport {}\n\
             sentinel monitor cantor {ip} {port} 1\n\
             sentinel down-after-milliseconds cantor 500\n\
             sentinel failover-timeout cantor 5000\n",
            address.port()
        );
        let file = folder.path().join("sentinel.conf");
        std::fs::write(&file, configuration).expect("a file");
        let file = file.display().to_string();
        let mut process = Process::program(Path::new(SERVER), [file.as_str(), "--sentinel"]);
        process.line("+slave").await;
        Self {
            _folder: folder,
            address,
            process,
        }
    }

    /// The master as a setting.
    pub fn url(&self) -> String {
        format!("redis-sentinel://{}/cantor", self.address)
    }

    /// Waits until another server is the master.
    pub async fn switched(&mut self) {
        self.process.line("+switch-master").await;
    }
}
