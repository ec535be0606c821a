//! C-Blosc2 in this process: the few functions that are compared, behind safe doors.
//!
//! The only unsafe file of this crate. The library is loaded at run time, so nothing of it is built or linked; the layout
//! of the two parameter structures that cross the border by value is checked against the defaults that the library
//! itself returns.
#![expect(unsafe_code, reason = "calls into a C library that is loaded at run time")]

use b2nd_interop::Outcome;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null, null_mut};

/// `blosc2_cparams`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct CParams {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    prefilter: *const c_void,
    preparams: *mut c_void,
    tuner_params: *mut c_void,
    tuner_id: c_int,
    instr_codec: bool,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct DParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *const c_void,
    postparams: *mut c_void,
    typesize: i32,
}

/// `blosc2_storage`.
#[repr(C)]
#[derive(Debug)]
struct Storage {
    contiguous: bool,
    urlpath: *mut c_char,
    cparams: *mut CParams,
    dparams: *mut DParams,
    io: *mut c_void,
}

type Context = *mut c_void;
type CreateArrayContext = unsafe extern "C" fn(
    *const Storage,
    i8,
    *const i64,
    *const i32,
    *const i32,
    *const c_char,
    i8,
    *const c_void,
    i32,
) -> Context;

type GetOrthogonal =
    unsafe extern "C" fn(*const c_void, *mut *mut i64, *mut i64, *mut c_void, *mut i64, i64) -> c_int;

/// The functions of the loaded library, and the library itself, which must outlive them.
#[derive(Debug)]
pub(crate) struct Rival {
    version: String,
    defaults: CParams,
    create_cctx: unsafe extern "C" fn(CParams) -> Context,
    create_dctx: unsafe extern "C" fn(DParams) -> Context,
    free_ctx: unsafe extern "C" fn(Context),
    compress: unsafe extern "C" fn(Context, *const c_void, i32, *mut c_void, i32) -> c_int,
    decompress: unsafe extern "C" fn(Context, *const c_void, i32, *mut c_void, i32) -> c_int,
    create_array_ctx: CreateArrayContext,
    free_array_ctx: unsafe extern "C" fn(Context) -> c_int,
    from_buffer: unsafe extern "C" fn(Context, *mut *mut c_void, *const c_void, i64) -> c_int,
    open: unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int,
    get_slice:
        unsafe extern "C" fn(*const c_void, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int,
    set_slice:
        unsafe extern "C" fn(*const c_void, *const i64, i64, *const i64, *const i64, *mut c_void) -> c_int,
    append: unsafe extern "C" fn(*mut c_void, *const c_void, i64, i8) -> c_int,
    get_orthogonal: GetOrthogonal,
    get_sparse: unsafe extern "C" fn(*const c_void, i64, *const i64, *mut c_void, i64) -> c_int,
    free_array: unsafe extern "C" fn(*mut c_void) -> c_int,
    set_nthreads: unsafe extern "C" fn(i16) -> i16,
    _library: Library,
}

/// How both sides compress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Codec id.
    pub(crate) codec: u8,
    /// Level.
    pub(crate) clevel: u8,
    /// Filter id of the last slot.
    pub(crate) filter: u8,
    /// Bytes of an item.
    pub(crate) typesize: u32,
    /// Threads.
    pub(crate) threads: usize,
}

/// Takes a function out of the library.
fn symbol<T: Copy>(library: &Library, name: &str) -> Outcome<T> {
    // SAFETY: `T` is the type of the C function of this name in the public headers of C-Blosc2 3.x: the version is
    // checked before any function but the one that tells it is called.
    let found = unsafe { library.get::<T>(name) }?;
    Ok(*found)
}

impl Rival {
    /// Loads the library; refuses one whose version or whose parameter structures are not those declared here.
    pub(crate) fn load(path: &Path) -> Outcome<Self> {
        // SAFETY: the initialisers of C-Blosc2 have no preconditions; the caller names a C-Blosc2.
        let library = unsafe { Library::new(path) }?;
        let version_of: unsafe extern "C" fn() -> *const c_char =
            symbol(&library, "blosc2_get_version_string")?;
        // SAFETY: takes nothing and returns a static string.
        let text = unsafe { version_of() };
        // SAFETY: the string is static and terminated.
        let version = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        if !version.starts_with("3.") {
            return Err(format!("C-Blosc2 {version}: this bench knows the structures of 3.x only").into());
        }
        let cparams_of: unsafe extern "C" fn() -> CParams =
            symbol(&library, "blosc2_get_blosc2_cparams_defaults")?;
        let dparams_of: unsafe extern "C" fn() -> DParams =
            symbol(&library, "blosc2_get_blosc2_dparams_defaults")?;
        let init: unsafe extern "C" fn() = symbol(&library, "blosc2_init")?;
        // SAFETY: returns a structure of plain numbers and null pointers; any bytes are valid for them but `bool`,
        // which the library fills with 0.
        let defaults = unsafe { cparams_of() };
        // SAFETY: as above.
        let dparams = unsafe { dparams_of() };
        check_layout(&defaults, &dparams)?;
        // SAFETY: called once, before any other function that needs it.
        unsafe { init() };
        Ok(Rival {
            version,
            defaults,
            create_cctx: symbol(&library, "blosc2_create_cctx")?,
            create_dctx: symbol(&library, "blosc2_create_dctx")?,
            free_ctx: symbol(&library, "blosc2_free_ctx")?,
            compress: symbol(&library, "blosc2_compress_ctx")?,
            decompress: symbol(&library, "blosc2_decompress_ctx")?,
            create_array_ctx: symbol(&library, "b2nd_create_ctx")?,
            free_array_ctx: symbol(&library, "b2nd_free_ctx")?,
            from_buffer: symbol(&library, "b2nd_from_cbuffer")?,
            open: symbol(&library, "b2nd_open")?,
            get_slice: symbol(&library, "b2nd_get_slice_cbuffer")?,
            set_slice: symbol(&library, "b2nd_set_slice_cbuffer")?,
            append: symbol(&library, "b2nd_append")?,
            get_orthogonal: symbol(&library, "b2nd_get_orthogonal_selection")?,
            get_sparse: symbol(&library, "b2nd_get_sparse_cbuffer")?,
            free_array: symbol(&library, "b2nd_free")?,
            set_nthreads: symbol(&library, "blosc2_set_nthreads")?,
            _library: library,
        })
    }
    /// The version of the library.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }
    fn cparams(&self, setting: Setting) -> CParams {
        CParams {
            compcode: setting.codec,
            clevel: setting.clevel,
            typesize: setting.typesize as i32,
            nthreads: setting.threads as i16,
            splitmode: 3,
            filters: [0, 0, 0, 0, 0, setting.filter],
            ..self.defaults
        }
    }
    fn dparams(&self, threads: usize) -> DParams {
        DParams {
            nthreads: threads as i16,
            schunk: null_mut(),
            postfilter: null(),
            postparams: null_mut(),
            typesize: 8,
        }
    }
    /// A context that compresses and decompresses chunks.
    pub(crate) fn chunker(&self, setting: Setting) -> Outcome<Chunker<'_>> {
        // SAFETY: the structure has the library's own layout (checked) and holds no pointers but null.
        let cctx = unsafe { (self.create_cctx)(self.cparams(setting)) };
        // SAFETY: as above.
        let dctx = unsafe { (self.create_dctx)(self.dparams(setting.threads)) };
        let contexts = NonNull::new(cctx).zip(NonNull::new(dctx)).ok_or("C-Blosc2 refused the parameters")?;
        Ok(Chunker { rival: self, cctx: contexts.0, dctx: contexts.1 })
    }
    /// Stores items as a new array at a path.
    pub(crate) fn create(&self, path: &Path, plan: &Plan<'_>, items: &[u8]) -> Outcome<Array<'_>> {
        let url = CString::new(path.to_str().ok_or("path is not UTF-8")?)?;
        let dtype = CString::new(plan.dtype)?;
        let (mut cparams, mut dparams) = (self.cparams(plan.setting), self.dparams(plan.setting.threads));
        let storage = Storage {
            contiguous: true,
            urlpath: url.as_ptr().cast_mut(),
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
        let url = CString::new(path.to_str().ok_or("path is not UTF-8")?)?;
        // SAFETY: a plain number; threads of arrays that are opened from now on.
        unsafe { (self.set_nthreads)(plan.setting.threads as i16) };
        let mut array = null_mut();
        // SAFETY: the text is terminated and the pointer to the result is valid.
        let code = unsafe { (self.open)(url.as_ptr(), &raw mut array) };
        self.array(code, array, plan)
    }
    fn array(&self, code: c_int, array: *mut c_void, plan: &Plan<'_>) -> Outcome<Array<'_>> {
        let array = NonNull::new(array).filter(|_| code == 0).ok_or(format!("C-Blosc2 error {code}"))?;
        Ok(Array { rival: self, array, shape: plan.shape.to_vec(), typesize: plan.setting.typesize as usize })
    }
}

/// The defaults that the headers of 3.x promise: other numbers mean another layout.
fn check_layout(c: &CParams, d: &DParams) -> Outcome {
    let numbers = (c.compcode, c.clevel, c.typesize, c.nthreads, c.blocksize, c.splitmode, c.tuner_id);
    let pointers =
        c.schunk.is_null() && c.prefilter.is_null() && c.codec_params.is_null() && d.schunk.is_null();
    let same = numbers == (0, 5, 8, 1, 0, 4, 0)
        && (c.filters, c.filters_meta) == ([0, 0, 0, 0, 0, 1], [0; 6])
        && (d.nthreads, d.typesize) == (1, 8)
        && pointers;
    if same { Ok(()) } else { Err(format!("unknown layout of parameters: {c:?} {d:?}").into()) }
}

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

/// Contexts for chunks.
#[derive(Debug)]
pub(crate) struct Chunker<'r> {
    rival: &'r Rival,
    cctx: NonNull<c_void>,
    dctx: NonNull<c_void>,
}

impl Chunker<'_> {
    /// Compresses into `out`; the number of bytes.
    pub(crate) fn compress(&mut self, src: &[u8], out: &mut [u8]) -> Outcome<usize> {
        let (from, to) = (src.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: both buffers have the lengths given, and the context is used by this thread alone (`&mut self`).
        let n = unsafe {
            (self.rival.compress)(
                self.cctx.as_ptr(),
                from,
                i32::try_from(src.len())?,
                to,
                i32::try_from(out.len())?,
            )
        };
        usize::try_from(n).ok().filter(|&n| n > 0).ok_or_else(|| format!("C-Blosc2 error {n}").into())
    }
    /// Decompresses into `out`, which has the right length.
    pub(crate) fn decompress(&mut self, chunk: &[u8], out: &mut [u8]) -> Outcome {
        let (from, to) = (chunk.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: as for `compress`.
        let n = unsafe {
            (self.rival.decompress)(
                self.dctx.as_ptr(),
                from,
                i32::try_from(chunk.len())?,
                to,
                i32::try_from(out.len())?,
            )
        };
        if usize::try_from(n) == Ok(out.len()) { Ok(()) } else { Err(format!("C-Blosc2 error {n}").into()) }
    }
}

impl Drop for Chunker<'_> {
    fn drop(&mut self) {
        // SAFETY: the context came from the library, and this is its last use.
        unsafe { (self.rival.free_ctx)(self.cctx.as_ptr()) };
        // SAFETY: as above.
        unsafe { (self.rival.free_ctx)(self.dctx.as_ptr()) };
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
        if code == 0 { Ok(()) } else { Err(format!("C-Blosc2 error {code}").into()) }
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
        if code == 0 { Ok(()) } else { Err(format!("C-Blosc2 error {code}").into()) }
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
        if code == 0 { Ok(()) } else { Err(format!("C-Blosc2 error {code}").into()) }
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
        if code != 0 {
            return Err(format!("C-Blosc2 error {code}").into());
        }
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
