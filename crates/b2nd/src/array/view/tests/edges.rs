//! What a view refuses, and the edges of what it can.

use crate::array::{Array, Dtype, Options};
use crate::error::{Error, Fault};
use crate::s;

fn numbered(chunks: &[u64], blocks: &[u64], shape: &[u64]) -> (Array, Vec<i32>) {
    let options = Options::new().with_chunks(chunks).with_blocks(blocks);
    let mut array = options.create_in_memory(Dtype::parse("<i4").unwrap(), shape).unwrap();
    let items: Vec<i32> = (1..=array.size() as i32).collect();
    array.write_items((), &items).unwrap();
    (array, items)
}

/// C-Blosc2 reads the wrong places, or fails, where a squeezed axis has chunks of more than one item.
#[test]
fn an_axis_with_long_chunks_is_squeezed() {
    let (mut array, mut items) = numbered(&[4, 3, 3], &[2, 2, 2], &[4, 1, 5]);
    assert_eq!((array.chunks(), array.blocks()), (&[4, 3, 3][..], &[2, 2, 2][..]));
    let squeezed = array.squeeze();
    assert_eq!(squeezed.shape(), [4, 5]);
    assert_eq!(squeezed.read_items::<i32>(()).unwrap(), items);
    assert_eq!(squeezed.read_items::<i32>(s![3, 2..4]).unwrap(), items[17..19]);
    assert_eq!(squeezed.transpose().read_items::<i32>(s![1]).unwrap(), [2, 7, 12, 17]);
    let copy = Options::new().copy_in_memory(squeezed).unwrap();
    assert_eq!((copy.shape(), copy.chunks(), copy.blocks()), (&[4, 5][..], &[4, 3][..], &[2, 2][..]));
    assert_eq!(copy.read_items::<i32>(()).unwrap(), items);
    // Whole chunks, and a part of one; what lies past the edge stays zeros.
    array.view_mut().squeeze().write_items(s![.., 0..3], &[7; 12]).unwrap();
    array.view_mut().squeeze().write_items(s![1, 4], &[8]).unwrap();
    (0..4).for_each(|row| items[row * 5..row * 5 + 3].fill(7));
    items[9] = 8;
    assert_eq!(array.read_items::<i32>(()).unwrap(), items);
    array.resize([4, 3, 5]).unwrap();
    assert_eq!(array.read_items::<i32>(s![.., 1.., ..]).unwrap(), [0; 40]);
}

#[test]
fn what_no_view_has_is_refused() {
    let (mut array, _) = numbered(&[2, 1, 2], &[1, 1, 2], &[2, 1, 3]);
    let usage = |result: Result<(), Error>| assert_eq!(result.unwrap_err().fault(), Fault::Caller);
    for axes in [&[0][..], &[1, 1], &[1, -2], &[3], &[-4], &[i64::MIN], &[i64::MAX]] {
        usage(array.squeeze_axes(axes).map(drop));
    }
    for axes in [&[4][..], &[0, 0], &[0, -5], &[-5], &[0; 14]] {
        usage(array.expand_dims(axes).map(drop));
    }
    for axes in [&[][..], &[0, 1], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 0]] {
        usage(array.permute(axes).map(drop));
    }
    usage(array.transpose().read_bytes(s![.., .., 2]).map(drop));
    usage(array.transpose().read_bytes_into(s![0], &mut [0; 7]));
    usage(array.squeeze().read_items::<f32>(()).map(drop));
    usage(array.view_mut().squeeze().write_items(s![0], &[1i32; 2]));
    usage(array.view_mut().squeeze().write_items(s![0], &[1f32; 3]));
    usage(array.view_mut().squeeze().fill_bytes(s![2], &[0; 4]));
}

#[test]
fn an_array_without_axes_has_views() {
    let (mut array, _) = numbered(&[], &[], &[]);
    let sixteen: Vec<i64> = (0..16).collect();
    let view = array.expand_dims(&sixteen).unwrap();
    assert_eq!((view.shape(), view.parent_axes()), (&[1; 16][..], &[None; 16][..]));
    assert_eq!(view.read_items::<i32>(s![0, [0, 0, 0]]).unwrap(), [1; 3]);
    assert!(view.expand_dims(&[0]).is_err());
    assert_eq!(view.squeeze().read_items::<i32>(()).unwrap(), [1]);
    // Of what is given for one item the last stays.
    array.view_mut().expand_dims(&[0]).unwrap().write_items(s![[0, 0, 0]], &[4, 5, 6]).unwrap();
    assert_eq!(array.transpose().read_items::<i32>(()).unwrap(), [6]);
}

#[test]
fn a_copy_takes_the_metadata_along() {
    let options = Options::new().with_metalayer("origin", *b"there").with_vlmetalayer("unit", *b"m");
    let array = options.create_in_memory(Dtype::parse("<i4").unwrap(), [3, 0]).unwrap();
    let copy = Options::new().copy_in_memory(array.transpose()).unwrap();
    assert_eq!((copy.shape(), copy.dtype()), (&[0, 3][..], array.dtype()));
    assert!(copy.schunk().metalayers().any(|(name, content)| (name, content) == ("origin", b"there")));
    assert_eq!(copy.schunk().vlmetalayer("unit").unwrap().as_deref(), Some(&b"m"[..]));
}

#[test]
fn a_slice_keeps_chunks_that_it_takes_whole() {
    let options = Options::new().with_metalayer("origin", *b"there").with_vlmetalayer("unit", *b"m");
    let options = options.with_chunks([4, 3]).with_blocks([2, 3]);
    let mut array = options.create_in_memory(Dtype::parse("<i4").unwrap(), [14, 9]).unwrap();
    array.write_items((), &(1..=126).collect::<Vec<i32>>()).unwrap();
    let part = Options::new().slice_in_memory(&array, s![4..12, 3..]).unwrap();
    assert_eq!((part.shape(), part.chunks(), part.blocks()), (&[8, 6][..], &[4, 3][..], &[2, 3][..]));
    for (n, of) in [4, 5, 7, 8].into_iter().enumerate() {
        assert_eq!(part.schunk().chunk(n as u64).unwrap(), array.schunk().chunk(of).unwrap(), "chunk {n}");
    }
    assert!(part.schunk().metalayers().any(|(name, content)| (name, content) == ("origin", b"there")));
    assert_eq!(part.schunk().vlmetalayer("unit").unwrap().as_deref(), Some(&b"m"[..]));
    // Less than a chunk, an axis less, or a step: chunks of its own.
    for (selection, shape) in
        [(s![4..6, ..], &[2, 9][..]), (s![.., 0], &[14]), (s![..;2, ..], &[7, 9]), (s![3, 3], &[])]
    {
        let part = Options::new().slice_in_memory(&array, selection.clone()).unwrap();
        assert_eq!((part.shape(), part.chunks()), (shape, shape), "{selection}");
        assert_eq!(part.read_items::<i32>(()).unwrap(), array.read_items::<i32>(selection).unwrap());
    }
    assert!(matches!(
        Options::new().slice_in_memory(&array, s![14]),
        Err(Error::OutOfBounds { axis: Some(0), index: 14, .. })
    ));
}
