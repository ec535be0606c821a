//! The model: a list of places, and every change and selection done item by item.

use crate::array::selection::{Axis, Selection};
use crate::array::view::{View, ViewMut};
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::rng::Rng;

/// The items of a view: for each, in C order, its flat position in the array.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) shape: Vec<u64>,
    pub(super) at: Vec<usize>,
}

/// One change of the axes.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Squeeze,
    SqueezeAxes(Vec<i64>),
    ExpandDims(Vec<i64>),
    Transpose,
    Permute(Vec<i64>),
}

/// The number of an axis, now and then from the end.
fn signed(axis: usize, ndim: usize, rng: &mut Rng) -> i64 {
    axis as i64 - if rng.chance(50) { ndim as i64 } else { 0 }
}

fn shuffled(count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..count).collect();
    (0..count).map(|_| rest.remove(rng.below(rest.len() as u64) as usize)).collect()
}

fn absolute(axis: i64, ndim: usize) -> usize {
    (if axis < 0 { axis + ndim as i64 } else { axis }) as usize
}

impl Model {
    pub(super) fn of(shape: &[u64]) -> Self {
        Model { shape: shape.to_vec(), at: (0..shape.iter().product::<u64>() as usize).collect() }
    }

    fn lengths(&self) -> Vec<usize> {
        self.shape.iter().map(|&n| n as usize).collect()
    }

    pub(super) fn apply(&mut self, change: &Change) {
        let ndim = self.shape.len();
        let mut axis = 0..;
        match change {
            Change::Squeeze => self.shape.retain(|&n| n != 1),
            Change::SqueezeAxes(axes) => {
                self.shape
                    .retain(|_| axis.next().is_some_and(|d| axes.iter().all(|&a| absolute(a, ndim) != d)));
            }
            Change::ExpandDims(axes) => {
                let mut new: Vec<usize> = axes.iter().map(|&a| absolute(a, ndim + axes.len())).collect();
                new.sort_unstable();
                new.into_iter().for_each(|d| self.shape.insert(d, 1));
            }
            Change::Transpose => self.permute(&(0..ndim).rev().collect::<Vec<_>>()),
            Change::Permute(axes) => {
                self.permute(&axes.iter().map(|&a| absolute(a, ndim)).collect::<Vec<_>>());
            }
        }
    }

    /// Asks for each item of the new shape where it was in the old one.
    fn permute(&mut self, axes: &[usize]) {
        let old = NaiveArray { shape: self.lengths(), itemsize: 1, data: Vec::new() };
        let shape: Vec<usize> = axes.iter().map(|&d| old.shape[d]).collect();
        let new = NaiveArray { shape, itemsize: 1, data: Vec::new() };
        let place = |position| {
            let to = new.indices(position);
            let mut from = vec![0; axes.len()];
            axes.iter().zip(&to).for_each(|(&d, &index)| from[d] = index);
            self.at[from.iter().zip(&old.shape).fold(0, |flat, (&index, &n)| flat * n + index)]
        };
        self.at = (0..self.at.len()).map(place).collect();
        self.shape = new.shape.iter().map(|&n| n as u64).collect();
    }
}

impl Change {
    pub(super) fn random(model: &Model, rng: &mut Rng) -> Self {
        let ndim = model.shape.len();
        match rng.below(6) {
            0 => Change::Squeeze,
            1 => {
                let ones = (0..ndim).filter(|&d| model.shape[d] == 1);
                let some: Vec<usize> = ones.filter(|_| rng.chance(50)).collect();
                Change::SqueezeAxes(some.into_iter().map(|d| signed(d, ndim, rng)).collect())
            }
            2 if ndim < 6 => {
                let count = 1 + rng.below(2) as usize;
                let places = shuffled(ndim + count, rng);
                Change::ExpandDims(places[..count].iter().map(|&d| signed(d, ndim + count, rng)).collect())
            }
            3 => Change::Transpose,
            _ => Change::Permute(shuffled(ndim, rng).into_iter().map(|d| signed(d, ndim, rng)).collect()),
        }
    }

    pub(super) fn of<'a>(&self, view: &View<'a>) -> View<'a> {
        match self {
            Change::Squeeze => Ok(view.squeeze()),
            Change::SqueezeAxes(axes) => view.squeeze_axes(axes),
            Change::ExpandDims(axes) => view.expand_dims(axes),
            Change::Transpose => Ok(view.transpose()),
            Change::Permute(axes) => view.permute(axes),
        }
        .unwrap()
    }

    pub(super) fn of_mut<'a>(&self, view: ViewMut<'a>) -> ViewMut<'a> {
        match self {
            Change::Squeeze => Ok(view.squeeze()),
            Change::SqueezeAxes(axes) => view.squeeze_axes(axes),
            Change::ExpandDims(axes) => view.expand_dims(axes),
            Change::Transpose => Ok(view.transpose()),
            Change::Permute(axes) => view.permute(axes),
        }
        .unwrap()
    }
}

/// What is taken along one axis, and its indices.
fn along(length: u64, rng: &mut Rng) -> (Axis, Vec<usize>) {
    let n = length as usize;
    if n == 0 || rng.chance(20) {
        return (Axis::from(..), (0..n).collect());
    }
    let first = rng.below(length) as usize;
    let step = 1 + rng.below(3) as usize;
    match rng.below(5) {
        0 => (Axis::Index(signed(first, n, rng)), vec![first]),
        1 => {
            let range = Axis::Range { start: Some(first as i64), stop: None, step: step as i64 };
            (range, (first..n).step_by(step).collect())
        }
        2 => {
            let range = Axis::Range { start: Some(first as i64), stop: None, step: -(step as i64) };
            (range, (0..=first).rev().step_by(step).collect())
        }
        3 => {
            let list: Vec<usize> = (0..rng.below(5)).map(|_| rng.below(length) as usize).collect();
            (Axis::List(list.iter().map(|&index| signed(index, n, rng)).collect()), list)
        }
        _ => {
            let mask: Vec<bool> = (0..n).map(|_| rng.chance(60)).collect();
            (Axis::Mask(mask.clone()), (0..n).filter(|&index| mask[index]).collect())
        }
    }
}

/// A random selection of any kind, and the flat positions in the array of what it takes.
pub(super) fn selection(model: &Model, rng: &mut Rng) -> (Selection, Vec<usize>) {
    let (lengths, size) = (model.lengths(), model.at.len() as u64);
    let naive = NaiveArray { shape: lengths.clone(), itemsize: 1, data: Vec::new() };
    let places: Vec<usize> =
        (0..if size == 0 { 0 } else { rng.below(6) }).map(|_| rng.below(size) as usize).collect();
    let taken = places.iter().map(|&place| model.at[place]).collect();
    let points: Vec<Vec<i64>> = places
        .iter()
        .map(|&place| naive.indices(place).iter().zip(&lengths).map(|(&i, &n)| signed(i, n, rng)).collect())
        .collect();
    match rng.below(9) {
        0 if !lengths.is_empty() => (Selection::points(points.concat()), taken),
        1 if !lengths.is_empty() => {
            let list = |d: usize| points.iter().map(|point| point[d]).collect();
            (Selection::coordinates((0..lengths.len()).map(list).collect::<Vec<Vec<i64>>>()), taken)
        }
        2 => (
            Selection::flat(places.iter().map(|&p| signed(p, size as usize, rng)).collect::<Vec<_>>()),
            taken,
        ),
        3 => {
            let mask: Vec<bool> = (0..size).map(|_| rng.chance(40)).collect();
            let taken = model.at.iter().zip(&mask).filter(|(_, taken)| **taken).map(|(&at, _)| at).collect();
            (Selection::mask(model.shape.clone(), mask), taken)
        }
        _ => {
            let (axes, indices): (Vec<Axis>, Vec<Vec<usize>>) =
                model.shape.iter().map(|&n| along(n, rng)).unzip();
            (Selection::new(axes), product(&indices, &lengths).into_iter().map(|p| model.at[p]).collect())
        }
    }
}

/// The flat positions of every combination of the indices along each axis.
fn product(indices: &[Vec<usize>], lengths: &[usize]) -> Vec<usize> {
    indices.iter().zip(lengths).fold(vec![0], |flat, (list, &n)| {
        flat.iter().flat_map(|&outer| list.iter().map(move |&index| outer * n + index)).collect()
    })
}
