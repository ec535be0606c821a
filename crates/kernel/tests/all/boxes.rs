//! Boxes against an index-by-index oracle on random shapes, cuts and strides, and their refusals.

use b2nd_kernel::boxes::{Along, BoxGrid, Listed, MAX_AXES, Source, copy_box, copy_listed, swap_bytes};

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// All indices of a box, row-major.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &n| {
        all.iter().flat_map(|head| (0..n).map(move |i| [&head[..], &[i]].concat())).collect()
    })
}

fn at(index: &[usize], strides: &[isize], offset: isize) -> isize {
    offset + index.iter().zip(strides).map(|(&i, &s)| i as isize * s).sum::<isize>()
}

fn c_strides(shape: &[usize], itemsize: usize) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut step = itemsize as isize;
    for d in (0..shape.len()).rev() {
        strides[d] = step;
        step *= shape[d] as isize;
    }
    strides
}

/// Strides of a random view of a box of `shape`, with its offset and the length that just holds it.
fn random_view(rng: &mut Rng, shape: &[usize], itemsize: usize) -> (Vec<isize>, usize, usize) {
    let padded: Vec<usize> =
        shape.iter().map(|n| n + if rng.below(2) == 0 { 0 } else { rng.below(3) }).collect();
    let mut strides = c_strides(&padded, itemsize);
    if rng.below(3) == 0 && shape.len() > 1 {
        // A transposed view: two axes trade places in memory.
        let mut swapped = padded.clone();
        swapped.swap(0, shape.len() - 1);
        strides = c_strides(&swapped, itemsize);
        strides.swap(0, shape.len() - 1);
    }
    for stride in &mut strides {
        match rng.below(8) {
            0 => *stride = 0,
            1 | 2 => *stride = -*stride,
            _ => {}
        }
    }
    let reach = |keep: fn(isize) -> bool| -> isize {
        let reaches = shape.iter().zip(&strides).map(|(&n, &s)| (n as isize - 1) * s);
        reaches.filter(|&r| keep(r)).sum()
    };
    let offset = -reach(|r| r < 0);
    let len = offset + reach(|r| r > 0) + itemsize as isize;
    (strides, offset as usize, len as usize)
}

fn random_cuts(rng: &mut Rng, shape: &[usize]) -> Vec<Vec<usize>> {
    let cut = |&n: &usize| (0..=n).filter(|&i| i == 0 || i == n || rng.below(3) == 0).collect();
    shape.iter().map(cut).collect()
}

const SIZES: [usize; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 32, 48, 64, 100];

#[test]
fn grids_of_random_boxes_equal_the_oracle() {
    let mut rng = Rng(0x1234_5678_9abc_def1);
    for round in 0..1500 {
        let axes = rng.below(6);
        let shape: Vec<usize> = (0..axes).map(|_| 1 + rng.below([40, 20, 12, 7, 5, 4][axes])).collect();
        let itemsize = SIZES[rng.below(SIZES.len())];
        let mut got = vec![0xcd; shape.iter().product::<usize>() * itemsize];
        let mut want = got.clone();
        let cuts = random_cuts(&mut rng, &shape);
        let grid = BoxGrid::new(&mut got, itemsize, &shape, cuts.clone()).unwrap();
        let cells = indices(&cuts.iter().map(|cuts| cuts.len() - 1).collect::<Vec<_>>());
        assert_eq!(grid.cells(), cells.len());
        let strides = c_strides(&shape, itemsize);
        for cell in &cells {
            if rng.below(5) == 0 {
                continue;
            }
            let mut taken = grid.take(cell).unwrap();
            let extents: Vec<usize> =
                cell.iter().zip(&cuts).map(|(&i, cuts)| cuts[i + 1] - cuts[i]).collect();
            assert_eq!(taken.shape(), extents);
            let start: Vec<usize> = cell.iter().zip(&cuts).map(|(&i, cuts)| cuts[i]).collect();
            let start = at(&start, &strides, 0);
            let (from, offset, len) = random_view(&mut rng, &extents, itemsize);
            let mut bytes = rng.bytes(len);
            if rng.below(4) == 0 {
                let item = if rng.below(2) == 0 { vec![9; itemsize] } else { rng.bytes(itemsize) };
                taken.fill(&item);
                for index in indices(&extents) {
                    want[at(&index, &strides, start) as usize..][..itemsize].copy_from_slice(&item);
                }
                continue;
            }
            // One byte less than it takes is refused, and so is a first item one byte too early or too late.
            let source = Source { bytes: &bytes, offset, strides: &from };
            assert!(!taken.copy_from(Source { bytes: &bytes[1..], ..source }), "round {round}");
            assert!(!taken.copy_from(Source { offset: offset + 1, ..source }), "round {round}");
            if offset > 0 {
                assert!(!taken.copy_from(Source { offset: offset - 1, ..source }), "round {round}");
            }
            assert!(taken.copy_from(source), "round {round}");
            for index in indices(&extents) {
                let item = &bytes[at(&index, &from, offset as isize) as usize..][..itemsize];
                want[at(&index, &strides, start) as usize..][..itemsize].copy_from_slice(item);
            }
            bytes.fill(0);
            assert!(grid.take(cell).is_none(), "a second time");
        }
        drop(grid);
        assert!(got == want, "round {round}: {shape:?} {itemsize}");
    }
}

#[test]
fn free_copies_equal_the_oracle() {
    let mut rng = Rng(0xfeed_beef_0102_0305);
    for round in 0..2000 {
        let axes = rng.below(5);
        let shape: Vec<usize> = (0..axes).map(|_| 1 + rng.below(6)).collect();
        let itemsize = SIZES[rng.below(SIZES.len())];
        let mut order = shape.clone();
        order.iter_mut().for_each(|n| *n += rng.below(2));
        let mut to = c_strides(&order, itemsize);
        if axes > 1 && rng.below(2) == 0 {
            order.swap(0, 1);
            to = c_strides(&order, itemsize);
            to.swap(0, 1);
        }
        let start = rng.below(5);
        let len = start + order.iter().product::<usize>() * itemsize;
        let (from, offset, source_len) = random_view(&mut rng, &shape, itemsize);
        let bytes = rng.bytes(source_len);
        let source = Source { bytes: &bytes, offset, strides: &from };
        let steps: Vec<usize> = to.iter().map(|&s| s as usize).collect();
        let mut got = vec![0xcd; len];
        let mut want = got.clone();
        assert!(copy_box(itemsize, &shape, &mut got, start, &steps, source), "round {round}");
        for index in indices(&shape) {
            let item = &bytes[at(&index, &from, offset as isize) as usize..][..itemsize];
            want[at(&index, &to, start as isize) as usize..][..itemsize].copy_from_slice(item);
        }
        assert!(got == want, "round {round}: {shape:?} {itemsize}");
        let last = shape.iter().zip(&steps).map(|(n, s)| (n - 1) * s).sum::<usize>() + start + itemsize;
        assert!(!copy_box(itemsize, &shape, &mut got[..last - 1], start, &steps, source), "round {round}");
        assert!(got == want, "a refused copy wrote");
    }
}

#[test]
fn big_transposes_equal_the_oracle() {
    let mut rng = Rng(0x0bad_cafe);
    for (shape, itemsize) in
        [([70, 3, 700], 1), ([65, 1, 257], 8), ([200, 2, 129], 3), ([33, 5, 1030], 2), ([16, 2, 64], 40)]
    {
        for order in [[2, 1, 0], [2, 0, 1], [1, 2, 0], [0, 2, 1]] {
            // Memory order: axis `order[0]` is the slowest; one axis runs backwards.
            let in_memory: Vec<usize> = order.iter().map(|&d: &usize| shape[d]).collect();
            let steps = c_strides(&in_memory, itemsize);
            let mut strides = [0; 3];
            order.iter().zip(steps).for_each(|(&d, step)| strides[d] = step);
            let back = rng.below(3);
            let offset = strides[back] * (shape[back] as isize - 1);
            strides[back] = -strides[back];
            let bytes = rng.bytes(shape.iter().product::<usize>() * itemsize);
            let mut got = vec![0; bytes.len()];
            let cuts = shape.iter().map(|&n| vec![0, n]).collect();
            let grid = BoxGrid::new(&mut got, itemsize, &shape, cuts).unwrap();
            let source = Source { bytes: &bytes, offset: offset as usize, strides: &strides };
            assert!(grid.take(&[0, 0, 0]).unwrap().copy_from(source));
            drop(grid);
            let items = indices(&shape);
            for (item, index) in got.chunks_exact(itemsize).zip(&items) {
                assert_eq!(item, &bytes[at(index, &strides, offset) as usize..][..itemsize], "{order:?}");
            }
        }
    }
}

#[test]
fn rows_in_several_pieces_equal_the_oracle() {
    let mut rng = Rng(0x0123_4567_89ab_cdef);
    // Runs as short as are asked for ahead, longer than is asked for, of a length that the compiler knows and of others.
    for (shape, cut, itemsize) in [
        ([3, 150, 40], [2, 100, 33], 8),
        ([4, 70, 900], [3, 64, 700], 2),
        ([2, 97, 80], [1, 96, 16], 1),
        ([2, 67, 20], [2, 65, 16], 4),
    ] {
        let cuts: Vec<Vec<usize>> = shape.iter().zip(cut).map(|(&n, cut)| vec![0, cut, n]).collect();
        let cuts: Vec<_> = cuts.into_iter().map(|mut cuts| (cuts.dedup(), cuts).1).collect();
        let strides = c_strides(&shape, itemsize);
        // The source is wider than the box, and its rows come from the last to the first.
        let mut from = c_strides(&[shape[0], shape[1], shape[2] + 3], itemsize);
        let start = from[1] * (shape[1] as isize - 1);
        let bytes = rng.bytes(shape[0] * shape[1] * (shape[2] + 3) * itemsize);
        from[1] = -from[1];
        let value = rng.bytes(itemsize);
        let mut got = vec![0; shape.iter().product::<usize>() * itemsize];
        let mut want = got.clone();
        let grid = BoxGrid::new(&mut got, itemsize, &shape, cuts.clone()).unwrap();
        for cell in indices(&cuts.iter().map(|cuts| cuts.len() - 1).collect::<Vec<_>>()) {
            let first: Vec<usize> = cell.iter().zip(&cuts).map(|(&i, cuts)| cuts[i]).collect();
            let (to, offset) = (at(&first, &strides, 0), at(&first, &from, start));
            let mut taken = grid.take(&cell).unwrap();
            let filled = cell.iter().sum::<usize>() == 1;
            for index in indices(taken.shape()) {
                let item = &bytes[at(&index, &from, offset) as usize..][..itemsize];
                let item = if filled { &value[..] } else { item };
                want[at(&index, &strides, to) as usize..][..itemsize].copy_from_slice(item);
            }
            if filled {
                taken.fill(&value);
            } else {
                assert!(taken.copy_from(Source { bytes: &bytes, offset: offset as usize, strides: &from }));
            }
        }
        drop(grid);
        assert!(got == want, "{shape:?} {itemsize}");
    }
}

#[test]
fn threads_fill_one_output() {
    let shape = [61, 47, 13];
    let itemsize = 4;
    let items: usize = shape.iter().product();
    let source: Vec<u8> = (0..items as u32).flat_map(u32::to_le_bytes).collect();
    let cuts: Vec<Vec<usize>> =
        shape.iter().zip([7, 5, 4]).map(|(&n, step)| (0..n).step_by(step).chain([n]).collect()).collect();
    let mut out = vec![0; source.len()];
    let grid = BoxGrid::new(&mut out, itemsize, &shape, cuts.clone()).unwrap();
    let cells = indices(&cuts.iter().map(|cuts| cuts.len() - 1).collect::<Vec<_>>());
    let strides = c_strides(&shape, itemsize);
    let won: usize = std::thread::scope(|scope| {
        let fill = || {
            // Every thread tries every cell: each must be won exactly once.
            let mut won = 0;
            for cell in &cells {
                let Some(mut taken) = grid.take(cell) else { continue };
                let start: Vec<usize> = cell.iter().zip(&cuts).map(|(&i, cuts)| cuts[i]).collect();
                let offset = at(&start, &strides, 0) as usize;
                assert!(taken.copy_from(Source { bytes: &source, offset, strides: &strides }));
                won += 1;
            }
            won
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(fill)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, cells.len());
    drop(grid);
    assert!(out == source);
}

#[test]
fn grids_refuse_numbers_that_do_not_fit() {
    let mut out = [0; 24];
    let mut new = |itemsize, shape: &[usize], cuts: &[&[usize]]| {
        BoxGrid::new(&mut out, itemsize, shape, cuts.iter().map(|c| c.to_vec()).collect()).is_some()
    };
    assert!(new(4, &[2, 3], &[&[0, 2], &[0, 1, 3]]));
    assert!(!new(4, &[2, 4], &[&[0, 2], &[0, 1, 4]]), "the output is too short");
    assert!(!new(4, &[2, 2], &[&[0, 2], &[0, 1, 2]]), "the output is too long");
    assert!(!new(0, &[2, 3], &[&[0, 2], &[0, 1, 3]]), "items of no bytes");
    assert!(!new(4, &[2, 3], &[&[0, 2]]), "too few cuts");
    assert!(!new(4, &[2, 3], &[&[0, 2], &[0, 1]]), "the last cut is not the end");
    assert!(!new(4, &[2, 3], &[&[0, 2], &[1, 3]]), "the first cut is not the start");
    assert!(!new(4, &[2, 3], &[&[0, 2], &[0, 2, 1, 3]]), "cuts that descend");
    assert!(!new(4, &[2, 3], &[&[0, 2], &[0, 2, 2, 3]]), "cuts that stay");
    assert!(!new(4, &[2, 3], &[&[0, 2], &[]]), "no cuts");
    assert!(!new(4, &[usize::MAX, usize::MAX], &[&[0, usize::MAX], &[0, usize::MAX]]), "too many items");
    assert!(!new(24, &[1; MAX_AXES + 1], &[&[0, 1][..]; MAX_AXES + 1]), "too many axes");
    assert!(new(24, &[1; MAX_AXES], &[&[0, 1][..]; MAX_AXES]));
}

#[test]
fn boxes_without_items() {
    let grid = BoxGrid::new(&mut [], 4, &[3, 0], vec![vec![0, 1, 3], vec![0, 0]]).unwrap();
    assert_eq!(grid.cells(), 2);
    let mut taken = grid.take(&[1, 0]).unwrap();
    assert_eq!(taken.shape(), [2, 0]);
    assert!(taken.copy_from(Source { bytes: &[], offset: 100, strides: &[4, 4] }));
    taken.fill(&[1, 2, 3, 4]);
    assert!(grid.take(&[2, 0]).is_none());
    let none = BoxGrid::new(&mut [], 4, &[0], vec![vec![0]]).unwrap();
    assert_eq!(none.cells(), 0);
    assert!(none.take(&[0]).is_none());
    let source = Source { bytes: &[], offset: 0, strides: &[1, 1] };
    assert!(copy_box(4, &[3, 0], &mut [], 0, &[1, 1], source));
}

#[test]
fn one_item_without_axes() {
    let mut out = [0; 3];
    let grid = BoxGrid::new(&mut out, 3, &[], vec![]).unwrap();
    assert_eq!(grid.cells(), 1);
    assert!(grid.take(&[0]).is_none());
    let mut taken = grid.take(&[]).unwrap();
    assert!(grid.take(&[]).is_none());
    assert!(!taken.copy_from(Source { bytes: &[1, 2, 3, 4], offset: 2, strides: &[] }));
    assert!(taken.copy_from(Source { bytes: &[1, 2, 3, 4], offset: 1, strides: &[] }));
    drop(grid);
    assert_eq!(out, [2, 3, 4]);
}

#[test]
fn hostile_numbers_are_refused() {
    let bytes = [0; 64];
    let mut out = [0; 64];
    let big = [isize::MAX, isize::MIN, isize::MAX - 3, isize::MIN + 1, isize::MAX / 2 + 1];
    for stride in big {
        for offset in [0, 4, usize::MAX, usize::MAX / 2, usize::MAX / 2 + 1] {
            let source = Source { bytes: &bytes, offset, strides: &[stride, 4] };
            assert!(!copy_box(4, &[2, 2], &mut out, 0, &[8, 4], source));
            assert!(!copy_box(4, &[3, 2], &mut out, 0, &[8, 4], source));
            let fine = Source { bytes: &bytes, offset: 0, strides: &[8, 4] };
            assert!(!copy_box(4, &[2, 2], &mut out, offset, &[stride as usize, 4], fine));
        }
        // Along an axis of one item no stride matters.
        let source = Source { bytes: &bytes, offset: 0, strides: &[stride, 4] };
        assert!(copy_box(4, &[1, 2], &mut out, 0, &[stride as usize, 4], source));
    }
    let fine = Source { bytes: &bytes, offset: 0, strides: &[8, 4] };
    assert!(!copy_box(4, &[2, 2], &mut out, 0, &[4, 4], fine), "items of the destination coincide");
    assert!(!copy_box(4, &[2, 2], &mut out, 0, &[8, 3], fine), "items of the destination overlap");
    assert!(!copy_box(4, &[2, 2], &mut out, 0, &[0, 4], fine), "one place for two items");
    assert!(!copy_box(4, &[2, 2], &mut out, 0, &[8], fine), "too few strides");
    assert!(!copy_box(0, &[2, 2], &mut out, 0, &[8, 4], fine), "items of no bytes");
    let (steps, strides) = ([1; MAX_AXES + 1], [1; MAX_AXES + 1]);
    let many = Source { bytes: &bytes, offset: 0, strides: &strides };
    assert!(!copy_box(1, &[1; MAX_AXES + 1], &mut out, 0, &steps, many), "too many axes");
    assert_eq!(out, [0; 64]);
}

#[test]
fn swapped_bytes() {
    let mut rng = Rng(77);
    for unit in [0, 1, 2, 3, 4, 8, 16] {
        for len in (0..100).chain([4096, 4111]) {
            let src = rng.bytes(len);
            let mut got = src.clone();
            swap_bytes(unit, &mut got);
            let mut want = src.clone();
            if unit > 0 {
                want.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            }
            assert!(got == want, "{unit} {len}");
        }
    }
}

/// Numbers below `n` in random order.
fn shuffled(rng: &mut Rng, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.below(i + 1));
    }
    order
}

#[test]
fn grids_with_orders_and_lists_equal_the_oracle() {
    let mut rng = Rng(0x9876_5432_1fed_cba9);
    for round in 0..1500 {
        let axes = 1 + rng.below(4);
        let shape: Vec<usize> = (0..axes).map(|_| 1 + rng.below([40, 12, 7, 5][axes - 1])).collect();
        let itemsize = SIZES[rng.below(SIZES.len())];
        let mut got = vec![0xcd; shape.iter().product::<usize>() * itemsize];
        let mut want = got.clone();
        let cuts = random_cuts(&mut rng, &shape);
        let orders: Vec<Option<Vec<usize>>> =
            shape.iter().map(|&n| (rng.below(2) == 0).then(|| shuffled(&mut rng, n))).collect();
        let mut grid = BoxGrid::new(&mut got, itemsize, &shape, cuts.clone()).unwrap();
        for (axis, order) in orders.iter().enumerate() {
            if let Some(order) = order {
                grid = grid.with_order(axis, order).unwrap();
            }
        }
        let strides = c_strides(&shape, itemsize);
        // The box that the lists take their places from.
        let from_shape: Vec<usize> = (0..axes).map(|_| 1 + rng.below(9)).collect();
        let from_strides = c_strides(&from_shape, itemsize);
        let bytes = rng.bytes(from_shape.iter().product::<usize>() * itemsize);
        for cell in indices(&cuts.iter().map(|cuts| cuts.len() - 1).collect::<Vec<_>>()) {
            let mut taken = grid.take(&cell).unwrap();
            assert!(orders.iter().all(Option::is_none) || taken.contiguous().is_none());
            let extents: Vec<usize> = taken.shape().to_vec();
            let lists: Vec<Vec<usize>> = extents
                .iter()
                .zip(&from_shape)
                .map(|(&n, &m)| (0..n).map(|_| rng.below(m)).collect())
                .collect();
            let place = |index: &[usize]| -> usize {
                let at = index.iter().enumerate().map(|(d, &i)| {
                    let k = cuts[d][cell[d]] + i;
                    orders[d].as_ref().map_or(k, |order| order[k])
                });
                at.zip(&strides).map(|(i, &s)| i * s as usize).sum()
            };
            match rng.below(3) {
                0 => {
                    let item = rng.bytes(itemsize);
                    taken.fill(&item);
                    for index in indices(&extents) {
                        want[place(&index)..][..itemsize].copy_from_slice(&item);
                    }
                }
                1 => {
                    let (from, offset, len) = random_view(&mut rng, &extents, itemsize);
                    let bytes = rng.bytes(len);
                    assert!(
                        taken.copy_from(Source { bytes: &bytes, offset, strides: &from }),
                        "round {round}"
                    );
                    for index in indices(&extents) {
                        let item = &bytes[at(&index, &from, offset as isize) as usize..][..itemsize];
                        want[place(&index)..][..itemsize].copy_from_slice(item);
                    }
                }
                _ => {
                    let along = |(list, &stride)| Along { stride, list: Some(list) };
                    let sides: Vec<Along<'_>> =
                        lists.iter().map(|l| &l[..]).zip(&from_strides).map(along).collect();
                    let source = Listed { bytes: &bytes, offset: 0, axes: &sides };
                    let farthest: usize = lists
                        .iter()
                        .zip(&from_strides)
                        .map(|(l, &s)| l.iter().max().unwrap() * s as usize)
                        .sum();
                    let cut = &bytes[..farthest + itemsize - 1];
                    assert!(!taken.copy_listed(Listed { bytes: cut, ..source }), "round {round}");
                    assert!(taken.copy_listed(source), "round {round}");
                    for index in indices(&extents) {
                        let from: Vec<usize> = index.iter().zip(&lists).map(|(&i, list)| list[i]).collect();
                        let item = &bytes[at(&from, &from_strides, 0) as usize..][..itemsize];
                        want[place(&index)..][..itemsize].copy_from_slice(item);
                    }
                }
            }
        }
        drop(grid);
        assert!(got == want, "round {round}: {shape:?} cut at {cuts:?}");
    }
}

#[test]
fn an_order_names_each_place_once() {
    let accepted = |axis: usize, order: &[usize]| {
        let mut out = [0; 3];
        let grid = BoxGrid::new(&mut out, 1, &[3], vec![vec![0, 3]]).unwrap();
        grid.with_order(axis, order).is_some()
    };
    for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, usize::MAX], &[0, 1, 2, 3], &[]] {
        assert!(!accepted(0, order), "{order:?}");
    }
    assert!(!accepted(1, &[0, 1, 2]));
    assert!(accepted(0, &[2, 0, 1]));
}

#[test]
fn free_copies_along_lists_equal_the_oracle() {
    let mut rng = Rng(0x0dd0_beef_1234_4321);
    for round in 0..1500 {
        let axes = rng.below(5);
        let itemsize = SIZES[rng.below(SIZES.len())];
        let to_shape: Vec<usize> = (0..axes).map(|_| 1 + rng.below(7)).collect();
        // The chosen places along each axis, ascending.
        let to: Vec<Vec<usize>> =
            to_shape.iter().map(|&n| (0..n).filter(|&i| i == n - 1 || rng.below(2) == 0).collect()).collect();
        let shape: Vec<usize> = to.iter().map(Vec::len).collect();
        let (from, offset, len) = random_view(&mut rng, &shape, itemsize);
        let bytes = rng.bytes(len);
        let strides = c_strides(&to_shape, itemsize);
        let mut got = vec![0x11; to_shape.iter().product::<usize>() * itemsize];
        let mut want = got.clone();
        let sides: Vec<Along<'_>> =
            to.iter().zip(&strides).map(|(list, &stride)| Along { stride, list: Some(list) }).collect();
        let plain: Vec<Along<'_>> = from.iter().map(|&stride| Along { stride, list: None }).collect();
        let source = Listed { bytes: &bytes, offset, axes: &plain };
        assert!(copy_listed(itemsize, &shape, &mut got, 0, &sides, source), "round {round}");
        for index in indices(&shape) {
            let place: Vec<usize> = index.iter().zip(&to).map(|(&i, list)| list[i]).collect();
            let item = &bytes[at(&index, &from, offset as isize) as usize..][..itemsize];
            want[at(&place, &strides, 0) as usize..][..itemsize].copy_from_slice(item);
        }
        assert!(got == want, "round {round}");
    }
}

#[test]
fn hostile_lists_are_refused() {
    let bytes = [7; 8];
    let mut out = [0; 8];
    let mut copy = |list: &[usize], stride, offset| {
        let to = [Along { stride, list: Some(list) }];
        let still = [Along::default()];
        let source = Listed { bytes: &bytes, offset: 0, axes: &still };
        copy_listed(2, &[3], &mut out, offset, &to, source)
    };
    assert!(copy(&[0, 1, 3], 2, 0));
    assert!(!copy(&[0, 1, 3], 2, 1), "one byte too far");
    assert!(!copy(&[0, 1, 4], 2, 0), "past the end");
    assert!(!copy(&[0, 1, usize::MAX], 2, 0), "past everything");
    assert!(!copy(&[0, 1, 1], 2, 0), "twice the same place");
    assert!(!copy(&[1, 0, 2], 2, 0), "descending");
    assert!(!copy(&[0, 1], 2, 0), "too short");
    assert!(!copy(&[0, 1, 2], 1, 0), "overlapping items");
    assert!(!copy(&[0, 1, 2], -2, 6), "backwards");
    assert_eq!(out, [7, 7, 7, 7, 0, 0, 7, 7]);
}
