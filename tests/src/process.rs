//! The project's binaries, and other programs, as processes.

use crate::record::Record;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

/// A process and all lines that it wrote. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    lines: Record<String>,
    /// Lines that [`Process::line`] has passed.
    passed: usize,
}

impl Process {
    /// Starts one of the project's binaries.
    ///
    /// # Panics
    /// When it was not built, or cannot be started.
    pub fn start(binary: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        Self::program(&path(binary), arguments)
    }

    /// Starts any program.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn program(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let mut child = Command::new(program)
            .args(arguments)
            .env_remove("RUST_LOG")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        let (recorder, lines) = Record::new();
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        for pipe in outputs.into_iter().flatten() {
            let recorder = recorder.clone();
            thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    recorder.add(line);
                }
            });
        }
        Self {
            name: name.into_owned(),
            child,
            lines,
            passed: 0,
        }
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// All lines so far, of standard output and standard error.
    pub fn lines(&self) -> &Record<String> {
        &self.lines
    }

    /// The next line with this text, after the one that was returned last; waits for it.
    ///
    /// # Panics
    /// When the process ends before.
    pub async fn line(&mut self, text: &str) -> String {
        let what = format!("a line of {} with {text:?}", self.name);
        let wanted = |line: &String| line.contains(text);
        let (at, line) = self.lines.find(&what, self.passed, wanted).await;
        self.passed = at + 1;
        line
    }

    /// Ends it at once (SIGKILL).
    pub fn kill(&mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process can be waited for");
    }

    /// Sends a signal by its name, e.g. `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "{} cannot be sent SIG{name}",
            self.name
        );
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> ExitStatus {
        self.lines.ended().await;
        self.child.wait().expect("the process can be waited for")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- {} ({}) wrote:", self.name, self.id());
            for line in self.lines.entries() {
                eprintln!("{line}");
            }
        }
    }
}

/// Binaries lie beside the folder of the test executables.
fn path(binary: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(|deps| deps.parent());
    let path = folder.expect("a target folder").join(binary);
    assert!(
        path.exists(),
        "{} is not there: run `cargo build --workspace --bins` first, as tests/run does",
        path.display()
    );
    path
}
