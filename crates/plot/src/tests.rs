//! Pictures as a reader gets them: the PNG decoded again, the terminal's lines counted.

use crate::colour::{MISSING, Rgb, viridis};
use crate::picture::Layout;
use crate::{ColourDepth, Field, png, terminal, terminal_height};

struct Image {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Image {
    fn of(field: &Field, max_width: u32, max_height: u32) -> Self {
        let file = png(field, max_width, max_height).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(info.color_type, ::png::ColorType::Rgb);
        Self { width: info.width as usize, height: info.height as usize, bytes }
    }

    fn at(&self, x: i32, y: i32) -> Rgb {
        let at = (y as usize * self.width + x as usize) * 3;
        self.bytes[at..at + 3].try_into().unwrap()
    }
}

fn ramp(rows: usize, cols: usize) -> Field {
    let values = (0..rows * cols).map(|i| i as f64).collect();
    let mut field = Field::new(rows, cols, values);
    field.title = "A ramp of values (m/s) ~ 100%".into();
    field.row_label = "rows".into();
    field.col_label = "columns".into();
    field
}

fn layout(field: &Field, max_width: i32, max_height: i32) -> Layout {
    Layout::of(field, &field.range(), max_width, max_height)
}

fn luminance([r, g, b]: Rgb) -> f64 {
    0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
}

/// Fields that have broken plots elsewhere.
fn degenerate() -> Vec<Field> {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let mut fields = vec![
        Field::new(0, 0, vec![]),
        Field::new(0, 7, vec![]),
        Field::new(7, 0, vec![]),
        Field::new(1, 1, vec![3.5]),
        Field::new(1, 1, vec![nan]),
        Field::new(2, 2, vec![inf, -inf, nan, nan]),
        Field::new(2, 2, vec![inf; 4]),
        Field::new(3, 3, vec![nan; 9]),
        Field::new(3, 3, vec![-7.25; 9]),
        Field::new(2, 2, vec![f64::MIN, f64::MAX, 0.0, nan]),
        Field::new(2, 2, vec![0.0, 5e-324, 1e-323, -5e-324]),
        Field::new(2, 2, vec![1.0, 1.0 + f64::EPSILON, 1.0, 1.0]),
        Field::new(4, 4, vec![1.0, 2.0]),
        Field::new(1, 2, vec![1.0; 50]),
        ramp(1, 3000),
        ramp(3000, 1),
        ramp(3, 2000),
        ramp(17, 23),
    ];
    let mut odd = ramp(5, 40);
    (odd.row_start, odd.row_step, odd.col_start, odd.col_step) = (i64::MIN, i64::MIN, i64::MAX, 0);
    odd.title = "\u{1b}[2J\n\u{1f980} w\u{f8}rds ".repeat(100);
    odd.row_label.clone_from(&odd.title);
    odd.col_label.clone_from(&odd.title);
    fields.push(odd);
    fields
}

#[test]
fn no_field_breaks_a_picture_and_all_stay_in_bounds() {
    for (i, field) in degenerate().iter().enumerate() {
        for (w, h) in [(0, 0), (1, 1), (40, 300), (260, 200), (300, 2000), (900, 650)] {
            let image = Image::of(field, w, h);
            assert!(image.width <= w.max(1) as usize && image.height <= h.max(1) as usize, "{i} {w}x{h}");
        }
    }
}

#[test]
fn small_fields_are_parts_in_whole_squares() {
    let field = ramp(3, 4);
    let (image, parts) = (Image::of(&field, 1000, 800), layout(&field, 1000, 800));
    let plot = parts.plot;
    assert_eq!((plot.w, plot.h), (4 * 128, 3 * 128));
    for y in 0..plot.h {
        for x in 0..plot.w {
            let sample = f64::from(y / 128 * 4 + x / 128);
            assert_eq!(image.at(plot.x + x, plot.y + y), viridis(sample / 11.0));
        }
    }
}

#[test]
fn colours_at_known_places_follow_the_map() {
    let (rows, cols) = (900, 1600);
    let values = (0..rows * cols).map(|i| (i % cols) as f64).collect();
    let field = Field::new(rows, cols, values);
    let (image, parts) = (Image::of(&field, 700, 700), layout(&field, 700, 700));
    let plot = parts.plot;
    assert!(plot.w < 700 && (plot.w - plot.h * 16 / 9).abs() <= 2, "{plot:?}");
    for x in [0, plot.w / 4, plot.w / 2, plot.w - 1] {
        let seen = image.at(plot.x + x, plot.y + plot.h / 2);
        let wanted = viridis((f64::from(x) + 0.5) / f64::from(plot.w));
        assert!(seen.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1), "{x}: {seen:?} {wanted:?}");
    }
}

#[test]
fn missing_values_are_grey_where_they_are() {
    let mut field = ramp(60, 60);
    field.values[30 * 60 + 45] = f64::NAN;
    let (image, parts) = (Image::of(&field, 800, 800), layout(&field, 800, 800));
    let (plot, side) = (parts.plot, parts.plot.w / 60);
    assert_eq!(image.at(plot.x + 45 * side + side / 2, plot.y + 30 * side + side / 2), MISSING);
    assert_ne!(image.at(plot.x + 44 * side + side / 2, plot.y + 30 * side + side / 2), MISSING);
}

#[test]
fn the_colour_bar_rises_in_lightness_standing_and_lying() {
    for (field, lying) in [(ramp(300, 400), false), (ramp(2, 900), true)] {
        let (image, parts) = (Image::of(&field, 900, 700), layout(&field, 900, 700));
        let bar = parts.bar;
        assert_eq!(bar.w > bar.h, lying);
        let colours: Vec<Rgb> = if lying {
            (0..bar.w).map(|x| image.at(bar.x + x, bar.y + bar.h / 2)).collect()
        } else {
            (0..bar.h).rev().map(|y| image.at(bar.x + bar.w / 2, bar.y + y)).collect()
        };
        // Rounding to whole levels may take back less than one.
        assert!(colours.windows(2).all(|pair| luminance(pair[1]) > luminance(pair[0]) - 1.0));
        assert!(luminance(*colours.last().unwrap()) > luminance(colours[0]) + 150.0);
        assert_eq!(colours[0], viridis(0.5 / colours.len() as f64));
    }
}

#[test]
fn words_stay_clear_of_the_edge_and_of_the_plot() {
    for (rows, cols) in [(500, 800), (3, 4), (1, 900), (900, 1), (240, 480), (60, 60)] {
        let field = ramp(rows, cols);
        let image = Image::of(&field, 1000, 800);
        let (w, h) = (image.width as i32, image.height as i32);
        let edge = (0..w).flat_map(|x| [(x, 0), (x, h - 1)]).chain((0..h).flat_map(|y| [(0, y), (w - 1, y)]));
        for (x, y) in edge {
            assert_eq!(image.at(x, y), [255; 3], "{rows}x{cols} at {x},{y}");
        }
        let plot = layout(&field, 1000, 800).plot;
        // The frame is unbroken: nothing was written across it.
        let frame = image.at(plot.x - 1, plot.y - 1);
        assert!((plot.x - 1..=plot.x + plot.w).all(|x| image.at(x, plot.y - 1) == frame));
        assert!((plot.y - 1..=plot.y + plot.h).all(|y| image.at(plot.x - 1, y) == frame));
    }
}

/// The text as a screen shows it: without its escape sequences.
fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        out.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    out + rest
}

#[test]
fn the_terminal_gets_the_lines_and_columns_it_asked_for() {
    for (i, field) in degenerate().iter().enumerate() {
        for depth in [ColourDepth::True, ColourDepth::Ansi256, ColourDepth::None] {
            for (width, height) in [(80, 24), (24, 6), (23, 9), (1, 1), (200, 60), (0, 3), (40, 0)] {
                let text = terminal(field, width, height, depth);
                assert!(depth != ColourDepth::None || !text.contains('\x1b'));
                let screen = shown(&text);
                assert_eq!(screen.lines().count(), height, "{i}: {width}x{height}");
                for line in screen.lines() {
                    assert_eq!(line.chars().count(), width, "{i}: {line}");
                    assert!(!line.contains(char::is_control));
                }
                assert!(depth != ColourDepth::None || screen.chars().all(|c| c != '\u{2580}'));
            }
        }
    }
}

#[test]
fn the_terminal_shows_values_in_their_places() {
    let field = ramp(2, 2);
    let text = terminal(&field, 4, 2, ColourDepth::None);
    assert_eq!(text, "..==\n##@@\n");
    let coloured = terminal(&field, 2, 1, ColourDepth::True);
    let pen = |top: Rgb, low: Rgb| {
        format!("\x1b[38;2;{};{};{};48;2;{};{};{}m\u{2580}", top[0], top[1], top[2], low[0], low[1], low[2])
    };
    let cells = pen(viridis(0.0), viridis(2.0 / 3.0)) + &pen(viridis(1.0 / 3.0), viridis(1.0));
    assert_eq!(coloured, cells + "\x1b[0m\n");
    assert!(terminal(&field, 2, 1, ColourDepth::Ansi256).starts_with("\x1b[38;5;"));
}

#[test]
fn the_terminal_explains_what_it_shows() {
    let mut field = ramp(100, 200);
    field.values[0] = f64::NAN;
    field.row_start = 1000;
    let text = terminal(&field, 80, terminal_height(&field, 80), ColourDepth::None);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("A ramp of values (m/s) ~ 100%"));
    assert!(text.contains("\n1040 ") && text.contains(" 100 "), "{text}");
    assert!(text.contains("down: rows, across: columns"));
    let bar = lines.last().unwrap();
    assert!(bar.starts_with("1 ..") && bar.contains("@ 19999") && bar.contains("NaN"), "{bar}");
}
