//! Words to lines: brackets, indents, line breaks and the dots of a summary.
//!
//! Knows the texts of the items, and nothing of what they mean.

use crate::text::edges::is_summarised;
use crate::text::{LINE_WIDTH, Style, shown};

const DOTS: &str = "...";

/// The text of an array of `shape` whose shown items have the texts `words`, in C order.
pub(super) fn lay_out(shape: &[u64], words: &[String], style: Style) -> String {
    let mut layout =
        Layout { summarised: is_summarised(shape, style), words: words.iter(), out: String::new() };
    layout.axis(shape, 0);
    layout.out
}

struct Layout<'w> {
    summarised: bool,
    words: std::slice::Iter<'w, String>,
    out: String,
}

impl Layout<'_> {
    fn axis(&mut self, shape: &[u64], depth: usize) {
        let Some((&len, inner)) = shape.split_first() else { return };
        let ranges = shown(self.summarised, len);
        let counts: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        self.out.push('[');
        if inner.is_empty() {
            self.row(&counts, depth);
        } else {
            self.rows(&counts, inner, depth);
        }
        self.out.push(']');
    }

    /// Everything but the last axis: sub-arrays on lines of their own, with blank lines between planes.
    fn rows(&mut self, counts: &[u64], inner: &[u64], depth: usize) {
        let break_and_indent = format!("{}{}", "\n".repeat(inner.len()), " ".repeat(depth + 1));
        for (part, &count) in counts.iter().enumerate() {
            if part > 0 {
                self.out.push_str(&break_and_indent);
                self.out.push_str(DOTS);
            }
            for n in 0..count {
                if part > 0 || n > 0 {
                    self.out.push_str(&break_and_indent);
                }
                self.axis(inner, depth + 1);
            }
        }
    }

    /// The last axis: words on as few lines as hold them.
    fn row(&mut self, counts: &[u64], depth: usize) {
        // One column for the closing bracket of each axis, and one for the separator or bracket after the word.
        let width = LINE_WIDTH.saturating_sub(depth + 1);
        let mut line = Line { indent: depth + 1, columns: depth + 1, text: String::new(), width };
        for (part, &count) in counts.iter().enumerate() {
            if part > 0 {
                line.separator();
                line.word(DOTS, &mut self.out);
            }
            for n in 0..count {
                if part > 0 || n > 0 {
                    line.separator();
                }
                if let Some(word) = self.words.next() {
                    line.word(word, &mut self.out);
                }
            }
        }
        self.out.push_str(&line.text);
    }
}

/// The line that is being filled. The indent of the first one stands in the output already.
struct Line {
    indent: usize,
    columns: usize,
    text: String,
    width: usize,
}

impl Line {
    fn separator(&mut self) {
        self.text.push(' ');
        self.columns += 1;
    }

    fn word(&mut self, word: &str, out: &mut String) {
        let columns = word.chars().count();
        // A break helps only where something stands on the line.
        if self.columns + columns > self.width && self.columns > self.indent {
            out.push_str(self.text.trim_end());
            out.push('\n');
            self.text = " ".repeat(self.indent);
            self.columns = self.indent;
        }
        self.text.push_str(word);
        self.columns += columns;
    }
}
