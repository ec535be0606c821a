//! Rust structures as the items of arrays with a structured dtype.

use crate::array::dtype::{Dtype, Field, Kind};
use crate::array::element::{Element, sealed, zeroed_items};
use crate::error::Result;

/// A Rust structure whose values are the items of an array of a structured dtype: it is an [`Element`].
///
/// The structure is `#[repr(C)]` and [`bytemuck::Pod`], which `bytemuck` derives where it has no padding;
/// [`struct_element!`](crate::struct_element) implements this trait. Without the macro, the fields must be where they say.
pub trait StructElement: bytemuck::Pod + Send + Sync {
    /// The fields of the structure in the byte order of this machine, each with its offset.
    fn fields() -> Vec<Field>;
}

/// A Rust type that a field of a [`StructElement`] may have: an [`Element`], or an array of them.
pub trait FieldElement {
    /// A field of this type, at an offset of its structure.
    fn field(name: &str, offset: usize) -> Field;
}

impl<T: Element> FieldElement for T {
    fn field(name: &str, offset: usize) -> Field {
        Field::new(name, offset, T::dtype())
    }
}

impl<T: FieldElement, const N: usize> FieldElement for [T; N] {
    fn field(name: &str, offset: usize) -> Field {
        T::field(name, offset).repeated(N)
    }
}

/// Makes a `#[repr(C)]` structure that is [`bytemuck::Pod`] an [`Element`](crate::Element): names its fields and their types.
///
/// Offsets are those that the compiler chose, and another type than the field's own does not compile. A field is called in
/// the file what it is called in Rust, or what stands behind `as`. Fields that only fill a gap may be left out.
///
/// ```
/// use b2nd::{Dtype, Options, s, struct_element};
/// use bytemuck::{Pod, Zeroable};
///
/// #[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
/// #[repr(C)]
/// struct Reading {
///     time: i64,
///     wind: [f32; 2],
///     station: u16,
///     _gap: [u8; 6],
/// }
/// struct_element!(Reading { time: i64, wind: [f32; 2] as "wind_uv", station: u16 });
///
/// let reading = Reading { time: 1_700_000_000, wind: [3.0, -4.5], station: 6660, _gap: [0; 6] };
/// let mut a = Options::new().create_in_memory(Dtype::of::<Reading>(), [10])?;
/// a.write_items(s![4], &[reading])?;
/// assert_eq!(a.read_items::<Reading>(s![4])?, [reading]);
/// assert_eq!(a.field("wind_uv")?.read_items::<f32>(s![4])?, [3.0, -4.5]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[macro_export]
macro_rules! struct_element {
    ($type:ident { $($name:ident : $field:ty $(as $label:literal)?),+ $(,)? }) => {
        impl $crate::StructElement for $type {
            fn fields() -> ::std::vec::Vec<$crate::array::Field> {
                // Does not compile where a field has another type.
                $(let _ = |item: $type| -> $field { item.$name };)+
                vec![$(
                    <$field as $crate::array::FieldElement>::field(
                        $crate::struct_element!(@label $name $($label)?),
                        ::core::mem::offset_of!($type, $name),
                    )
                ),+]
            }
        }
    };
    (@label $name:ident) => { stringify!($name) };
    (@label $name:ident $label:literal) => { $label };
}

impl<T: StructElement> sealed::Bytes for T {
    fn as_bytes(items: &[Self]) -> &[u8] {
        bytemuck::cast_slice(items)
    }
    fn fill_from(items: &mut [Self], fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        fill(bytemuck::cast_slice_mut(items))
    }
    fn zeroed(len: usize) -> Result<Vec<Self>> {
        zeroed_items(len)
    }
}

impl<T: StructElement> Element for T {
    /// The structured dtype; raw bytes where the fields do not fit into the size of the type.
    fn dtype() -> Dtype {
        Dtype::structured(T::fields(), size_of::<T>()).unwrap_or_else(|_| Dtype::raw(size_of::<T>()))
    }

    /// Whether the dtype has the same fields, of the same kinds and sizes at the same offsets, in either byte order.
    fn reads(dtype: &Dtype) -> bool {
        let own = Self::dtype();
        own.kind() == Kind::Struct && same_layout(&own, dtype)
    }
}

/// Whether bytes of `stored` can be taken as `own`, but for the byte order.
fn same_layout(own: &Dtype, stored: &Dtype) -> bool {
    if own.itemsize() != stored.itemsize() {
        return false;
    }
    if let (Some((own, shape)), Some((stored, stored_shape))) = (own.subarray(), stored.subarray()) {
        return shape == stored_shape && same_layout(own, stored);
    }
    match (own.kind(), stored.kind()) {
        (Kind::Struct, Kind::Struct) => {
            let (fields, others) = (own.fields(), stored.fields());
            let same = |field: &Field| {
                others.iter().any(|other| {
                    (field.name(), field.offset(), field.shape())
                        == (other.name(), other.offset(), other.shape())
                        && same_layout(field.dtype(), other.dtype())
                })
            };
            fields.len() == others.len() && fields.iter().all(same)
        }
        (Kind::Int, Kind::Datetime | Kind::Timedelta) | (Kind::Uint, Kind::Bool) => true,
        (own, stored) => own == stored,
    }
}
