//! Selections of every kind beside what they take from a naive array.

use b2nd::{Array, Axis, Error, Selection};
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::slicing::{self, Part};
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// A selection, and the indices or flat positions that it takes.
#[derive(Debug)]
pub struct Pick {
    pub selection: Selection,
    taken: Taken,
}

#[derive(Debug)]
enum Taken {
    Product(Vec<Vec<usize>>),
    Flat(Vec<usize>),
}

impl Pick {
    /// Any selection that fits this shape.
    pub fn any(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Self> {
        let kind = u.int_in_range(0u8..=9)?;
        // Points need an item to point at.
        match if shape.contains(&0) || shape.is_empty() { 0 } else { kind } {
            6 | 7 => Self::points(u, shape),
            8 => Self::flat(u, shape),
            9 => Self::mask(u, shape),
            _ => Self::axes(u, shape),
        }
    }

    /// The number of items that it takes.
    pub fn len(&self) -> usize {
        match &self.taken {
            Taken::Product(lists) => lists.iter().map(Vec::len).product(),
            Taken::Flat(positions) => positions.len(),
        }
    }

    /// What the naive array has there.
    pub fn get(&self, model: &NaiveArray) -> Vec<u8> {
        match &self.taken {
            Taken::Product(lists) => model.get(lists),
            Taken::Flat(positions) => model.get_flat(positions),
        }
    }

    /// Writes into the naive array.
    pub fn set(&self, model: &mut NaiveArray, items: &[u8]) {
        match &self.taken {
            Taken::Product(lists) => model.set(lists, items),
            Taken::Flat(positions) => model.set_flat(positions, items),
        }
    }

    /// Reads from both, which must agree.
    pub fn check(&self, array: &Array, model: &NaiveArray) {
        let read = array.read_bytes(self.selection.clone());
        if matches!(read, Err(Error::Limit { .. })) {
            // The plan of a selection counts too, and the limits are small.
            return;
        }
        assert_eq!(
            read.as_ref().ok(),
            Some(&self.get(model)),
            "{}: {:?}",
            self.selection,
            read.as_ref().err()
        );
        let shape = array.selection_shape(self.selection.clone()).expect("it was read");
        assert_eq!(shape.iter().product::<u64>(), self.len() as u64, "{}", self.selection);
    }

    fn axes(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Self> {
        let named = u.int_in_range(0..=shape.len())?;
        let behind = u.arbitrary::<bool>()?;
        let first = if behind { shape.len() - named } else { 0 };
        let (mut axes, mut lists) = (Vec::new(), Vec::new());
        if behind && named > 0 {
            axes.push(Axis::Ellipsis);
        }
        for (axis, &len) in shape.iter().enumerate() {
            if !(first..first + named).contains(&axis) {
                lists.push((0..len).collect());
                continue;
            }
            if u.ratio(1u8, 16u8)? {
                axes.push(Axis::NewAxis);
            }
            let (part, list) = one(u, len)?;
            axes.push(part);
            lists.push(list);
        }
        Ok(Pick { selection: Selection::new(axes), taken: Taken::Product(lists) })
    }

    fn points(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Self> {
        let count = u.int_in_range(0usize..=12)?;
        let mut points = Vec::new();
        let mut flat = Vec::new();
        for _ in 0..count {
            let mut at = 0;
            for &len in shape {
                let index = u.int_in_range(0..=len - 1)?;
                at = at * len + index;
                points.push(signed(u, index, len)?);
            }
            flat.push(at);
        }
        let selection = if u.arbitrary()? {
            Selection::points(points)
        } else {
            let list = |axis: usize| points.iter().skip(axis).step_by(shape.len()).copied().collect();
            Selection::coordinates((0..shape.len()).map(list).collect::<Vec<Vec<i64>>>())
        };
        Ok(Pick { selection, taken: Taken::Flat(flat) })
    }

    fn flat(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Self> {
        let len: usize = shape.iter().product();
        let (mut positions, mut flat) = (Vec::new(), Vec::new());
        for _ in 0..u.int_in_range(0usize..=12)? {
            let at = u.int_in_range(0..=len - 1)?;
            positions.push(signed(u, at, len)?);
            flat.push(at);
        }
        Ok(Pick { selection: Selection::flat(positions), taken: Taken::Flat(flat) })
    }

    fn mask(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Self> {
        let mut items = vec![false; shape.iter().product()];
        let step = u.int_in_range(1usize..=9)?;
        let from = u.int_in_range(0usize..=9)?;
        items.iter_mut().skip(from).step_by(step).for_each(|item| *item = true);
        let flat = (0..items.len()).filter(|&at| items[at]).collect();
        let own: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        Ok(Pick { selection: Selection::mask(own, items), taken: Taken::Flat(flat) })
    }
}

/// An index from the start or from the end.
fn signed(u: &mut Unstructured<'_>, index: usize, len: usize) -> Result<i64> {
    Ok(index as i64 - if u.arbitrary()? { len as i64 } else { 0 })
}

/// A part of a selection for an axis of this length.
fn one(u: &mut Unstructured<'_>, len: usize) -> Result<(Axis, Vec<usize>)> {
    match u.int_in_range(0u8..=3)? {
        0 if len > 0 => {
            let index = u.int_in_range(0..=len - 1)?;
            Ok((Axis::Index(signed(u, index, len)?), vec![index]))
        }
        1 if len > 0 => {
            let (mut list, mut indices) = (Vec::new(), Vec::new());
            for _ in 0..u.int_in_range(0usize..=8)? {
                let index = u.int_in_range(0..=len - 1)?;
                list.push(signed(u, index, len)?);
                indices.push(index);
            }
            Ok((Axis::List(list), indices))
        }
        2 => {
            let bits: u64 = u.arbitrary()?;
            let mask: Vec<bool> = (0..len).map(|n| bits >> (n % 64) & 1 == 1).collect();
            let indices = (0..len).filter(|&n| mask[n]).collect();
            Ok((Axis::Mask(mask), indices))
        }
        _ => {
            let end = |u: &mut Unstructured<'_>| -> Result<Option<i64>> {
                Ok(if u.arbitrary()? { Some(u.int_in_range(-20i64..=20)?) } else { None })
            };
            let (start, stop) = (end(u)?, end(u)?);
            let step = match u.int_in_range(-5i64..=5)? {
                0 => 1,
                step => step,
            };
            let (taken, _) = slicing::resolve(&[Part::Range(start, stop, step)], &[len as u64]);
            Ok((Axis::Range { start, stop, step }, taken[0].iter().map(|&n| n as usize).collect()))
        }
    }
}
