//! `b2nd demo`: a field made, stored, cut, compared with `.npy` and drawn.

mod compare;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use b2nd::array::npy;
use b2nd::{Array, AttrValue, Dtype, Options, Selection};

#[cfg(feature = "plot")]
use crate::args::Work;
use crate::args::{Demo, DemoSize, Threads};
use crate::demo::field::{AXES, LONG_NAME, NAME, SHAPE, UNITS, slab};
use crate::failure::{Failure, Outcome, Result};
use crate::output::{self, Draft};
use crate::progress::Progress;
use crate::report;
#[cfg(feature = "plot")]
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
    let array = make(shape, &npy_path, &path, args.force, args.threads)?;
    let all_equal = compare::run(
        &compare::Files { npy: &npy_path, array: &path, threads: args.threads },
        &slices(shape),
    )?;
    #[cfg(feature = "plot")]
    draw(&array, &picture, args.force)?;
    drop(array);
    output::print(&ending(&npy_path, &path, pictures, shape))?;
    Ok(if all_equal { Outcome::Good } else { Outcome::Damaged })
}

/// Computes the field and stores it both ways, some steps of time at a time.
fn make(shape: [usize; 3], npy_path: &Path, path: &Path, force: bool, threads: Threads) -> Result<Array> {
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
        .with_attr(report::DIMENSIONS, AttrValue::list(AXES))
        .with_attr("long_name", LONG_NAME)
        .with_attr("units", UNITS)
        .with_overwrite(force)
        .with_exec(progress.watch(threads.exec()))
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
        let items = steps(shape, at, end, threads.exec().threads());
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

/// The slice that the picture shows, and its title.
fn scene(time: usize) -> (String, String) {
    (format!("{time},:,:"), format!("{NAME}, {} {time}", AXES[0]))
}

/// Draws the middle of the field, as the command does that `ending` names.
#[cfg(feature = "plot")]
fn draw(array: &Array, path: &Path, force: bool) -> Result<()> {
    use super::plot::{Look, PICTURE, Picture};
    let middle = array.shape().first().map_or(0, |len| usize::try_from(len / 2).unwrap_or(0));
    let (slice, title) = scene(middle);
    let view = View::parse(array.shape(), Some(&slice))?;
    let dimensions = report::dimensions(array).unwrap_or_default();
    let look = Look { title, is_titled: true, dimensions, ..Look::default() };
    let picture = Picture::new(array, &view, &look, Work::default().budget())?;
    let image = picture.png(PICTURE).map_err(|error| Failure::io("draw", path, &error))?;
    output::write_file(path, &image, force)
}

fn ending(npy_path: &Path, path: &Path, picture: Option<&PathBuf>, shape: [usize; 3]) -> String {
    let (npy_path, path) = (npy_path.display(), path.display());
    let y = shape[1] / 2;
    let (slice, title) = scene(shape[0] / 2);
    let look = picture.map_or_else(String::new, |picture| {
        format!(
            "\n{} shows a warm equator, waves and storms. This draws it again:\n\
             \x20 b2nd plot {path} --slice '{slice}' --title '{title}' -o again.png\n",
            picture.display()
        )
    });
    let plot = picture.map_or_else(String::new, |_| format!("\x20 b2nd plot {path} --slice ':,{y},0'\n"));
    format!(
        "{look}\nThe files stay: {path}, {npy_path}. Go on with:\n\
         \x20 b2nd info {path}\n\
         \x20 b2nd slice {path} '0,{y},:10'\n\
         {plot}\
         \x20 b2nd diff {path} {npy_path}\n\
         \x20 b2nd convert {path} lz4.b2nd --codec lz4\n\
         \x20 b2nd verify {path}\n"
    )
}
