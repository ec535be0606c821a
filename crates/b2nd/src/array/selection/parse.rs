//! Selections from text, in NumPy's notation.

use super::{Axis, Selection};
use crate::error::Error;
use crate::error::Result;

impl Selection {
    /// Parses NumPy's notation: `10:20, :, -5, ::-1, ..., None`; brackets around it are allowed.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the part that is not understood.
    ///
    /// ```
    /// use b2nd::Selection;
    /// assert_eq!(Selection::parse("[1:, ...]")?.axes().len(), 2);
    /// assert!(Selection::parse("1:2:0").is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        let inner = trimmed.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(trimmed).trim();
        // As in Python, one comma may follow the last part; an empty text stands for everything.
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        if inner.trim().is_empty() {
            return Ok(Selection::all());
        }
        inner.split(',').map(|part| parse_part(part.trim())).collect::<Result<Vec<_>>>().map(Selection::new)
    }
}

impl std::str::FromStr for Selection {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Selection::parse(text)
    }
}

fn parse_part(part: &str) -> Result<Axis> {
    match part {
        "..." => return Ok(Axis::Ellipsis),
        "None" | "newaxis" | "np.newaxis" => return Ok(Axis::NewAxis),
        _ => {}
    }
    let unknown = || {
        Error::usage(format!(
            "cannot understand '{part}' in the slice: a part is an index (5, -1), a range (10:20, :, ::2), '...' or 'None'"
        ))
    };
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| unknown());
    let Some((start, rest)) = part.split_once(':') else {
        return number(part).map(Axis::Index);
    };
    let (stop, step) = rest.split_once(':').unwrap_or((rest, ""));
    let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
    let step = bound(step)?.unwrap_or(1);
    if step == 0 {
        return Err(Error::usage(format!(
            "the step of '{part}' is 0: a step is 1 or more, or negative to walk backwards"
        )));
    }
    Ok(Axis::Range { start: bound(start)?, stop: bound(stop)?, step })
}
