//! Structures of the caller as items.

use b2nd::{Array, Dtype, Element, Error, Options, StructElement, array::Field, s, struct_element};
use bytemuck::{Pod, Zeroable};

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Inner {
    low: i16,
    high: i16,
}
struct_element!(Inner { low: i16, high: i16 });

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Outer {
    time: i64,
    range: Inner,
    flag: u8,
    _gap: [u8; 3],
    grid: [[f32; 3]; 2],
}
struct_element!(Outer { time: i64 as "when", range: Inner, flag: u8, grid: [[f32; 3]; 2] });

fn outer(n: i64) -> Outer {
    let range = Inner { low: -(n as i16), high: n as i16 };
    Outer { time: n, range, flag: 1, _gap: [0; 3], grid: [[1.0, 2.0, n as f32], [4.0, 5.0, 6.0]] }
}

#[test]
fn the_dtype_has_the_fields_where_the_compiler_put_them() {
    let text = "{'names': ['when', 'range', 'flag', 'grid'], \
                'formats': ['<i8', [('low', '<i2'), ('high', '<i2')], '|u1', ('<f4', (2, 3))], \
                'offsets': [0, 8, 12, 16], 'itemsize': 40}";
    if cfg!(target_endian = "little") {
        assert_eq!(Dtype::of::<Outer>(), Dtype::parse(text).unwrap());
    }
    assert_eq!(Dtype::of::<Outer>().itemsize(), size_of::<Outer>());
}

#[test]
fn items_go_in_and_come_out() {
    let mut a = Options::new().create_in_memory(Dtype::of::<Outer>(), [4, 3]).unwrap();
    let items: Vec<Outer> = (0..12).map(outer).collect();
    a.write_items(s![], &items).unwrap();
    a.fill(s![0, 0], outer(99)).unwrap();
    let a = Array::from_bytes(a.to_bytes().unwrap(), &Default::default()).unwrap();
    assert_eq!(a.read_items::<Outer>(s![1..3]).unwrap(), items[3..9]);
    assert_eq!(a.read_items::<Outer>(s![0, 0]).unwrap(), [outer(99)]);
    assert_eq!(a.field("range").unwrap().read_items::<Inner>(s![3, 2]).unwrap(), [items[11].range]);
    assert_eq!(a.field("grid").unwrap().read_items::<f32>(s![0, 1]).unwrap()[2], 1.0);
}

#[test]
fn another_byte_order_and_kinds_of_the_same_size_are_read_and_other_layouts_refused() {
    let text = "[('low', '>i2'), ('high', '>i2')]";
    let mut a = Options::new().create_in_memory(Dtype::parse(text).unwrap(), [1]).unwrap();
    a.write_items(s![], &[Inner { low: 1, high: -2 }]).unwrap();
    assert_eq!(a.read_bytes(s![]).unwrap(), [0, 1, 0xff, 0xfe]);
    assert_eq!(a.read_items::<Inner>(s![]).unwrap(), [Inner { low: 1, high: -2 }]);
    for other in [
        "[('high', '<i2'), ('low', '<i2')]",
        "[('low', '<i2'), ('up', '<i2')]",
        "[('low', '<u2'), ('high', '<i2')]",
        "[('low', '<i2'), ('high', '<i2'), ('more', '|u1')]",
        "<i4",
        "|V4",
    ] {
        let dtype = Dtype::parse(other).unwrap();
        assert!(!Inner::reads(&dtype), "{other}");
        let a = Options::new().create_in_memory(dtype, [1]).unwrap();
        assert!(matches!(a.read_items::<Inner>(s![]), Err(Error::DtypeMismatch { .. })), "{other}");
    }
    let times = "{'names': ['when', 'range', 'flag', 'grid'], \
                 'formats': ['<M8[ns]', [('low', '<i2'), ('high', '<i2')], '|b1', ('<f4', (2, 3))], \
                 'offsets': [0, 8, 12, 16], 'itemsize': 40}";
    assert!(Outer::reads(&Dtype::parse(times).unwrap()));
}

#[test]
fn fields_that_do_not_fit_into_the_type_are_not_written() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Wrong(u32);
    impl StructElement for Wrong {
        fn fields() -> Vec<Field> {
            vec![Field::new("a", 2, Dtype::of::<u32>())]
        }
    }
    let mut a = Options::new().create_in_memory(Dtype::of::<Wrong>(), [1]).unwrap();
    assert!(matches!(a.write_items(s![], &[Wrong(1)]), Err(Error::DtypeMismatch { .. })));
}
