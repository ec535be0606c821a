//! Selections from text, in NumPy's notation.

use super::{Axis, Selection};
use crate::error::Error;
use crate::error::Result;

impl Selection {
    /// Parses what NumPy takes between brackets: `10:20, :, -5, ::-1, [3, 1], [True, False], ..., None`.
    ///
    /// `[3, 1]` is a list along the first axis, as in NumPy's `a[[3, 1]]`; without brackets `3, 1` is two indices. The
    /// outer brackets may be there where they cannot be a list: `[1:, ...]`, `[[3, 1], 0]`.
    ///
    /// # Errors
    /// [`Error::Syntax`] that names the part that is not understood.
    ///
    /// ```
    /// use b2nd::Selection;
    /// assert_eq!(Selection::parse("[1:, ...]")?.to_string(), "1:, ...");
    /// assert_eq!(Selection::parse("[3, 1]")?, b2nd::s![[3, 1]]);
    /// assert!(Selection::parse("1:2:0").is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let inner = match enclosed(text) {
            Some(inner) => match parse_list(text, inner) {
                Ok(list) => return Ok(Selection::new([list])),
                Err(_) => inner.trim(),
            },
            None => text,
        };
        // As in Python, one comma may follow the last part; an empty text stands for everything.
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        if inner.trim().is_empty() {
            return Ok(Selection::all());
        }
        // A comma inside brackets does not part.
        let mut depth = 0usize;
        let parts = inner.split(move |c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        parts.map(|part| parse_part(part.trim())).collect::<Result<Vec<_>>>().map(Selection::new)
    }
}

impl std::str::FromStr for Selection {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Selection::parse(text)
    }
}

/// The text between the brackets around all of it: where its first bracket is the one that its last closes.
fn enclosed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut depth = 0i64;
    let closed = inner.chars().any(|c| {
        depth += i64::from(c == '[') - i64::from(c == ']');
        depth < 0
    });
    (!closed).then_some(inner)
}

fn parse_list(part: &str, inner: &str) -> Result<Axis> {
    let inner = inner.trim();
    let entries = || inner.strip_suffix(',').unwrap_or(inner).split(',').map(str::trim);
    if inner.is_empty() {
        return Ok(Axis::List(Vec::new()));
    }
    let mask = |entry| match entry {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    };
    if let Some(mask) = entries().map(mask).collect() {
        return Ok(Axis::Mask(mask));
    }
    entries().map(str::parse).collect::<Result<_, _>>().map(Axis::List).map_err(|_| {
        Error::syntax(
            part,
            format!("cannot understand '{part}' in the slice: a list holds indices, or True and False"),
        )
    })
}

fn parse_part(part: &str) -> Result<Axis> {
    match part {
        "..." => return Ok(Axis::Ellipsis),
        "None" | "newaxis" | "np.newaxis" => return Ok(Axis::NewAxis),
        _ => {}
    }
    if let Some(inner) = part.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return parse_list(part, inner);
    }
    let unknown = || {
        Error::syntax(
            part,
            format!(
                "cannot understand '{part}' in the slice: a part is an index (5, -1), a range (10:20, :, ::2), a list ([3, 1]), '...' or 'None'"
            ),
        )
    };
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| unknown());
    let Some((start, rest)) = part.split_once(':') else {
        return number(part).map(Axis::Index);
    };
    let (stop, step) = rest.split_once(':').unwrap_or((rest, ""));
    let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
    let step = bound(step)?.unwrap_or(1);
    if step == 0 {
        return Err(Error::syntax(
            part,
            format!("the step of '{part}' is 0: a step is 1 or more, or negative to walk backwards"),
        ));
    }
    Ok(Axis::Range { start: bound(start)?, stop: bound(stop)?, step })
}
