//! Finds a Python that has `blosc2`, and runs the scripts of `python/` with it.

use crate::Outcome;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An interpreter, and the script that it runs.
#[derive(Debug, Clone)]
pub struct Python {
    program: PathBuf,
    script: PathBuf,
    /// Versions of blosc2, numpy and C-Blosc2.
    pub versions: String,
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `B2ND_PYTHON`, else the `.venv` of the workspace, else `python3`; the first that can import `blosc2`.
///
/// `Ok(None)` with a visible message where there is none; an error instead where the tests are demanded.
pub fn find() -> Outcome<Option<Python>> {
    find_for("matrix.py", "blosc2")
}

/// As [`find`], for the script of `python/` of this name, which imports `package` and has a verb `versions`.
pub fn find_for(script: &'static str, package: &str) -> Outcome<Option<Python>> {
    let asked = std::env::var_os("B2ND_PYTHON").map(PathBuf::from);
    let venv = workspace().join(".venv/bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(script);
    for program in asked.into_iter().chain([venv, PathBuf::from("python3")]) {
        let probe = Command::new(&program).arg(&script).arg("versions").output();
        if let Ok(output) = probe
            && output.status.success()
        {
            let versions = String::from_utf8_lossy(&output.stdout).trim().to_string();
            return Ok(Some(Python { program, script, versions }));
        }
    }
    let demanded = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    let message = format!("no Python with {package}: run scripts/setup-python.sh, or set B2ND_PYTHON");
    if demanded("CI", "true") || demanded("B2ND_REQUIRE_INTEROP", "1") {
        return Err(message.into());
    }
    eprintln!("SKIPPED: {message}");
    Ok(None)
}

impl Python {
    /// Starts the script with these arguments.
    pub fn start<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Outcome<Child> {
        let mut command = Command::new(&self.program);
        command.arg(&self.script).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command.spawn()?)
    }
    /// Runs a verb over `count` cases in two processes, and gives what they say on standard error; the number of cases
    /// done must be `count`.
    pub fn run_halves(&self, verb: &str, folder: &Path, seed: u64, count: u64) -> Outcome {
        let half = count / 2;
        let mut children = Vec::new();
        for (start, count) in [(0, half), (half, count - half)] {
            let numbers = [seed, start, count].map(|n| n.to_string());
            let folder = folder.to_str().ok_or("path is not UTF-8")?;
            let options = ["--seed", &numbers[0], "--start", &numbers[1], "--count", &numbers[2]];
            children.push(self.start([verb, folder].into_iter().chain(options))?);
        }
        let (mut done, mut complaints) = (0, String::new());
        for child in children {
            let output = child.wait_with_output()?;
            let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            done += summary["done"].as_u64().unwrap_or(0);
            complaints += &String::from_utf8_lossy(&output.stderr);
        }
        let shown: Vec<&str> = complaints.lines().take(30).collect();
        if done == count {
            Ok(())
        } else {
            Err(format!("{done} of {count} cases\n{}", shown.join("\n")).into())
        }
    }
    /// A process that answers commands.
    pub fn serve(&self) -> Outcome<Server> {
        let mut command = Command::new(&self.program);
        command.arg(&self.script).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Server { child, input: Some(input), output })
    }
    /// The interpreter.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// A Python process that answers one command a line.
#[derive(Debug)]
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Sends a command and waits for the answer.
    pub fn ask(&mut self, command: &serde_json::Value) -> Outcome<serde_json::Value> {
        let input = self.input.as_mut().ok_or("closed")?;
        writeln!(input, "{command}")?;
        input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let answer: serde_json::Value = serde_json::from_str(&line)?;
        match answer.get("error") {
            Some(error) => Err(format!("python: {error} for {command}").into()),
            None => Ok(answer),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        // Its input is closed: it ends by itself. Nothing could be done about a failure here.
        let _ = self.child.wait();
    }
}
