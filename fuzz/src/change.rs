//! Changes of an array, each made to a naive array as well.

use crate::pick::Pick;
use b2nd::{Fill, Resize, Transaction};
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// No axis grows by more than this at once.
const MOST: usize = 6;

/// Any change of the array behind a transaction; the model follows where it succeeds.
pub fn any(
    u: &mut Unstructured<'_>,
    transaction: &mut Transaction<'_>,
    model: &mut NaiveArray,
) -> Result<b2nd::Result<()>> {
    let kind = u.int_in_range(0u8..=6)?;
    // An array without axes has one item for ever.
    match if model.shape.is_empty() { kind % 2 } else { kind } {
        0 => write(u, transaction, model),
        1 => fill(u, transaction, model),
        2 => resize(u, transaction, model),
        3 | 4 => insert(u, transaction, model, kind == 3),
        _ => delete(u, transaction, model),
    }
}

/// A change whose items all come from the caller: no fills, and no room for them.
pub fn given(
    u: &mut Unstructured<'_>,
    transaction: &mut Transaction<'_>,
    model: &mut NaiveArray,
) -> Result<b2nd::Result<()>> {
    let kind = u.int_in_range(0u8..=4)?;
    match if model.shape.is_empty() { 0 } else { kind } {
        0 | 1 => write(u, transaction, model),
        2 | 3 => insert(u, transaction, model, kind == 3),
        _ => delete(u, transaction, model),
    }
}

fn items(u: &mut Unstructured<'_>, count: usize, itemsize: usize) -> Result<Vec<u8>> {
    let (first, step): (u8, u8) = u.arbitrary()?;
    Ok((0..count * itemsize).map(|n| first.wrapping_add((n as u8).wrapping_mul(step))).collect())
}

fn write(
    u: &mut Unstructured<'_>,
    to: &mut Transaction<'_>,
    model: &mut NaiveArray,
) -> Result<b2nd::Result<()>> {
    let pick = Pick::any(u, &model.shape)?;
    let items = items(u, pick.len(), model.itemsize)?;
    Ok(to.write_bytes(pick.selection.clone(), &items).map(|()| pick.set(model, &items)))
}

fn fill(
    u: &mut Unstructured<'_>,
    to: &mut Transaction<'_>,
    model: &mut NaiveArray,
) -> Result<b2nd::Result<()>> {
    let pick = Pick::any(u, &model.shape)?;
    let item = items(u, 1, model.itemsize)?;
    let done = to.fill_bytes(pick.selection.clone(), &item);
    Ok(done.map(|()| pick.set(model, &item.repeat(pick.len()))))
}

fn resize(
    u: &mut Unstructured<'_>,
    to: &mut Transaction<'_>,
    model: &mut NaiveArray,
) -> Result<b2nd::Result<()>> {
    let mut shape = Vec::new();
    let mut starts = Vec::new();
    for &old in &model.shape {
        let new = if u.arbitrary()? { old } else { u.int_in_range(old.saturating_sub(MOST)..=old + MOST)? };
        shape.push(new);
        let kept = old - old.saturating_sub(new);
        starts.push(u.int_in_range(0..=kept)?);
    }
    let item = items(u, 1, model.itemsize)?;
    let mut resize = Resize::to(shape.iter().map(|&n| n as u64).collect::<Vec<_>>());
    let fill = if u.arbitrary()? { Some(item) } else { None };
    if let Some(item) = &fill {
        resize = resize.with_fill(Fill::Value(item.clone()));
    }
    let item = fill.unwrap_or_else(|| vec![0; model.itemsize]);
    if u.arbitrary()? {
        resize = resize.with_starts(starts.iter().map(|&n| n as u64).collect::<Vec<_>>());
    } else {
        starts = model.shape.iter().zip(&shape).map(|(old, new)| *old.min(new)).collect();
    }
    Ok(to.resize(resize).map(|()| {
        for (axis, (&new, &start)) in shape.iter().zip(&starts).enumerate() {
            let old = model.shape[axis];
            let removed = start..start + old.saturating_sub(new);
            model.splice(axis, removed, new.saturating_sub(old), |_| item.clone());
        }
    }))
}

fn insert(
    u: &mut Unstructured<'_>,
    to: &mut Transaction<'_>,
    model: &mut NaiveArray,
    behind: bool,
) -> Result<b2nd::Result<()>> {
    let axis = u.int_in_range(0..=model.shape.len() - 1)?;
    let index = u.int_in_range(0..=model.shape[axis])?;
    let mut shape = model.shape.clone();
    shape[axis] = u.int_in_range(0..=MOST)?;
    // Slabs without items cannot be counted: nothing is inserted. Nor is it where an array without items is long elsewhere.
    let bytes = shape.iter().fold(model.itemsize, |n, &len| n.saturating_mul(len));
    if bytes == 0 || bytes > 1 << 16 {
        shape[axis] = 0;
    }
    let data = items(u, shape.iter().product(), model.itemsize)?;
    let new = NaiveArray { shape, itemsize: model.itemsize, data };
    let at = if behind { model.shape[axis] } else { index };
    let done = if behind {
        to.append_bytes(axis, &new.data)
    } else {
        to.insert_bytes(axis, index as u64, &new.data)
    };
    Ok(done.map(|()| model.splice(axis, at..at, new.shape[axis], |at| new.item(at).to_vec())))
}

fn delete(
    u: &mut Unstructured<'_>,
    to: &mut Transaction<'_>,
    model: &mut NaiveArray,
) -> Result<b2nd::Result<()>> {
    let axis = u.int_in_range(0..=model.shape.len() - 1)?;
    let start = u.int_in_range(0..=model.shape[axis])?;
    let stop = u.int_in_range(start..=model.shape[axis].min(start + MOST))?;
    let done = to.delete(axis, start as u64..stop as u64);
    Ok(done.map(|()| model.splice(axis, start..stop, 0, |_| Vec::new())))
}
