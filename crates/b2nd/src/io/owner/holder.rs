//! The holder of an owner lock: what the owner file records, and whether that process has ended.

use crate::error::Holder;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// The first line of every owner file. A file that begins otherwise is never overwritten.
const TITLE: &str = "b2nd owner lock";

/// The most bytes of an owner file that are read.
pub(super) const MOST: u64 = 4096;

/// The contents of an owner file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) holder: Holder,
    /// The scope of process ids: on Linux the pid namespace, because each container has its own.
    space: String,
}

impl Record {
    /// The record of this process, now.
    pub(super) fn own() -> Self {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(|path| path.file_name());
        let holder = Holder {
            process: std::process::id(),
            host: one_line(&host()),
            program: one_line(&program.map(|name| name.to_string_lossy()).unwrap_or_default()),
            since: timestamp(SystemTime::now()),
        };
        Record { holder, space: one_line(&space()) }
    }
    pub(super) fn to_text(&self) -> String {
        let Holder { process, host, program, since } = &self.holder;
        let mut text = format!("{TITLE}\nprocess {process}\n");
        for (key, value) in [("host", host), ("program", program), ("since", since), ("space", &self.space)] {
            if !value.is_empty() {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{key} {value}");
            }
        }
        text
    }
    /// Parses a record; `None` if the text is none, or incomplete.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut lines = text.lines();
        lines.next().filter(|line| *line == TITLE)?;
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(' ')).collect();
        let field = |key: &str| {
            let found = fields.iter().find(|(name, _)| *name == key);
            one_line(found.map(|(_, value)| *value).unwrap_or_default())
        };
        let process = field("process").parse().ok()?;
        let (host, program, since) = (field("host"), field("program"), field("since"));
        Some(Record { holder: Holder { process, host, program, since }, space: field("space") })
    }
    /// Whether a file may be overwritten: it begins with [`TITLE`], or a power cut has left only zeros of it.
    pub(super) fn is_ours(text: &[u8]) -> bool {
        let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
        let text = text.get(..end).unwrap_or_default();
        let len = text.len().min(TITLE.len());
        text.get(..len) == TITLE.as_bytes().get(..len)
    }
    /// Whether the process is known to have ended: its id belongs to our scope, and no process has it now.
    pub(super) fn is_gone(&self) -> bool {
        let own = Record::own();
        let same_place = self.holder.host == own.holder.host && self.space == own.space;
        same_place
            && !self.space.is_empty()
            && self.holder.process != own.holder.process
            && !is_running(self.holder.process)
    }
}

/// Whether a process with this id may be running.
#[cfg(unix)]
pub(in crate::io) fn is_running(process: u32) -> bool {
    let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // "Permission denied" means that the process exists and belongs to another user.
    number.is_none_or(|number| rustix::process::test_kill_process(number) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
pub(in crate::io) fn is_running(_process: u32) -> bool {
    true
}

/// Makes a name fit one line of a file or message: no line breaks, limited length.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(255).collect()
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    String::new()
}

#[cfg(target_os = "linux")]
fn space() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid");
    link.map(|link| link.to_string_lossy().into_owned()).unwrap_or_default()
}

/// On other systems process ids are unique on the whole machine.
#[cfg(not(target_os = "linux"))]
fn space() -> String {
    "machine".to_owned()
}

/// A moment in UTC, as in `2026-11-21T20:40:12Z`.
fn timestamp(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Counts years from March, in cycles of 400, so that a leap day is the last day of its year.
    let day = days + 719_468;
    let (cycle, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (cycle * 400 + year + u64::from(month >= 10), (month + 2) % 12 + 1);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_078_099_200, "2004-03-01T00:00:00Z"),
            (1_795_293_612, "2026-11-21T20:40:12Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let own = Record::own();
        assert_eq!(Record::parse(own.to_text().as_bytes()), Some(own.clone()));
        assert!(!own.is_gone(), "it is us");
        assert!(
            Record::is_ours(b"") && Record::is_ours(b"b2nd ow") && Record::is_ours(own.to_text().as_bytes())
        );
        assert!(!Record::is_ours(b"a diary"));
        assert!(Record::is_ours(&[0; 150]) && Record::is_ours(b"b2nd\0\0\0"), "torn by a power cut");
        assert!(!Record::is_ours(b"\0\0b2nd") && !Record::is_ours(b"b2frame\0"));
        for text in [&b""[..], b"b2nd owner lock", b"b2nd owner lock\nprocess x", b"\xff", b"process 3\n"] {
            assert_eq!(Record::parse(text), None);
        }
        let hostile = Record::parse(b"b2nd owner lock\nprocess 7\nhost a\x1b[2Jb\n").unwrap();
        assert_eq!(hostile.holder.host, "a [2Jb", "no control characters reach a terminal");
    }

    #[test]
    fn who_counts_elsewhere_is_never_taken_for_gone() {
        let own = Record::own();
        let holder = Holder { process: 0x7fff_fff0, ..own.holder.clone() };
        let gone = Record { holder, ..own.clone() };
        assert_eq!(gone.is_gone(), cfg!(unix), "no process has such a number");
        let elsewhere = Holder { host: "elsewhere".to_owned(), ..gone.holder.clone() };
        assert!(!Record { holder: elsewhere, ..gone.clone() }.is_gone());
        assert!(!Record { space: "pid:[1]".to_owned(), ..gone.clone() }.is_gone());
        assert!(!Record { space: String::new(), ..gone }.is_gone());
    }
}
