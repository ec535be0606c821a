//! What is done with an array besides boxes: selections by lists, growing, reductions, single items with a cache.

use crate::arrays::{DTYPE, Subject, TYPESIZE};
use crate::measure::{Effort, pair};
use crate::report::Cell;
use crate::rival::{self, Rival, Setting};
use b2nd::array::{Array, Dtype, OpenOptions, Selection};
use b2nd::{Codec, Exec};
use b2nd_interop::Outcome;
use b2nd_testkit::rng::Rng;
use std::path::Path;

const GROUP: &str = "array selections";

/// Measures one number of threads; the codec is LZ4.
pub(crate) fn run(
    rival: &Rival,
    subject: &Subject,
    threads: usize,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("theirs.b2nd");
    let setting =
        Setting { codec: Codec::Lz4.id(), clevel: 5, filter: 1, typesize: TYPESIZE as u32, threads };
    let plan = subject.plan(setting);
    drop(rival.create(&path, &plan, &subject.items)?);
    let open = OpenOptions::new().with_exec(Exec::new(threads));
    let array = Array::open_with(&path, &open)?;
    let mut other = rival.open(&path, &plan)?;
    selections(&array, &mut other, threads, effort, cells)?;
    reductions(&array, subject, threads, effort, cells)?;
    cached(&path, &array, threads, effort, cells)?;
    appends(rival, subject, setting, effort, cells)
}

/// Lists of random indices, unsorted and with repetitions.
fn lists(shape: &[u64], share: i64, rng: &mut Rng) -> Vec<Vec<i64>> {
    let list = |n: &u64| {
        let n = n.cast_signed();
        (0..(n / share).max(1)).map(|_| rng.between(0, n - 1)).collect()
    };
    shape.iter().map(list).collect()
}

fn selections(
    array: &Array,
    other: &mut rival::Array<'_>,
    threads: usize,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let mut rng = Rng::new(21);
    for (name, share) in [("orthogonal, half of each axis", 2), ("orthogonal, an eighth of each axis", 8)] {
        let lists = lists(array.shape(), share, &mut rng);
        let len = lists.iter().map(Vec::len).product::<usize>() * TYPESIZE;
        let selection = Selection::orthogonal(lists.clone());
        let (mut a, mut b) = (vec![0; len], vec![0; len]);
        array.read_bytes_into(selection.clone(), &mut a)?;
        other.read_orthogonal(&lists, &mut b)?;
        same(&a, &b, name)?;
        let ours = &mut || Ok(array.read_bytes_into(selection.clone(), &mut a)?);
        let found = pair(effort, ours, &mut || other.read_orthogonal(&lists, &mut b))?;
        cells.push(Cell::speed(GROUP, format!("lz4-5 {name}"), threads, len, found, "C-Blosc2"));
    }
    let size = array.size().cast_signed();
    for count in [100, 10_000] {
        let positions: Vec<i64> = (0..count).map(|_| rng.between(0, size - 1)).collect();
        let name = format!("lz4-5 {count} items by position");
        let len = positions.len() * TYPESIZE;
        let selection = Selection::flat(positions.clone());
        let (mut a, mut b) = (vec![0; len], vec![0; len]);
        array.read_bytes_into(selection.clone(), &mut a)?;
        other.read_flat(&positions, &mut b)?;
        same(&a, &b, &name)?;
        let ours = &mut || Ok(array.read_bytes_into(selection.clone(), &mut a)?);
        let found = pair(effort, ours, &mut || other.read_flat(&positions, &mut b))?;
        cells.push(Cell::speed(GROUP, name, threads, len, found, "C-Blosc2"));
    }
    Ok(())
}

fn same(ours: &[u8], theirs: &[u8], what: &str) -> Outcome {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: the two differ").into()) }
}

/// Sums, next to what one does without them: read everything, then add up.
fn reductions(
    array: &Array,
    subject: &Subject,
    threads: usize,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let rival = "read whole, then add";
    let nbytes = subject.items.len();
    let mut items = vec![0f32; nbytes / TYPESIZE];
    let mut push = |name: &str, found| {
        cells.push(Cell::speed("reductions", format!("lz4-5 {name}"), threads, nbytes, found, rival));
    };
    let total = |items: &mut Vec<f32>| -> Outcome<f64> {
        array.read_into::<f32>(Selection::all(), items)?;
        Ok(items.iter().map(|&v| f64::from(v)).sum())
    };
    let (sum, plain) = (f64::from(array.sum(())?.item::<f32>()?), total(&mut items)?);
    // The result of a sum of 4-byte floats is one.
    if (sum - plain).abs() > plain.abs() * 1e-6 + 1.0 {
        return Err(format!("the sum is {plain}, and not {sum}").into());
    }
    let ours = &mut || {
        std::hint::black_box(array.sum(())?);
        Ok(())
    };
    push(
        "sum",
        pair(effort, ours, &mut || {
            std::hint::black_box(total(&mut items)?);
            Ok(())
        })?,
    );
    let first = usize::try_from(array.shape()[0])?;
    let slab = items.len() / first;
    let mut columns = vec![0f64; slab];
    let mut along = |columns: &mut Vec<f64>| -> Outcome {
        array.read_into::<f32>(Selection::all(), &mut items)?;
        columns.fill(0.0);
        for slab in items.chunks_exact(slab) {
            columns.iter_mut().zip(slab).for_each(|(sum, &v)| *sum += f64::from(v));
        }
        Ok(())
    };
    along(&mut columns)?;
    let sums = array.sum(0)?.items::<f32>()?;
    if sums.iter().zip(&columns).any(|(&a, &b)| (f64::from(a) - b).abs() > b.abs() * 1e-6 + 1e-3) {
        return Err("sums along axis 0 differ".into());
    }
    let ours = &mut || {
        std::hint::black_box(array.sum(0)?);
        Ok(())
    };
    push("sum over axis 0", pair(effort, ours, &mut || along(&mut columns))?);
    Ok(())
}

/// Single items close to each other, with a cache of blocks and without.
fn cached(path: &Path, plain: &Array, threads: usize, effort: Effort, cells: &mut Vec<Cell>) -> Outcome {
    let open = OpenOptions::new().with_exec(Exec::new(threads)).with_block_cache(8 << 20);
    let array = Array::open_with(path, &open)?;
    let mut rng = Rng::new(8);
    let corner: Vec<i64> = plain.shape().iter().map(|&n| n.min(12).cast_signed() - 1).collect();
    let points: Vec<Selection> = (0..200)
        .map(|_| Selection::points(corner.iter().map(|&last| rng.between(0, last)).collect::<Vec<i64>>()))
        .collect();
    let read = |array: &Array, item: &mut [u8; TYPESIZE], check: bool| -> Outcome {
        for point in &points {
            array.read_bytes_into(point.clone(), item)?;
            if check && plain.read_bytes(point.clone())? != *item {
                return Err("the cache gives other items".into());
            }
        }
        Ok(())
    };
    let (mut a, mut b) = ([0; TYPESIZE], [0; TYPESIZE]);
    read(&array, &mut a, true)?;
    let found = pair(effort, &mut || read(&array, &mut a, false), &mut || read(plain, &mut b, false))?;
    let (name, len) = ("lz4-5 200 items of a corner, cached", points.len() * TYPESIZE);
    cells.push(Cell::speed("single items", name.into(), threads, len, found, "b2nd without a cache"));
    Ok(())
}

/// A row of chunks at once, and slab by slab, behind the first row of chunks. Both begin with a copy of one file.
fn appends(
    rival: &Rival,
    subject: &Subject,
    setting: Setting,
    effort: Effort,
    cells: &mut Vec<Cell>,
) -> Outcome {
    let folder = tempfile::tempdir()?;
    let [base, ours, theirs] = ["base", "ours", "theirs"].map(|name| folder.path().join(name));
    let slab = subject.items.len() / subject.shape[0].unsigned_abs() as usize;
    let row = subject.chunks[0].unsigned_abs() as usize;
    let (head, rest) = subject.items.split_at(row * slab);
    let row = &rest[..rest.len().min(row * slab)];
    let mut shape = subject.shape;
    shape[0] = i64::from(subject.chunks[0]);
    let plan = rival::Plan { shape: &shape, ..subject.plan(setting) };
    let unsigned = shape.map(i64::cast_unsigned);
    let mut array =
        subject.options(Codec::Lz4, setting).create(Some(&base), Dtype::parse(DTYPE)?, &unsigned)?;
    array.write_bytes(Selection::all(), head)?;
    drop(array);
    let open = OpenOptions::new().with_exec(Exec::new(setting.threads)).with_write(true);
    for (name, step) in [("a row of chunks", row.len()), ("slab by slab", slab)] {
        let run_ours = || -> Outcome {
            std::fs::copy(&base, &ours)?;
            let mut array = Array::open_with(&ours, &open)?;
            Ok(row.chunks(step).try_for_each(|items| array.append_bytes(0, items))?)
        };
        let run_theirs = || -> Outcome {
            std::fs::copy(&base, &theirs)?;
            let mut array = rival.open(&theirs, &plan)?;
            row.chunks(step).try_for_each(|items| array.append(0, items))
        };
        let found = pair(effort, &mut { run_ours }, &mut { run_theirs })?;
        for path in [&ours, &theirs] {
            let array = Array::open(path)?;
            same(&array.read_bytes(Selection::all())?, &subject.items[..head.len() + row.len()], name)?;
        }
        let name = format!("lz4-5 {name}, axis 0");
        cells.push(Cell::speed("array append", name, setting.threads, row.len(), found, "C-Blosc2"));
    }
    Ok(())
}
