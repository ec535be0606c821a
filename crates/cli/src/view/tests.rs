use super::*;

fn range(start: Option<i64>, stop: Option<i64>, step: i64) -> Axis {
    Axis::Range { start, stop, step }
}

#[test]
fn integers_drop_axes_and_new_axes_add_them() {
    let axes = [Axis::Index(-1), Axis::NewAxis, Axis::Ellipsis, Axis::Index(2)];
    let view = View::new(&[4, 5, 6], &axes).unwrap();
    assert_eq!(view.shape(), [1, 5]);
    assert_eq!(view.along().unwrap(), [Along::New, Along::Range { axis: 1, start: 0, step: 1 }]);
    let part = view.part(&Region { start: vec![0, 1], stop: vec![1, 4] }).unwrap();
    assert_eq!(part.resolve(&[4, 5, 6]).unwrap().shape(), [1, 3]);
    assert!(part.to_string().contains("3, ") && part.to_string().ends_with("1:4, 2"), "{part}");
}

#[test]
fn what_is_out_of_bounds_is_refused() {
    for axes in [
        &[Axis::Index(4)][..],
        &[Axis::Index(-5)],
        &[Axis::Index(0), Axis::Index(0)],
        &[Axis::Ellipsis, Axis::Ellipsis],
        &[range(None, None, 0)],
        &[Axis::List(vec![0, 4])],
    ] {
        assert!(View::new(&[4], axes).is_err(), "{axes:?}");
    }
    assert!(View::new(&[0], &[Axis::Index(0)]).is_err());
}

#[test]
fn the_grid_of_a_range_follows_the_chunks() {
    let grid = |part| View::new(&[100], &[part]).unwrap().grid(&[10]).unwrap()[0];
    assert_eq!(grid(range(None, None, 1)), Grid { len: 100, lead: 10, cell: 10 });
    assert_eq!(grid(range(Some(13), None, 1)), Grid { len: 87, lead: 7, cell: 10 });
    assert_eq!(grid(range(Some(13), Some(2), -1)), Grid { len: 11, lead: 4, cell: 10 });
    assert_eq!(grid(range(None, None, 30)), Grid { len: 4, lead: 1, cell: 1 });
}

/// The positions that a view takes of an array of `shape`, read in boxes of one plane.
fn positions(shape: &[u64], text: &str) -> (Vec<u64>, Vec<i64>) {
    let view = View::parse(shape, Some(text)).unwrap();
    let Taken::Points(points) = &view.taken else { panic!("{text} takes every combination") };
    let mut all = Vec::new();
    let due = view.shape();
    let first = due.first().copied().unwrap_or(1);
    for n in 0..first {
        let mut region = Region { start: vec![0; due.len()], stop: due.clone() };
        (region.start[0], region.stop[0]) = (n, n + 1);
        assert_eq!(points.part(&region).unwrap().resolve(shape).unwrap().shape(), [region.items()]);
        all.extend(points.positions(&region).unwrap());
    }
    (due, all)
}

#[test]
fn several_lists_are_paired_as_in_numpy() {
    // From numpy.arange(60).reshape(3, 4, 5)[…].
    for (text, shape, want) in [
        ("[0,2],[1,3]", &[2, 5][..], &[5, 6, 7, 8, 9, 55, 56, 57, 58, 59][..]),
        ("[0,2],[1,3],4", &[2], &[9, 59]),
        ("0,:,[1,0]", &[2, 4], &[1, 6, 11, 16, 0, 5, 10, 15]),
        ("[0,2],::3,[1]", &[2, 2], &[1, 16, 41, 56]),
        ("::2,[1,1],[0,4]", &[2, 2], &[5, 9, 45, 49]),
        ("[2,0],None,[0,1],-1", &[2, 1], &[44, 9]),
        ("[True,False,True],[3,2],0", &[2], &[15, 50]),
        ("[],[0],:", &[0, 5], &[]),
    ] {
        let (found, all) = positions(&[3, 4, 5], text);
        assert_eq!((&found[..], &all[..]), (shape, want), "{text}");
    }
    for text in ["[0,1],[0,1,2]", "[0,1],[]"] {
        let error = View::parse(&[3, 4, 5], Some(text)).unwrap_err().to_string();
        assert!(error.contains("NumPy pairs them"), "{error}");
    }
    for text in ["[0,2]", ":,[1,0]", "0,[1,0]", "[1,0],0,:", "None,[0,2]", "[True,False,True]"] {
        assert!(matches!(View::parse(&[3, 4, 5], Some(text)).unwrap().taken, Taken::Axes(_)), "{text}");
    }
}

#[cfg(feature = "plot")]
#[test]
fn thinned_views_take_every_few_items() {
    let thin = |text, every: &[u64]| {
        let view = View::parse(&[9, 8], Some(text)).unwrap().thinned(&[9, 8], every).unwrap();
        (view.shape(), view.along().unwrap())
    };
    let step = |axis, start, step| Along::Range { axis, start, step };
    assert_eq!(
        thin("::-1,None,1:", &[4, 1, 3]),
        (vec![3, 1, 3], vec![step(0, 8, -4), Along::New, step(1, 1, 3)])
    );
    assert_eq!(thin("3,:", &[3]), (vec![3], vec![step(1, 0, 3)]));
    assert_eq!(thin("[0,1,4,8],5", &[2]).0, [2]);
    assert_eq!(thin("[0,1,4],[1,2,3]", &[2]), (vec![2], vec![Along::Points]));
}
