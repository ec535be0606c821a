//! Arrays in files and in memory.

use super::library::{Rival, Setting, Storage, done};
use super::terminated;
use b2nd_interop::Outcome;
use std::ffi::{CString, c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null, null_mut};

/// An array's shape, partition and parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// Shape.
    pub(crate) shape: &'a [i64],
    /// Chunk shape.
    pub(crate) chunks: &'a [i32],
    /// Block shape.
    pub(crate) blocks: &'a [i32],
    /// dtype text.
    pub(crate) dtype: &'a str,
    /// Parameters.
    pub(crate) setting: Setting,
}

impl Rival {
    /// Stores items as a new array: at a path, or in memory.
    pub(crate) fn create(&self, path: Option<&Path>, plan: &Plan<'_>, items: &[u8]) -> Outcome<Array<'_>> {
        if plan.nbytes() != Some(items.len()) {
            return Err("not the items of this array".into());
        }
        let url = path.map(terminated).transpose()?;
        let dtype = CString::new(plan.dtype)?;
        let (mut cparams, mut dparams) = (self.cparams(plan.setting), self.dparams(plan.setting.threads));
        let storage = Storage {
            contiguous: true,
            urlpath: url.as_ref().map_or(null_mut(), |url| url.as_ptr().cast_mut()),
            cparams: &raw mut cparams,
            dparams: &raw mut dparams,
            io: null_mut(),
        };
        let (ndim, shape) = (plan.shape.len() as i8, plan.shape.as_ptr());
        // SAFETY: the three shapes have `ndim` numbers, the texts are terminated, and everything pointed to outlives the
        // call, which copies it; there are no metalayers.
        let context = unsafe {
            (self.create_array_ctx)(
                &raw const storage,
                ndim,
                shape,
                plan.chunks.as_ptr(),
                plan.blocks.as_ptr(),
                dtype.as_ptr(),
                0,
                null(),
                0,
            )
        };
        let context = NonNull::new(context).ok_or("C-Blosc2 refused the array")?;
        let mut array = null_mut();
        // SAFETY: the context is valid, and the buffer has exactly the bytes whose number is given.
        let code = unsafe {
            (self.from_buffer)(context.as_ptr(), &raw mut array, items.as_ptr().cast(), items.len() as i64)
        };
        // SAFETY: the context came from the library and is not used again.
        unsafe { (self.free_array_ctx)(context.as_ptr()) };
        self.array(code, array, plan)
    }
    /// Opens an array from a path.
    pub(crate) fn open(&self, path: &Path, plan: &Plan<'_>) -> Outcome<Array<'_>> {
        let url = terminated(path)?;
        self.set_threads(plan.setting.threads);
        let mut array = null_mut();
        // SAFETY: the text is terminated and the pointer to the result is valid.
        let code = unsafe { (self.open)(url.as_ptr(), &raw mut array) };
        self.array(code, array, plan)
    }
    /// Opens an array in memory, from a copy of a frame.
    pub(crate) fn open_frame(&self, frame: &[u8], plan: &Plan<'_>) -> Outcome<Array<'_>> {
        self.set_threads(plan.setting.threads);
        let (mut array, len) = (null_mut(), frame.len() as i64);
        // SAFETY: the buffer has exactly the bytes whose number is given; the library copies it (`true`) and does not write
        // to it.
        let code = unsafe { (self.from_cframe)(frame.as_ptr().cast_mut(), len, true, &raw mut array) };
        self.array(code, array, plan)
    }
    /// Threads of what is opened from now on.
    pub(super) fn set_threads(&self, threads: usize) {
        // SAFETY: a plain number.
        unsafe { (self.set_nthreads)(threads as i16) };
    }
    fn array(&self, code: c_int, array: *mut c_void, plan: &Plan<'_>) -> Outcome<Array<'_>> {
        let array = NonNull::new(array).filter(|_| code == 0).ok_or(format!("C-Blosc2 error {code}"))?;
        Ok(Array { rival: self, array, shape: plan.shape.to_vec(), typesize: plan.setting.typesize as usize })
    }
}

impl Plan<'_> {
    /// Bytes of all items.
    fn nbytes(&self) -> Option<usize> {
        let items = self.shape.iter().try_fold(1i64, |n, len| n.checked_mul(*len))?;
        usize::try_from(items).ok()?.checked_mul(self.setting.typesize as usize)
    }
}

/// An open array.
#[derive(Debug)]
pub(crate) struct Array<'r> {
    rival: &'r Rival,
    array: NonNull<c_void>,
    shape: Vec<i64>,
    typesize: usize,
}

impl Array<'_> {
    /// The lengths of a box inside the array; an error where it does not hold `len` bytes.
    fn lengths(&self, start: &[i64], stop: &[i64], len: usize) -> Outcome<Vec<i64>> {
        let inside = |((a, b), n): ((&i64, &i64), &i64)| 0 <= *a && a <= b && b <= n;
        let fits = start.len() == self.shape.len()
            && stop.len() == self.shape.len()
            && start.iter().zip(stop).zip(&self.shape).all(inside);
        let lengths: Vec<i64> = start.iter().zip(stop).map(|(a, b)| b - a).collect();
        let bytes = lengths.iter().product::<i64>() as usize * self.typesize;
        if fits && bytes == len { Ok(lengths) } else { Err("not a box of this array".into()) }
    }
    /// Reads a box.
    pub(crate) fn read(&mut self, start: &[i64], stop: &[i64], out: &mut [u8]) -> Outcome {
        let lengths = self.lengths(start, stop, out.len())?;
        let (to, len) = (out.as_mut_ptr().cast(), out.len() as i64);
        // SAFETY: the box lies inside the array, the buffer holds exactly its items, and the three lists have as many
        // numbers as the array has dimensions.
        let code = unsafe {
            (self.rival.get_slice)(
                self.array.as_ptr(),
                start.as_ptr(),
                stop.as_ptr(),
                to,
                lengths.as_ptr(),
                len,
            )
        };
        done(code)
    }
    /// Reads all items.
    pub(crate) fn read_all(&mut self) -> Outcome<Vec<u8>> {
        let shape = self.shape.clone();
        let mut out = vec![0; shape.iter().product::<i64>() as usize * self.typesize];
        self.read(&vec![0; shape.len()], &shape, &mut out)?;
        Ok(out)
    }
    /// Writes a box.
    pub(crate) fn write(&mut self, start: &[i64], stop: &[i64], items: &[u8]) -> Outcome {
        let lengths = self.lengths(start, stop, items.len())?;
        let (from, len) = (items.as_ptr().cast(), items.len() as i64);
        // SAFETY: as for `read`.
        let code = unsafe {
            (self.rival.set_slice)(
                from,
                lengths.as_ptr(),
                len,
                start.as_ptr(),
                stop.as_ptr(),
                self.array.as_ptr(),
            )
        };
        done(code)
    }
    /// Reads every combination of one list of indices for each axis.
    pub(crate) fn read_orthogonal(&mut self, lists: &[Vec<i64>], out: &mut [u8]) -> Outcome {
        let inside = |(list, n): (&Vec<i64>, &i64)| list.iter().all(|i| (0..*n).contains(i));
        let items: usize = lists.iter().map(Vec::len).product();
        let fits = lists.len() == self.shape.len() && lists.iter().zip(&self.shape).all(inside);
        if !fits || items == 0 || items * self.typesize != out.len() {
            return Err("not a selection of this array".into());
        }
        let mut lists = lists.to_vec();
        let mut lengths: Vec<i64> = lists.iter().map(|list| list.len() as i64).collect();
        let mut shape = lengths.clone();
        let mut pointers: Vec<*mut i64> = lists.iter_mut().map(Vec::as_mut_ptr).collect();
        let (to, len) = (out.as_mut_ptr().cast(), out.len() as i64);
        // SAFETY: there is a list for each axis, with as many indices as its length says, all inside the array; they are
        // copies of ours, as is the shape of the buffer, which holds exactly the items of all combinations.
        let code = unsafe {
            (self.rival.get_orthogonal)(
                self.array.as_ptr(),
                pointers.as_mut_ptr(),
                lengths.as_mut_ptr(),
                to,
                shape.as_mut_ptr(),
                len,
            )
        };
        done(code)
    }
    /// Reads single items by their positions in C order.
    pub(crate) fn read_flat(&mut self, positions: &[i64], out: &mut [u8]) -> Outcome {
        let size: i64 = self.shape.iter().product();
        let inside = positions.iter().all(|at| (0..size).contains(at));
        if !inside || positions.is_empty() || positions.len() * self.typesize != out.len() {
            return Err("not positions of this array".into());
        }
        let (count, to, len) = (positions.len() as i64, out.as_mut_ptr().cast(), out.len() as i64);
        // SAFETY: all positions are inside the array, and the buffer holds exactly their items.
        let code =
            unsafe { (self.rival.get_sparse)(self.array.as_ptr(), count, positions.as_ptr(), to, len) };
        if code >= 0 { Ok(()) } else { Err(format!("C-Blosc2 error {code}").into()) }
    }
    /// Appends whole slabs along an axis.
    pub(crate) fn append(&mut self, axis: usize, items: &[u8]) -> Outcome {
        let others = self.shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, n)| *n);
        let slab = others.product::<i64>() as usize * self.typesize;
        let grown = self.shape.get_mut(axis).ok_or("no such axis")?;
        if slab == 0 || items.is_empty() || !items.len().is_multiple_of(slab) {
            return Err("no whole slabs".into());
        }
        let (from, len) = (items.as_ptr().cast(), items.len() as i64);
        // SAFETY: the axis exists, and the buffer holds whole slabs along it.
        let code = unsafe { (self.rival.append)(self.array.as_ptr(), from, len, i8::try_from(axis)?) };
        done(code)?;
        *grown += (items.len() / slab) as i64;
        Ok(())
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: the array came from the library, and this is its last use.
        unsafe { (self.rival.free_array)(self.array.as_ptr()) };
    }
}
