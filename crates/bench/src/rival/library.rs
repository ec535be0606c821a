//! The loaded library: its functions, and the structures that cross the border by value, whose layout is checked against
//! the defaults that the library itself returns.

use b2nd_interop::Outcome;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::{null, null_mut};

/// `blosc2_cparams`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct CParams {
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
pub(super) struct DParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *const c_void,
    postparams: *mut c_void,
    typesize: i32,
}

/// `blosc2_storage`.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) contiguous: bool,
    pub(super) urlpath: *mut c_char,
    pub(super) cparams: *mut CParams,
    pub(super) dparams: *mut DParams,
    pub(super) io: *mut c_void,
}

/// A filter: bytes of an item, bytes, source, destination; gives the bytes or a negative error.
type Filter = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;
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

/// The functions of the loaded library, and the library itself.
#[derive(Debug)]
pub(crate) struct Rival {
    version: String,
    defaults: CParams,
    pub(super) create_cctx: unsafe extern "C" fn(CParams) -> Context,
    pub(super) create_dctx: unsafe extern "C" fn(DParams) -> Context,
    pub(super) free_ctx: unsafe extern "C" fn(Context),
    pub(super) compress: unsafe extern "C" fn(Context, *const c_void, i32, *mut c_void, i32) -> c_int,
    pub(super) decompress: unsafe extern "C" fn(Context, *const c_void, i32, *mut c_void, i32) -> c_int,
    pub(super) create_array_ctx: CreateArrayContext,
    pub(super) free_array_ctx: unsafe extern "C" fn(Context) -> c_int,
    pub(super) from_buffer: unsafe extern "C" fn(Context, *mut *mut c_void, *const c_void, i64) -> c_int,
    pub(super) open: unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int,
    pub(super) get_slice:
        unsafe extern "C" fn(*const c_void, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int,
    pub(super) set_slice:
        unsafe extern "C" fn(*const c_void, *const i64, i64, *const i64, *const i64, *mut c_void) -> c_int,
    pub(super) append: unsafe extern "C" fn(*mut c_void, *const c_void, i64, i8) -> c_int,
    pub(super) get_orthogonal: GetOrthogonal,
    pub(super) get_sparse: unsafe extern "C" fn(*const c_void, i64, *const i64, *mut c_void, i64) -> c_int,
    pub(super) from_cframe: unsafe extern "C" fn(*mut u8, i64, bool, *mut *mut c_void) -> c_int,
    pub(super) open_schunk: unsafe extern "C" fn(*const c_char) -> *mut c_void,
    pub(super) free_schunk: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(super) update_chunk: unsafe extern "C" fn(*mut c_void, i64, *mut u8, bool) -> i64,
    pub(super) append_chunk: unsafe extern "C" fn(*mut c_void, *mut u8, bool) -> i64,
    pub(super) decompress_chunk: unsafe extern "C" fn(*mut c_void, i64, *mut c_void, i32) -> c_int,
    pub(super) filters: [Filter; 4],
    pub(super) free_array: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(super) set_nthreads: unsafe extern "C" fn(i16) -> i16,
    /// Never unloaded: its threads may outlive the handles that started them.
    _library: ManuallyDrop<Library>,
}

/// How both sides compress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Codec id.
    pub(crate) codec: u8,
    /// Level.
    pub(crate) clevel: u8,
    /// Filter ids.
    pub(crate) filters: [u8; 6],
    /// Their meta bytes.
    pub(crate) filters_meta: [u8; 6],
    /// Bytes of an item.
    pub(crate) typesize: u32,
    /// Threads.
    pub(crate) threads: usize,
}

/// The error of a code that is not 0.
pub(super) fn done(code: c_int) -> Outcome {
    if code == 0 { Ok(()) } else { Err(format!("C-Blosc2 error {code}").into()) }
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
            from_cframe: symbol(&library, "b2nd_from_cframe")?,
            open_schunk: symbol(&library, "blosc2_schunk_open")?,
            free_schunk: symbol(&library, "blosc2_schunk_free")?,
            update_chunk: symbol(&library, "blosc2_schunk_update_chunk")?,
            append_chunk: symbol(&library, "blosc2_schunk_append_chunk")?,
            decompress_chunk: symbol(&library, "blosc2_schunk_decompress_chunk")?,
            filters: [
                symbol(&library, "blosc2_shuffle")?,
                symbol(&library, "blosc2_unshuffle")?,
                symbol(&library, "blosc2_bitshuffle")?,
                symbol(&library, "blosc2_bitunshuffle")?,
            ],
            free_array: symbol(&library, "b2nd_free")?,
            set_nthreads: symbol(&library, "blosc2_set_nthreads")?,
            _library: ManuallyDrop::new(library),
        })
    }
    /// The version of the library.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }
    pub(super) fn cparams(&self, setting: Setting) -> CParams {
        CParams {
            compcode: setting.codec,
            clevel: setting.clevel,
            typesize: setting.typesize as i32,
            nthreads: setting.threads as i16,
            splitmode: 3,
            filters: setting.filters,
            filters_meta: setting.filters_meta,
            ..self.defaults
        }
    }
    pub(super) fn dparams(&self, threads: usize) -> DParams {
        DParams {
            nthreads: threads as i16,
            schunk: null_mut(),
            postfilter: null(),
            postparams: null_mut(),
            typesize: 8,
        }
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
