//! Where and with what a run was made.

use std::process::Command;

/// The processor, as the system calls it.
pub(crate) fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split_once(": "));
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().find_map(|l| l.strip_prefix("MemTotal:")).map(str::trim);
    let kilobytes: Option<u64> = memory.and_then(|m| m.trim_end_matches(" kB").parse().ok());
    let name = model.map_or("unknown processor", |(_, name)| name);
    let memory = kilobytes.map(|k| format!(", {} GiB", k >> 20)).unwrap_or_default();
    format!("{name}, {} processors{memory}, {}", processors(), std::env::consts::ARCH)
}

/// Processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The commit of the sources that this program was built from, with a mark where they are changed.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
        output.status.success().then_some(text)
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".into() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|text| !text.is_empty());
    if changed { commit + "+" } else { commit }
}

/// The most memory, in bytes, that this process ever held; `None` where the system does not tell.
pub(crate) fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse::<usize>().ok().map(|n| n * 1024)
}

/// Memory, in bytes, that can be had; `None` where the system does not tell.
pub(crate) fn available_memory() -> Option<u64> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    available.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|n| n * 1024)
}

/// Bytes that this process had read from disks; `None` where the system does not tell.
pub(crate) fn disk_reads() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    io.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}
