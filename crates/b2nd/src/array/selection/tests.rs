use super::*;
use crate::s;
use proptest::prelude::*;

/// Python's definition of a slice, by walking: the indices that `start:stop:step` takes from `0..length`.
fn walk(start: Option<i64>, stop: Option<i64>, step: i64, length: i64) -> Vec<i64> {
    let fix = |b: i64, low: i64, high: i64| (if b < 0 { b + length } else { b }).clamp(low, high);
    let (mut at, end) = if step > 0 {
        (start.map_or(0, |b| fix(b, 0, length)), stop.map_or(length, |b| fix(b, 0, length)))
    } else {
        (start.map_or(length - 1, |b| fix(b, -1, length - 1)), stop.map_or(-1, |b| fix(b, -1, length - 1)))
    };
    let mut taken = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        taken.push(at);
        at += step;
    }
    taken
}

fn picks(resolved: &Resolved) -> &[Pick] {
    match &resolved.taken {
        Taken::Axes(picks) => picks,
        Taken::Points(_) => panic!("points are no picks"),
    }
}

proptest! {
    #[test]
    fn ranges_take_what_python_takes(
        start in proptest::option::of(-12i64..12), stop in proptest::option::of(-12i64..12),
        step in prop_oneof![-5i64..0, 1i64..6], length in 0u64..9,
    ) {
        let resolved = Selection::new([Axis::Range { start, stop, step }]).resolve(&[length]).unwrap();
        let Pick::Line(line) = picks(&resolved)[0] else { panic!("a range is a line") };
        let ours: Vec<i64> = (0..line.count as i64).map(|k| line.start as i64 + k * line.step).collect();
        prop_assert_eq!(ours, walk(start, stop, step, length as i64));
        prop_assert_eq!(resolved.shape, vec![line.count]);
    }

    #[test]
    fn display_and_parse_agree(parts in proptest::collection::vec(prop_oneof![
        any::<i64>().prop_map(Axis::Index),
        (any::<Option<i64>>(), any::<Option<i64>>(), any::<i64>().prop_filter("a step", |s| *s != 0))
            .prop_map(|(start, stop, step)| Axis::Range { start, stop, step }),
        Just(Axis::NewAxis), Just(Axis::Ellipsis),
        proptest::collection::vec(any::<i64>(), 0..4).prop_map(Axis::List),
        proptest::collection::vec(any::<bool>(), 1..4).prop_map(Axis::Mask),
    ], 0..6)) {
        let selection = Selection::new(parts.clone());
        let back = Selection::parse(&selection.to_string()).unwrap();
        let expected = if parts.is_empty() { vec![Axis::Ellipsis] } else { parts };
        prop_assert_eq!(back.axes(), Some(&expected[..]));
    }

    #[test]
    fn a_part_of_a_box_takes_what_the_box_has(
        parts in proptest::collection::vec(prop_oneof![
            (-4i64..4).prop_map(Axis::Index),
            (-5i64..5, -5i64..5, prop_oneof![-3i64..0, 1i64..4])
                .prop_map(|(a, b, step)| Axis::Range { start: Some(a), stop: Some(b), step }),
            (prop_oneof![-3i64..0, 1i64..4]).prop_map(|step| Axis::from(..).with_step(step)),
            Just(Axis::NewAxis),
            proptest::collection::vec(-4i64..4, 0..5).prop_map(Axis::List),
            proptest::collection::vec(any::<bool>(), 4).prop_map(Axis::Mask),
        ], 0..4),
        cuts in proptest::collection::vec((0u64..5, 0u64..5), 8),
    ) {
        let shape = [4, 4, 4];
        let resolved = Selection::new(parts).resolve(&shape).unwrap();
        let axes = resolved.axes().iter().zip(resolved.shape());
        let (start, stop): (Vec<u64>, Vec<u64>) = axes.zip(&cuts).map(|((axis, &len), &(a, b))| {
            let (a, b) = if axis.is_some() { (a.min(len), b.min(len)) } else { (0, 1) };
            (a.min(b), a.max(b))
        }).unzip();
        let part = resolved.part_of_box(&start, &stop).unwrap().resolve(&shape).unwrap();
        let lengths: Vec<u64> = start.iter().zip(&stop).map(|(a, b)| b - a).collect();
        prop_assert_eq!(part.shape(), &lengths[..]);
        prop_assert_eq!(part.axes(), resolved.axes());
        let indices = |resolved: &ResolvedSelection, axis| match resolved.along(axis).unwrap() {
            TakenAxis::Range { start, step, len } => {
                (0..len).map(|n| start.wrapping_add_signed(step * n as i64)).collect()
            }
            TakenAxis::List(list) => list,
        };
        for (n, axis) in resolved.axes().iter().enumerate() {
            let Some(axis) = *axis else { continue };
            let all: Vec<u64> = indices(&resolved, axis);
            prop_assert_eq!(&indices(&part, axis)[..], &all[start[n] as usize..stop[n] as usize]);
        }
        for axis in (0..3).filter(|axis| !resolved.axes().contains(&Some(*axis))) {
            prop_assert_eq!(indices(&part, axis), indices(&resolved, axis));
        }
    }

    #[test]
    fn no_text_panics(text in "[-0-9:,. N\\[\\]NoneTrueFals]{0,20}", length in any::<u64>()) {
        if let Ok(selection) = Selection::parse(&text) {
            let _ = selection.resolve(&[length, 3]);
        }
    }
}

#[test]
fn the_macro_writes_what_it_says() {
    assert_eq!(s![].axes(), Some(&[][..]));
    assert_eq!(s![1, 2usize, -3].to_string(), "1, 2, -3");
    assert_eq!(s![0..31, .., 300.., ..5, ..;2].to_string(), "0:31, :, 300:, :5, ::2");
    assert_eq!(s![1..=3, ..=-1, -4..;-1, Ellipsis, NewAxis].to_string(), "1:4, :, -4::-1, ..., None");
    assert_eq!(s![vec![1u64, 2], &[3usize, 4][..], [-1i64]].to_string(), "[1, 2], [3, 4], [-1]");
    assert_eq!(s![[4, 2]].to_string(), "[4, 2],");
    assert_eq!(Selection::parse("[4, 2],").unwrap(), s![[4, 2]]);
    assert_eq!(Selection::parse("[[4, 2]]").unwrap(), s![[4, 2]]);
    // As in NumPy's a[[4, 2]]; brackets that cannot be a list are those around a slice.
    assert_eq!(Selection::parse("[4, 2]").unwrap(), s![[4, 2]]);
    assert_eq!(Selection::parse(" [4,] ").unwrap(), s![[4]]);
    assert_eq!(Selection::parse("[]").unwrap(), Selection::new([Axis::List(vec![])]));
    assert_eq!(Selection::parse("[4:, 2]").unwrap(), s![4.., 2]);
    assert_eq!(Selection::parse("[[4, 2], 1]").unwrap(), s![[4, 2], 1]);
    assert_eq!(Selection::parse("[4, 2], [1]").unwrap(), s![[4, 2], [1]]);
    assert_eq!(
        Selection::parse("[True, False], [], 3").unwrap().axes().unwrap()[0],
        Axis::from([true, false])
    );
    let (low, high) = (3u64, 9u64);
    assert_eq!(s![low..high;2,].to_string(), "3:9:2");
}

#[test]
fn lists_are_lines_where_they_can_be_and_sorted_where_not() {
    let pick = |axis: Axis| picks(&Selection::new([axis]).resolve(&[10]).unwrap())[0].clone();
    let line = |start, step, count| Pick::Line(Line { start, step, count });
    assert_eq!(pick(Axis::from([2, 4, 6])), line(2, 2, 3));
    assert_eq!(pick(Axis::from([-1, -4])), line(9, -3, 2));
    assert_eq!(pick(Axis::from([7])), line(7, 1, 1));
    assert_eq!(pick(Axis::List(vec![])), line(0, 1, 0));
    assert_eq!(pick(Axis::from([true; 10])), line(0, 1, 10));
    let sorted = |indices: &[u64], order| Pick::List(List { indices: indices.to_vec(), order });
    assert_eq!(pick(Axis::from([0, 1, 5])), sorted(&[0, 1, 5], None));
    assert_eq!(pick(Axis::from([3, 3])), sorted(&[3, 3], None));
    let repeated = pick(Axis::from([5, -10, 5, 2]));
    assert_eq!(repeated, sorted(&[0, 2, 5, 5], Some(vec![1, 3, 0, 2])));
    assert_eq!(repeated.last_of_each().unwrap(), sorted(&[0, 2, 5], Some(vec![1, 3, 2])));
    assert_eq!(pick(Axis::from([3, 3])).last_of_each().unwrap(), sorted(&[3], Some(vec![1])));
}

#[test]
fn indices_drop_their_axis_and_new_axes_appear() {
    let resolved = s![2, Ellipsis, NewAxis, 1..3].resolve(&[5, 6, 7, 8]).unwrap();
    assert_eq!(resolved.shape, [6, 7, 1, 2]);
    assert_eq!(picks(&resolved)[0], Pick::Line(Line { start: 2, step: 1, count: 1 }));
    assert_eq!(picks(&resolved)[3], Pick::Line(Line { start: 1, step: 1, count: 2 }));
    assert_eq!(s![-1].resolve(&[4, 2]).unwrap().shape, [2]);
    assert_eq!(s![NewAxis].resolve(&[]).unwrap().shape, [1]);
    assert_eq!(Selection::all().resolve(&[]).unwrap().items().unwrap(), 1);
}

#[test]
fn what_cannot_be_selected_says_why() {
    let message = |selection: Selection, shape: &[u64]| selection.resolve(shape).unwrap_err().to_string();
    assert!(message(s![5], &[5]).contains("index 5 is out of range for axis 0 with 5 items"));
    assert!(message(s![-6], &[5]).contains("-6"));
    assert!(message(s![.., ..], &[5]).contains("names 2 axes"));
    assert!(message(s![Ellipsis, Ellipsis], &[5]).contains("one '...'"));
    let refused = message(s![.., [1, 4, -5]], &[5, 4]);
    assert!(
        refused.contains("index 4 (entry 1 of the list) is out of range for axis 1 with 4 items"),
        "{refused}"
    );
    assert!(message(s![[0, -6]], &[5]).contains("index -6"));
    let refused = message(s![[true, false]], &[5]);
    assert!(refused.contains("the mask has 2 entries, and axis 0 has 5 items"), "{refused}");
    assert!(Selection::parse("[1, x], 2").unwrap_err().to_string().contains("'[1, x]'"));
    assert!(Selection::parse("1:a").unwrap_err().to_string().contains("'1:a'"));
    assert!(s![0].resolve(&[0]).is_err());
    assert!(s![..].resolve(&[u64::MAX]).unwrap().items().is_ok());
    assert!(s![.., ..].resolve(&[u64::MAX, 2]).unwrap().items().is_err());
}

#[test]
fn points_are_flat_positions() {
    let positions = |selection: Selection, shape: &[u64]| {
        let resolved = selection.resolve(shape).unwrap();
        let Taken::Points(points) = resolved.taken else { panic!("these are points") };
        assert_eq!(resolved.shape, [points.len() as u64]);
        points
    };
    assert_eq!(positions(Selection::points([0, 0, 1, 2, -1, -3, 1, 2]), &[2, 3]), [0, 5, 3, 5]);
    assert_eq!(positions(Selection::coordinates([vec![1, -2], vec![0, 2]]), &[2, 3]), [3, 2]);
    assert_eq!(positions(Selection::flat([5, -6, 5]), &[2, 3]), [5, 0, 5]);
    assert_eq!(positions(Selection::flat([0, -1]), &[]), [0, 0]);
    assert_eq!(positions(Selection::mask([2, 2], [false, true, true, false]), &[2, 2]), [1, 2]);
    assert_eq!(positions(Selection::mask((), [true]), &[]), [0]);
    assert_eq!(positions(Selection::mask([0, 3], []), &[0, 3]), [0; 0]);
    assert_eq!(positions(Selection::points([]), &[2, 0]), [0; 0]);
}

#[test]
fn points_that_are_not_there_say_why() {
    let message = |selection: Selection, shape: &[u64]| selection.resolve(shape).unwrap_err().to_string();
    let refused = message(Selection::points([0, 0, 1, 3]), &[2, 3]);
    assert!(refused.contains("index 3 of point 1 is out of range for axis 1 with 3 items"), "{refused}");
    assert!(
        message(Selection::points([0, 0, 1]), &[2, 3]).contains("3 numbers are not a whole number of points")
    );
    assert!(message(Selection::points([]), &[]).contains("has 0 of them"));
    let refused = message(Selection::coordinates([vec![0, -3], vec![0, 0]]), &[2, 3]);
    assert!(refused.contains("index -3 of point 1 is out of range for axis 0 with 2 items"), "{refused}");
    assert!(message(Selection::coordinates([vec![0]]), &[2, 3]).contains("1 lists"));
    assert!(message(Selection::coordinates([vec![0], vec![]]), &[2, 3]).contains("1 and 0 entries"));
    assert!(
        message(Selection::flat([0, 6]), &[2, 3])
            .contains("position 6 (entry 1) is out of range for 6 items")
    );
    assert!(message(Selection::flat([0]), &[2, 0]).contains("0 items"));
    assert!(message(Selection::mask([3, 2], [true; 6]), &[2, 3]).contains("shape [3, 2]"));
    assert!(message(Selection::mask([2, 3], [true; 5]), &[2, 3]).contains("5 items"));
    assert!(message(Selection::take([0], 2), &[2, 3]).contains("names 3 axes"));
    assert!(message(Selection::take([0], i64::MIN), &[2, 3]).contains("names 17 axes"));
}

#[test]
fn a_resolved_selection_says_what_it_takes() {
    let resolved = s![[5, -10, 5, 2], NewAxis, 1].resolve(&[10, 4, 3]).unwrap();
    assert_eq!(resolved.shape(), [4, 1, 3]);
    assert_eq!(resolved.axes(), [Some(0), None, Some(2)]);
    assert_eq!(resolved.along(0).unwrap(), TakenAxis::List(vec![5, 0, 5, 2]));
    assert_eq!(resolved.along(1).unwrap(), TakenAxis::Range { start: 1, step: 1, len: 1 });
    let part = resolved.part_of_box(&[1, 0, 0], &[3, 1, 2]).unwrap();
    assert_eq!(part, s![[0, 5], NewAxis, 1, 0..2]);
    assert!(resolved.part_of_box(&[1, 0, 0], &[3, 0, 2]).unwrap_err().to_string().contains("new axis"));
    assert!(resolved.along(3).unwrap_err().to_string().contains("no axis 3"));
    for (start, stop) in [(&[0, 0][..], &[1, 1][..]), (&[0, 0, 0], &[5, 1, 3]), (&[2, 0, 0], &[1, 1, 3])] {
        assert!(resolved.part_of_box(start, stop).unwrap_err().to_string().contains("(4, 1, 3)"));
    }
    let points = Selection::flat([4, -1, 4]).resolve(&[2, 3]).unwrap();
    assert_eq!(points.part_of_box(&[1], &[3]).unwrap(), Selection::flat([5, 4]));
    assert!(points.along(0).unwrap_err().to_string().contains("points"));
    let backwards = s![..;-1].resolve(&[3]).unwrap();
    assert_eq!(backwards.part_of_box(&[0], &[3]).unwrap(), s![2..;-1]);
}
