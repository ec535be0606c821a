//! A slice as the picture that suits it: a field of colours by value, colours of its own, or a line.

use std::io;

use b2nd::Array;
use b2nd_plot::{ColourDepth, Field, Line, Scale, Texts};

use super::Screen;
use super::plane::{self, Plane};
use super::values::{self, Meaning};
use crate::args::PictureSize;
use crate::failure::{Failure, Result};
use crate::report;
use crate::text;
use crate::view::{Along, View};

/// How a picture is wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    pub(crate) title: String,
    /// Whether the user chose the title, so that nothing is added.
    pub(crate) is_titled: bool,
    pub(crate) x_label: Option<String>,
    pub(crate) y_label: Option<String>,
    pub(crate) x_texts: Option<Texts>,
    pub(crate) y_texts: Option<Texts>,
    pub(crate) scale: Scale,
    /// The names of the axes of the array.
    pub(crate) dimensions: Vec<String>,
}

/// What is drawn.
pub(crate) enum Picture {
    Field(Field),
    Line(Line),
}

impl Picture {
    /// Reads a slice, and finds the picture that suits it.
    pub(crate) fn new(array: &Array, view: &View, look: &Look, budget: u64) -> Result<Self> {
        let axes = plane::axes(view, values::can_be_colours(array))?;
        let shape = view.shape();
        if plane::is_colour(&shape) {
            return coloured(array, view, look, axes, budget).map(Picture::Field);
        }
        let plane = Plane::read(array, view, axes, 1, budget)?;
        let (values, meaning) = values::to_values(array.dtype(), &plane.items)?;
        let scale = scale(array, look, &values, meaning)?;
        let mut title = look.title.clone();
        if meaning == Meaning::Modulus && !look.is_titled {
            title.push_str(", modulus");
        }
        if let [None, Some(_)] = axes {
            let (label, start, step) = label(plane.along[1], &look.dimensions);
            let mut line = Line::new(values);
            (line.title, line.start, line.step) = (title, start, step);
            line.label = look.x_label.clone().unwrap_or(label);
            line.texts = thinned(look.x_texts.as_ref(), plane.every[1]);
            line.scale =
                Scale { label: look.y_label.clone().unwrap_or_else(|| scale.label.clone()), ..scale };
            return Ok(Picture::Line(line));
        }
        let mut field = Field::new(plane.rows, plane.cols, values);
        field.title = title;
        field.scale = scale;
        surround(&mut field, &plane, look);
        Ok(Picture::Field(field))
    }

    /// The picture as a PNG file.
    pub(crate) fn png(&self, size: PictureSize) -> io::Result<Vec<u8>> {
        let PictureSize { width, height } = size;
        match self {
            Picture::Field(field) => b2nd_plot::png(field, width, height),
            Picture::Line(line) => b2nd_plot::line_png(line, width, height),
        }
    }

    /// The picture as text: of this size, or as large as suits it on this screen.
    pub(super) fn terminal(&self, size: Option<PictureSize>, screen: Screen, depth: ColourDepth) -> String {
        let size = size.map(|size| (size.width as usize, size.height as usize));
        let fitting = |wanted: usize| (screen.columns, wanted.min(screen.lines.saturating_sub(1)).max(8));
        match self {
            Picture::Field(field) => {
                let (width, height) =
                    size.unwrap_or_else(|| fitting(b2nd_plot::terminal_height(field, screen.columns)));
                b2nd_plot::terminal(field, width, height, depth)
            }
            Picture::Line(line) => {
                let (width, height) = size.unwrap_or_else(|| fitting(LINE_HEIGHT));
                b2nd_plot::line_terminal(line, width, height, depth)
            }
        }
    }

    /// What was drawn, in a few words.
    pub(super) fn summary(&self) -> String {
        match self {
            Picture::Field(field) if !field.colours.is_empty() => {
                format!("{} by {} colours", field.rows, field.cols)
            }
            Picture::Field(field) => format!("{} by {} values", field.rows, field.cols),
            Picture::Line(line) => format!("a line of {} values", line.values.len()),
        }
    }
}

/// The lines of text that a line takes, where there are as many.
const LINE_HEIGHT: usize = 24;

/// A picture in its own colours.
fn coloured(array: &Array, view: &View, look: &Look, axes: [Option<usize>; 2], budget: u64) -> Result<Field> {
    let plain = Scale { map: look.scale.map, ..Scale::default() };
    if look.scale != plain {
        return Err(Failure::usage(
            "the slice is a picture in its own colours: there are no limits and no logarithm",
            "give --slice with an integer for the last axis, to draw one of its parts",
        ));
    }
    let parts = view.shape().last().copied().unwrap_or(3);
    let plane = Plane::read(array, view, axes, parts, budget)?;
    let colours = values::to_colours(array.dtype(), &plane.items, usize::try_from(parts).unwrap_or(3))?;
    let mut field = Field::new(plane.rows, plane.cols, Vec::new());
    field.title.clone_from(&look.title);
    field.colours = colours;
    surround(&mut field, &plane, look);
    Ok(field)
}

/// Writes names and numbers along the sides.
fn surround(field: &mut Field, plane: &Plane, look: &Look) {
    (field.row_label, field.row_start, field.row_step) = label(plane.along[0], &look.dimensions);
    (field.col_label, field.col_start, field.col_step) = label(plane.along[1], &look.dimensions);
    if let Some(label) = &look.y_label {
        field.row_label.clone_from(label);
    }
    if let Some(label) = &look.x_label {
        field.col_label.clone_from(label);
    }
    field.row_texts = thinned(look.y_texts.as_ref(), plane.every[0]);
    field.col_texts = thinned(look.x_texts.as_ref(), plane.every[1]);
}

/// The texts along an axis of which one index in `every` is drawn.
fn thinned(texts: Option<&Texts>, every: u64) -> Option<Texts> {
    let texts = texts?;
    let every = usize::try_from(every).unwrap_or(usize::MAX).max(1);
    // Texts and samples meet again after as many indices as both steps divide.
    let step = (1..=every).find(|n| n.saturating_mul(texts.every) % every == 0).unwrap_or(every);
    let kept = texts.texts.iter().step_by(step).cloned().collect();
    Some(Texts { every: (texts.every.saturating_mul(step) / every).max(1), texts: kept })
}

/// The scale, with the name of the values: what the user says, or the attributes `long_name` and `units`.
fn scale(array: &Array, look: &Look, values: &[f64], meaning: Meaning) -> Result<Scale> {
    let mut scale = look.scale.clone();
    scale.times = meaning == Meaning::Time;
    if scale.times && (scale.log || matches!(scale.limits, b2nd_plot::Limits::Fixed(..))) {
        return Err(Failure::usage(
            "the values are dates: they have no logarithm, and limits are numbers",
            "--percentiles cuts dates too",
        ));
    }
    if scale.log && !values.iter().any(|&value| value > 0.0 && value.is_finite()) {
        return Err(Failure::usage("--log: no value is above 0", "leave --log out"));
    }
    let attribute = |name| {
        let value = report::short_attribute(array.schunk(), name)?;
        value.as_str().map(str::to_owned).filter(|text| !text.is_empty())
    };
    let units = attribute("units")
        .or_else(|| (meaning == Meaning::Duration).then(|| text::plural(array.dtype().unit()).to_owned()));
    scale.label = match (attribute("long_name"), units) {
        (Some(name), Some(units)) => format!("{name} ({units})"),
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => String::new(),
    };
    if meaning == Meaning::Modulus {
        scale.label =
            if scale.label.is_empty() { "modulus".into() } else { format!("modulus of {}", scale.label) };
    }
    Ok(scale)
}

/// The name of an axis of the picture, its first index and the step from one to the next. Along lists the entries are
/// counted.
fn label(along: Option<Along>, dimensions: &[String]) -> (String, i64, i64) {
    let name = |axis: usize| dimensions.get(axis).cloned().unwrap_or_else(|| format!("axis {axis}"));
    match along {
        None | Some(Along::New) => (String::new(), 0, 1),
        Some(Along::Range { axis, start, step }) => {
            (name(axis), i64::try_from(start).unwrap_or(i64::MAX), step)
        }
        Some(Along::List { axis }) => (format!("entries of the list along {}", name(axis)), 0, 1),
        Some(Along::Points) => ("entries of the lists".into(), 0, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_with_their_indices_when_the_axis_is_thinned() {
        let texts = Texts { every: 2, texts: (0..30).map(|n| (2 * n).to_string()).collect() };
        let thin = thinned(Some(&texts), 3).unwrap();
        // A text for every sixth index, which is every second of those that are drawn.
        assert_eq!((thin.every, thin.texts[1].as_str()), (2, "6"));
        assert_eq!(thinned(Some(&texts), 1).unwrap(), texts);
        assert_eq!(
            thinned(Some(&texts), 4).map(|thin| (thin.every, thin.texts[1].clone())),
            Some((1, "4".into()))
        );
    }

    #[test]
    fn axes_have_their_names() {
        let range = Some(Along::Range { axis: 1, start: 5, step: -2 });
        assert_eq!(label(range, &[]), ("axis 1".into(), 5, -2));
        assert_eq!(label(range, &["time".into(), "lat".into()]), ("lat".into(), 5, -2));
    }
}
