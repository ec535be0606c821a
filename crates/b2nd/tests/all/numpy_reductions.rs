//! Reductions of arrays that python-blosc2 wrote, against NumPy's and against exact arithmetic (`scripts/fixtures_reduce.py`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::array::Kind;
use b2nd::{Array, Dtype, Error, Exec, OpenOptions, Over, Reduced};

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn over(axes: &str, keep: &str) -> Over {
    let over =
        if axes == "all" { Over::all() } else { Over::axes(axes.split(',').map(|a| a.parse().unwrap())) };
    if keep == "1" { over.keeping_axes() } else { over }
}

fn run(array: &Array, op: &str, over: Over, ddof: f64) -> Result<Reduced, Error> {
    match op {
        "sum" => array.sum(over),
        "mean" => array.mean(over),
        "prod" => array.prod(over),
        "min" => array.min(over),
        "max" => array.max(over),
        "var" => array.var(over, ddof),
        "std" => array.std(over, ddof),
        "any" => array.any(over),
        "all" => array.all(over),
        _ => array.count_nan(over),
    }
}

/// The numbers of floats and complex numbers; `None` for other items.
fn floats(dtype: &Dtype, bytes: &[u8]) -> Option<Vec<f64>> {
    let part = if dtype.kind() == Kind::Complex { dtype.itemsize() / 2 } else { dtype.itemsize() };
    let part = matches!(dtype.kind(), Kind::Float | Kind::Complex).then_some(part)?;
    let number = |bytes: &[u8]| match *bytes {
        [a, b] => half::f16::from_le_bytes([a, b]).to_f64(),
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    Some(bytes.chunks_exact(part).map(number).collect())
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// What is wrong with the items, where something is.
fn compare(op: &str, dtype: &Dtype, ours: &[u8], numpy: &[u8], nearest: &[u8]) -> Option<String> {
    let (Some(ours), Some(numpy), Some(nearest)) =
        (floats(dtype, ours), floats(dtype, numpy), floats(dtype, nearest))
    else {
        return (ours != numpy).then(|| format!("{ours:x?}, not {numpy:x?}"));
    };
    let parts = if dtype.kind() == Kind::Complex { 2 } else { 1 };
    let each = ours.chunks(parts).zip(numpy.chunks(parts)).zip(nearest.chunks(parts));
    for ((ours, numpy), nearest) in each {
        let good = if op == "prod" {
            // Products are rounded at each step by everyone, and their order is nobody's promise.
            let size: f64 = numpy.iter().map(|x| x * x).sum::<f64>().sqrt();
            let digits = match dtype.itemsize() / parts {
                2 => 0.2,
                4 => 1e-4,
                _ => 1e-12,
            };
            let near = ours.iter().zip(numpy).all(|(a, b)| (a - b).abs() <= digits * size);
            near || !size.is_finite() || size == 0.0 || (dtype.itemsize() / parts == 2 && size < 1e-3)
        } else if numpy.iter().any(|x| x.is_infinite()) {
            // NumPy divides complex numbers with an infinity to NaN.
            ours.iter().zip(numpy).all(|(a, b)| !b.is_infinite() || a == b)
        } else if numpy.iter().any(|x| x.is_nan()) && nearest.iter().any(|x| x.is_nan()) {
            ours.iter().any(|x| x.is_nan())
        } else {
            // The nearest float there is, or nothing NumPy is nearer than.
            let all = ours.iter().zip(numpy).zip(nearest);
            all.clone().all(|((&a, &b), &c)| same(a, c) || (a - c).abs() <= (b - c).abs())
        };
        if !good {
            return Some(format!("{ours:?}; NumPy {numpy:?}, exactly {nearest:?}"));
        }
    }
    None
}

#[test]
fn results_are_numpys_or_nearer_to_the_truth() {
    let text = include_str!("../fixtures/reduce.txt");
    let (mut array, mut dtype, mut cases, mut wrong) = (None, "", 0, Vec::new());
    let mut exact = [0, 0];
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields.as_slice() {
            ["A", name, frame] => {
                let options = OpenOptions::new().with_exec(Exec::new(2));
                (array, dtype) = (Some(Array::from_bytes(unhex(frame), &options).unwrap()), name);
            }
            &["R", op, axes, keep, ddof, result, shape, numpy, nearest] => {
                let array = array.as_ref().unwrap();
                let found = run(array, op, over(axes, keep), ddof.parse().unwrap()).unwrap();
                let lengths: Vec<u64> = if shape == "-" {
                    Vec::new()
                } else {
                    shape.split(',').map(|n| n.parse().unwrap()).collect()
                };
                assert_eq!(
                    (found.dtype().to_text().as_str(), found.shape()),
                    (result, &lengths[..]),
                    "{dtype}: {line}"
                );
                let numpy = unhex(numpy);
                let nearest = if nearest == "=" { numpy.clone() } else { unhex(nearest) };
                if let Some(reason) = compare(op, found.dtype(), found.bytes(), &numpy, &nearest) {
                    wrong.push(format!("{op} of {dtype} over {axes}: {reason}"));
                }
                cases += 1;
                if matches!(op, "sum" | "mean" | "var" | "std") && floats(found.dtype(), &numpy).is_some() {
                    exact[0] += usize::from(found.bytes() == nearest);
                    exact[1] += 1;
                }
            }
            _ => unreachable!("{line}"),
        }
    }
    println!(
        "{cases} cases; of {} results in floats all items of {} are the nearest there are",
        exact[1], exact[0]
    );
    assert!(cases > 1000 && exact[0] * 100 > exact[1] * 80, "{cases} cases, {exact:?}");
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn what_numpy_refuses_is_refused() {
    let mut arrays: Vec<(Array, Vec<&str>)> = Vec::new();
    for line in include_str!("../fixtures/reduce.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        match *fields.as_slice() {
            ["A", _, frame] => {
                arrays.push((Array::from_bytes(unhex(frame), &OpenOptions::new()).unwrap(), Vec::new()));
            }
            ["R", op, ..] => arrays.last_mut().unwrap().1.push(op),
            _ => unreachable!("{line}"),
        }
    }
    assert!(arrays.len() > 40);
    for (array, ops) in arrays {
        for op in ["sum", "mean", "prod", "min", "max", "var", "std", "any", "all", "count_nan"] {
            let result = run(&array, op, Over::all(), 0.0);
            assert_eq!(result.is_ok(), ops.contains(&op), "{op} of {}", array.dtype());
            assert!(result.is_ok() || matches!(result, Err(Error::Usage(_))));
        }
    }
}
