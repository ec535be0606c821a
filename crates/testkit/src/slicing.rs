//! NumPy's basic indexing done item by item: slow, and with nothing in common with the library's own way.

/// One part of a selection: an index, a range, a new axis or the ellipsis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// One index; the axis goes.
    Index(i64),
    /// `start:stop:step`.
    Range(Option<i64>, Option<i64>, i64),
    /// An axis of length 1.
    NewAxis,
    /// The axes that are left over, whole.
    Ellipsis,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = |v: Option<i64>| v.map_or(String::new(), |v| v.to_string());
        match *self {
            Part::Index(i) => write!(f, "{i}"),
            Part::Range(a, b, 1) => write!(f, "{}:{}", end(a), end(b)),
            Part::Range(a, b, step) => write!(f, "{}:{}:{step}", end(a), end(b)),
            Part::NewAxis => f.write_str("None"),
            Part::Ellipsis => f.write_str("..."),
        }
    }
}

/// The selection in NumPy's notation.
pub fn text(parts: &[Part]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The indices that a range takes from an axis.
fn indices(start: Option<i64>, stop: Option<i64>, step: i64, len: i64) -> Vec<i64> {
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let place = |v: i64| (if v < 0 { v + len } else { v }).clamp(low, high);
    let mut at = start.map_or(if step > 0 { low } else { high }, place);
    let stop = stop.map_or(if step > 0 { high } else { low }, place);
    let mut out = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        out.push(at);
        at += step;
    }
    out
}

/// The indices taken along every axis of the array, and the shape of the result.
pub fn resolve(parts: &[Part], shape: &[u64]) -> (Vec<Vec<i64>>, Vec<u64>) {
    let named = parts.iter().filter(|p| matches!(p, Part::Index(_) | Part::Range(..))).count();
    let mut parts = parts.to_vec();
    if !parts.contains(&Part::Ellipsis) {
        parts.push(Part::Ellipsis);
    }
    let (mut taken, mut result) = (Vec::new(), Vec::new());
    for part in parts {
        let len = shape.get(taken.len()).map_or(0, |&n| n as i64);
        match part {
            Part::Index(i) => taken.push(vec![if i < 0 { i + len } else { i }]),
            Part::Range(a, b, step) => {
                taken.push(indices(a, b, step, len));
                result.push(taken.last().map_or(0, |t| t.len() as u64));
            }
            Part::NewAxis => result.push(1),
            Part::Ellipsis => {
                for _ in 0..shape.len() - named {
                    let len = shape[taken.len()];
                    taken.push((0..len as i64).collect());
                    result.push(len);
                }
            }
        }
    }
    (taken, result)
}

/// Byte positions, item by item, of a selection in an array of this shape, C order.
pub fn positions(taken: &[Vec<i64>], shape: &[u64], itemsize: usize) -> Vec<usize> {
    let mut out = vec![0usize];
    for (axis, &len) in taken.iter().zip(shape) {
        out = out.iter().flat_map(|&at| axis.iter().map(move |&i| at * len as usize + i as usize)).collect();
    }
    out.iter().map(|at| at * itemsize).collect()
}

/// The selected items, C order, and their shape.
pub fn read(parts: &[Part], shape: &[u64], itemsize: usize, data: &[u8]) -> (Vec<u8>, Vec<u64>) {
    let (taken, result) = resolve(parts, shape);
    let places = positions(&taken, shape, itemsize);
    (places.iter().flat_map(|&at| data[at..at + itemsize].iter().copied()).collect(), result)
}

/// Puts items, C order, into the selected places.
pub fn write(parts: &[Part], shape: &[u64], itemsize: usize, data: &mut [u8], items: &[u8]) {
    let (taken, _) = resolve(parts, shape);
    for (at, item) in positions(&taken, shape, itemsize).into_iter().zip(items.chunks_exact(itemsize)) {
        data[at..at + itemsize].copy_from_slice(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_numpy_slices() {
        let data: Vec<u8> = (0..24).collect();
        let (got, shape) = read(&[Part::Index(-1), Part::Range(None, None, -2)], &[2, 3, 4], 1, &data);
        assert_eq!((got, shape), (vec![20, 21, 22, 23, 12, 13, 14, 15], vec![2, 4]));
        let (got, shape) =
            read(&[Part::Ellipsis, Part::NewAxis, Part::Range(Some(-9), Some(2), 1)], &[2, 3], 4, &data);
        assert_eq!(shape, [2, 1, 2]);
        assert_eq!(got, [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19]);
        assert_eq!(text(&[Part::Index(3), Part::Range(Some(1), None, 2), Part::Ellipsis]), "3, 1::2, ...");
        assert_eq!(read(&[], &[], 1, &[9]), (vec![9], vec![]));
        assert!(read(&[Part::Range(Some(5), Some(2), 1)], &[9], 1, &data).0.is_empty());
    }

    #[test]
    fn what_was_written_is_read() {
        let parts = [Part::Range(Some(1), None, 2), Part::Index(0)];
        let mut data = vec![0u8; 20];
        write(&parts, &[5, 2], 2, &mut data, &[1, 2, 3, 4]);
        assert_eq!(read(&parts, &[5, 2], 2, &data).0, [1, 2, 3, 4]);
        assert_eq!(data.iter().filter(|&&b| b != 0).count(), 4);
    }
}
