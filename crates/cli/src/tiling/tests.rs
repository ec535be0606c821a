use super::*;

/// Numbers without end, the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}

fn random_grids(dice: &mut Dice) -> Vec<Grid> {
    (0..dice.roll(5))
        .map(|_| {
            let cell = 1 + dice.roll(5);
            Grid { len: dice.roll(14), lead: 1 + dice.roll(cell), cell }
        })
        .collect()
}

/// Every item of the box as its number in C order.
fn numbers(shape: &[u64], region: &Region) -> Vec<u64> {
    let mut all = vec![0u64];
    for ((&len, &a), &b) in shape.iter().zip(&region.start).zip(&region.stop) {
        all = all.iter().flat_map(|n| (a..b).map(move |i| n * len + i)).collect();
    }
    all
}

#[test]
fn boxes_cover_every_item_once_and_fit_the_budget() {
    let mut dice = Dice(1);
    for _ in 0..2000 {
        let grids = random_grids(&mut dice);
        let shape: Vec<u64> = grids.iter().map(|g| g.len).collect();
        let budget = 1 + dice.roll(400);
        let total: u64 = shape.iter().product();
        let one_cell: u64 = grids.iter().map(|g| g.cell.max(g.lead).min(g.len)).product();
        for tiling in [Tiling::of_cells(&grids, budget), Tiling::in_order(&grids, budget)] {
            let mut seen: Vec<u64> = Vec::new();
            for region in tiling.boxes() {
                assert!(region.items() <= budget.max(one_cell), "{grids:?} {budget} {region:?}");
                seen.extend(numbers(&shape, &region));
            }
            let in_order = seen.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(!tiling.is_in_order() || in_order, "{grids:?} {budget}");
            seen.sort_unstable();
            assert_eq!(seen, (0..total).collect::<Vec<_>>(), "{grids:?} {budget}");
        }
        let ordered = Tiling::in_order(&grids, budget);
        assert!(ordered.is_in_order(), "{grids:?} {budget} {ordered:?}");
        assert!(ordered.boxes().all(|region| region.items() <= budget));
    }
}

#[test]
fn boxes_of_cells_cut_no_cell() {
    let mut dice = Dice(2);
    for _ in 0..500 {
        let grids = random_grids(&mut dice);
        for region in Tiling::of_cells(&grids, 1 + dice.roll(400)).boxes() {
            for (grid, &cut) in grids.iter().zip(&region.stop) {
                assert!(cut == grid.len || (cut - grid.lead) % grid.cell == 0, "{grids:?} {region:?}");
            }
        }
    }
}

#[test]
fn boxes_grow_along_the_last_axis_first() {
    let grids = [Grid::new(100, 10), Grid::new(100, 10)];
    let shape = |budget| Tiling::of_cells(&grids, budget).boxes().next().unwrap().stop;
    assert_eq!(shape(1), [10, 10]);
    assert_eq!(shape(350), [10, 30]);
    assert_eq!(shape(1000), [10, 100]);
    assert_eq!(shape(2999), [20, 100]);
    assert_eq!(shape(u64::MAX), [100, 100]);
}

#[test]
fn runs_name_the_items_of_a_box_in_order() {
    let mut dice = Dice(3);
    for _ in 0..500 {
        let shape: Vec<u64> = (0..dice.roll(5)).map(|_| 1 + dice.roll(6)).collect();
        let start: Vec<u64> = shape.iter().map(|&n| dice.roll(n)).collect();
        let stop = start.iter().zip(&shape).map(|(&a, &n)| a + dice.roll(n - a + 1)).collect();
        let region = Region { start, stop };
        let items: Vec<u64> = runs(&shape, &region).flat_map(|(first, count)| first..first + count).collect();
        assert_eq!(items, numbers(&shape, &region), "{shape:?} {region:?}");
    }
    let planes = Region { start: vec![1, 0, 0], stop: vec![3, 5, 6] };
    assert_eq!(runs(&[4, 5, 6], &planes).collect::<Vec<_>>(), [(30, 60)]);
}

#[test]
fn transposing_moves_every_item_to_its_place() {
    let mut dice = Dice(4);
    for _ in 0..300 {
        let stored: Vec<u64> = (0..dice.roll(5)).map(|_| dice.roll(7)).collect();
        let itemsize = 1 + dice.roll(9) as usize;
        let items: usize = stored.iter().product::<u64>() as usize;
        let from: Vec<u8> = (0..items * itemsize).map(|_| dice.roll(256) as u8).collect();
        let shape: Vec<u64> = stored.iter().rev().copied().collect();
        // Into the middle of an array that is larger by one on each side.
        let large: Vec<u64> = shape.iter().map(|n| n + 2).collect();
        let mut to = vec![0; large.iter().product::<u64>() as usize * itemsize];
        transpose(&stored, itemsize, &from, &mut to, &large, &vec![1; shape.len()]);
        let region = Region { start: vec![1; shape.len()], stop: shape.iter().map(|n| n + 1).collect() };
        for (n, place) in numbers(&large, &region).into_iter().enumerate() {
            // The index of item n in C order, and where the reversed index is stored.
            let (mut rest, mut index) = (n as u64, vec![0; shape.len()]);
            for d in (0..shape.len()).rev() {
                index[d] = rest % shape[d];
                rest /= shape[d];
            }
            let at = index.iter().rev().zip(&stored).fold(0, |at, (i, len)| at * len + i) as usize;
            let place = place as usize;
            assert_eq!(to[place * itemsize..][..itemsize], from[at * itemsize..][..itemsize], "{stored:?}");
        }
    }
}
