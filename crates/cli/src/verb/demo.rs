//! `b2nd demo`: a field made, stored, cut, compared with `.npy` and drawn.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use b2nd::array::{Array, Dtype, Options, Selection, npy};

use crate::args::{Demo, DemoSize, Work};
use crate::demo::field::{AXES, NAME, SHAPE, slab};
use crate::failure::{Failure, Outcome, Result};
use crate::input::Input;
use crate::output::{self, Draft};
use crate::progress::Progress;
use crate::report;
use crate::view::View;

const SMALL: [usize; 3] = [24, 121, 240];

pub(super) fn run(args: &Demo) -> Result<Outcome> {
    let (npy_path, path, picture) =
        (args.dir.join("field.npy"), args.dir.join("field.b2nd"), args.dir.join("field.png"));
    fs::create_dir_all(&args.dir).map_err(|error| Failure::io("make the folder", &args.dir, &error))?;
    let pictures = if cfg!(feature = "plot") { Some(&picture) } else { None };
    for file in [&npy_path, &path].into_iter().chain(pictures) {
        output::check_free(file, args.force)?;
    }
    let shape = match args.size {
        DemoSize::Small => SMALL,
        DemoSize::Full => SHAPE,
    };
    let work = Work { threads: args.threads, memory: None };
    let array = make(shape, &npy_path, &path, args.force, &work)?;
    let mut all_equal = true;
    output::print(&format!("\n{:<22} {:>10} {:>12} {:>12}\n", "slice", "size", ".b2nd", ".npy"))?;
    for text in slices(shape) {
        let (line, equal) = cut(&array, &npy_path, &text)?;
        all_equal &= equal;
        output::print(&line)?;
    }
    let verdict =
        if all_equal { "All slices are equal in both files." } else { "Slices DIFFER between the files!" };
    output::print(&format!(
        "{verdict} (The best of three readings. Both come from the page cache: what a disk or a network adds, it adds by the byte.)\n"
    ))?;
    #[cfg(feature = "plot")]
    draw(&array, &picture, args.force)?;
    output::print(&ending(&npy_path, &path, pictures, shape))?;
    Ok(if all_equal { Outcome::Good } else { Outcome::Damaged })
}

/// Computes the field and stores it both ways, some steps of time at a time.
fn make(shape: [usize; 3], npy_path: &Path, path: &Path, force: bool, work: &Work) -> Result<Array> {
    let wide: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let dtype = Dtype::parse("<f4")?;
    let nbytes = wide.iter().product::<u64>() * 4;
    output::print(&format!(
        "{NAME}: {} {dtype}, axes {}: {}\n",
        report::lengths(&wide),
        AXES.join(", "),
        report::bytes(nbytes)
    ))?;
    let progress = Progress::new("make and store", nbytes);
    let mut writer = Options::new()
        .with_overwrite(force)
        .with_exec(progress.watch(work.exec()))
        .create_uncommitted(path, dtype.clone(), &wide)?;
    let header = npy::Header::new(dtype, wide.clone(), false).to_bytes()?;
    let mut draft = Draft::new(npy_path, "out")?;
    draft.write_at(0, &header)?;

    let (mut making, mut storing, mut plain) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let plane = shape[1] * shape[2];
    // Whole chunks at a time: none is read again to be completed.
    let thick = writer.array().chunks().first().map_or(1, |&n| n as usize);
    let mut at = 0;
    while at < shape[0] {
        let end = shape[0].min(at + thick);
        let clock = Instant::now();
        let items = steps(shape, at, end, work.exec().threads());
        making += clock.elapsed();
        let clock = Instant::now();
        let stop = [end as u64, wide.get(1).copied().unwrap_or(0), wide.get(2).copied().unwrap_or(0)];
        writer.write_bytes(Selection::from_box(&[at as u64, 0, 0], &stop), &items)?;
        storing += clock.elapsed();
        let clock = Instant::now();
        draft.write_at((header.len() + at * plane * 4) as u64, &items)?;
        plain += clock.elapsed();
        at = end;
    }
    let clock = Instant::now();
    let array = writer.commit()?;
    storing += clock.elapsed();
    draft.keep(force)?;
    drop(progress);
    let clock = Instant::now();
    array.read_bytes(Selection::all())?;
    let reading = clock.elapsed();
    output::print(&format!(
        "computed in {}; written as .npy in {} ({})\n{}\nread whole in {} ({})\n",
        report::seconds(making),
        report::seconds(plain),
        report::speed(nbytes, plain),
        report::stored(&path.display().to_string(), &array, storing),
        report::seconds(reading),
        report::speed(nbytes, reading),
    ))?;
    Ok(array)
}

/// The items of some steps of time, computed on several threads.
fn steps(shape: [usize; 3], from: usize, to: usize, threads: usize) -> Vec<u8> {
    let plane = shape[1] * shape[2];
    let mut values = vec![0f32; (to - from) * plane];
    let share = (to - from).div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (n, part) in values.chunks_mut(share * plane).enumerate() {
            let first = from + n * share;
            scope.spawn(move || slab(shape, first..first + part.len() / plane, part));
        }
    });
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A plane along each axis, a line, and a box.
fn slices(shape: [usize; 3]) -> Vec<String> {
    let [t, y, x] = shape.map(|n| n / 2);
    vec![
        format!("{t},:,:"),
        format!(":,{y},:"),
        format!(":,:,{x}"),
        format!(":,{y},{x}"),
        format!("{}:{t},{}:{y},{}:{x}", t - t / 3, y - y / 4, x - x / 4),
    ]
}

/// Reads a slice from both files, three times each: the best time counts. And whether both gave the same bytes.
fn cut(array: &Array, npy_path: &Path, text: &str) -> Result<(String, bool)> {
    let view = View::parse(array.shape(), Some(text))?;
    let Some(region) = view.as_box(array.ndim())? else {
        return Err(Failure::usage(format!("the slice '{text}' is no box"), "the demo cuts boxes"));
    };
    let mut input = Input::open(npy_path, None)?;
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    let (mut items, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let clock = Instant::now();
        items = array.read_bytes(view.whole()?)?;
        ours = ours.min(clock.elapsed());
        let clock = Instant::now();
        input.read(&region, &mut plain, 1 << 28)?;
        theirs = theirs.min(clock.elapsed());
    }
    let size = report::bytes(items.len() as u64);
    let line = format!(
        "{:<22} {size:>10} {:>12} {:>12}\n",
        format!("[{text}]"),
        report::seconds(ours),
        report::seconds(theirs)
    );
    Ok((line, items == plain))
}

#[cfg(feature = "plot")]
fn draw(array: &Array, path: &Path, force: bool) -> Result<()> {
    let middle = array.shape().first().map_or(0, |len| len / 2);
    let view = View::parse(array.shape(), Some(&format!("{middle},:,:")))?;
    let mut field = super::plot::field(array, &view)?;
    field.title = format!("{NAME}, {} {middle}", AXES[0]);
    field.row_label = AXES[1].into();
    field.col_label = AXES[2].into();
    let image = b2nd_plot::png(&field, 1200, 900).map_err(|error| Failure::io("draw", path, &error))?;
    output::write_file(path, &image, force)
}

fn ending(npy_path: &Path, path: &Path, picture: Option<&PathBuf>, shape: [usize; 3]) -> String {
    let (npy_path, path) = (npy_path.display(), path.display());
    let y = shape[1] / 2;
    let look = picture.map_or_else(String::new, |picture| {
        format!(
            "\nLook at {}: a warm equator, waves and storms; the colour bar has the values.",
            picture.display()
        )
    });
    let plot = picture.map_or_else(String::new, |_| format!("\x20 b2nd plot {path} --slice ':,{y},:'\n"));
    format!(
        "{look}\nThe files stay: {path}, {npy_path}. Go on with:\n\
         \x20 b2nd info {path}\n\
         \x20 b2nd slice {path} '0,{y},:10'\n\
         {plot}\
         \x20 b2nd convert {path} lz4.b2nd --codec lz4\n\
         \x20 b2nd verify {path}\n"
    )
}
