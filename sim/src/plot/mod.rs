//! Line charts as SVG and PNG, and an HTML page that holds them.

mod page;

pub use page::Page;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

/// One line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the legend; without one it is not there.
    pub label: String,
    /// Points in drawing order. Points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Drawn thin and grey: a target or limit, not a measurement.
    pub reference: bool,
    /// Drawn as separate points instead of a line.
    pub marks: bool,
}

/// A line chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// Quantity and unit of the horizontal axis.
    pub x_label: String,
    /// Quantity and unit of the vertical axis.
    pub y_label: String,
    /// Logarithmic vertical axis; points at or below zero are left out.
    pub y_log: bool,
    /// The horizontal axis runs from right to left.
    pub x_reversed: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// Colours that stay apart for colour-blind readers (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

const SIZE: (u32, u32) = (860, 330);
const HEAD_HEIGHT: u32 = 52;

/// What a chart is drawn on.
#[derive(Clone, Copy)]
struct Medium {
    /// Pixels per unit of length.
    scale: u32,
    /// Lines are drawn piece by piece: the library's bitmaps grow spikes where a thick line turns sharply.
    pieces: bool,
}

const SVG: Medium = Medium {
    scale: 1,
    pieces: false,
};
/// Twice the size: enough for print.
const PNG: Medium = Medium {
    scale: 2,
    pieces: true,
};

/// DejaVu Sans, for bitmaps and for the widths of texts; the reader of an SVG draws them with its own sans-serif.
static FONT: LazyLock<bool> = LazyLock::new(|| {
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular()).is_ok()
});

/// An axis label without needless decimals.
fn number(value: &f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// A chart could not be drawn or written.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The drawing library refuses it.
    #[error("chart {title:?}: {reason}")]
    Draw {
        /// Title of the chart.
        title: String,
        /// What the library says.
        reason: String,
    },
    /// A file cannot be written.
    #[error("chart {file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
}

impl Chart {
    /// Draws the chart as an SVG element.
    ///
    /// # Errors
    /// When the drawing library refuses the chart.
    pub fn svg(&self) -> Result<String, PlotError> {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        self.draw(&area, SVG).map_err(|e| self.refused(e))?;
        drop(area);
        Ok(svg)
    }

    /// Draws the chart as a PNG file.
    ///
    /// # Errors
    /// When the drawing library refuses the chart.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        let (width, height) = (SIZE.0 * PNG.scale, SIZE.1 * PNG.scale);
        let mut pixels = vec![0; (width * height * 3) as usize];
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        self.draw(&area, PNG).map_err(|e| self.refused(e))?;
        drop(area);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&pixels))
            .map_err(|e| self.refused(e))?;
        Ok(file)
    }

    /// Writes `name`.svg and `name`.png into a folder.
    ///
    /// # Errors
    /// When the chart cannot be drawn or a file not be written.
    pub fn write(&self, folder: &Path, name: &str) -> Result<(), PlotError> {
        let write = |ending: &str, content: &[u8]| {
            let file = folder.join(format!("{name}.{ending}"));
            fs::write(&file, content).map_err(|source| PlotError::Write {
                file: file.display().to_string(),
                source,
            })
        };
        write("svg", self.svg()?.as_bytes())?;
        write("png", &self.png()?)
    }

    fn refused(&self, reason: impl std::fmt::Display) -> PlotError {
        PlotError::Draw {
            title: self.title.clone(),
            reason: reason.to_string(),
        }
    }

    fn usable(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && (!self.y_log || y > 0.0)
    }

    /// Ranges of both axes, padded so that no line lies on the frame.
    fn ranges(&self) -> ([f64; 2], [f64; 2]) {
        let mut x = [f64::INFINITY, f64::NEG_INFINITY];
        let mut y = x;
        for point in self.series.iter().flat_map(|s| &s.points) {
            if self.usable(*point) {
                x = [x[0].min(point.0), x[1].max(point.0)];
                y = [y[0].min(point.1), y[1].max(point.1)];
            }
        }
        if x[0] > x[1] {
            (x, y) = ([0.0, 1.0], [1.0, 10.0]);
        }
        if x[0] == x[1] {
            x[1] += 1.0;
        }
        if self.series.iter().any(|s| s.marks) {
            x = [x[0].min(0.0), x[1] + 0.05 * (x[1] - x[0].min(0.0))];
        }
        if self.y_log {
            (x, [y[0] / 1.5, y[1] * 1.5])
        } else {
            let low = y[0].min(0.0);
            (x, [low, low + (y[1] - low).max(1e-9) * 1.08])
        }
    }

    /// How each series is drawn: references thin and grey, the others in turn of the colours.
    fn styles(&self, scale: u32) -> Vec<ShapeStyle> {
        let mut colours = COLOURS.iter().cycle();
        let styles = self.series.iter().map(|series| match series.reference {
            true => BLACK.mix(0.45).stroke_width(scale),
            false => colours.next().unwrap_or(&BLACK).stroke_width(2 * scale),
        });
        styles.collect()
    }

    /// Title and legend, above the lines so that neither hides any. Lengths are multiplied by `scale`.
    fn draw_head<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: u32,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let at = |x: u32, y: u32| ((x * scale) as i32, (y * scale) as i32);
        let title = ("sans-serif", 18 * scale).into_font().color(&BLACK);
        area.draw_text(&self.title, &title, at(74, 8))?;
        let font = ("sans-serif", 13 * scale).into_font().color(&BLACK);
        let mut left = 74;
        let named = self.series.iter().zip(self.styles(scale));
        for (series, style) in named.filter(|(series, _)| !series.label.is_empty()) {
            area.draw(&PathElement::new([at(left, 40), at(left + 18, 40)], style))?;
            area.draw_text(&series.label, &font, at(left + 23, 33))?;
            let (width, _) = area.estimate_text_size(&series.label, &font)?;
            left += 45 + width / scale;
        }
        Ok(())
    }

    /// Draws the chart.
    fn draw<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, Shift>,
        Medium { scale, pieces }: Medium,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        LazyLock::force(&FONT);
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(HEAD_HEIGHT * scale);
        self.draw_head(&head, scale)?;
        let (mut x, y) = self.ranges();
        if self.x_reversed {
            x.reverse();
        }
        let mut builder = ChartBuilder::on(&body);
        builder
            .margin(10 * scale)
            .x_label_area_size(38 * scale)
            .y_label_area_size(64 * scale);
        // The two axis kinds are different types to the library; the drawing is the same.
        macro_rules! lines {
            ($y:expr) => {{
                let mut chart = builder.build_cartesian_2d(x[0]..x[1], $y)?;
                chart
                    .configure_mesh()
                    .light_line_style(TRANSPARENT)
                    .bold_line_style(BLACK.mix(0.12).stroke_width(scale))
                    .axis_style(BLACK.stroke_width(scale))
                    .set_all_tick_mark_size(5 * scale)
                    .x_desc(&self.x_label)
                    .y_desc(&self.y_label)
                    .x_label_formatter(&number)
                    .y_label_formatter(&number)
                    .label_style(("sans-serif", 13 * scale))
                    .draw()?;
                for (series, style) in self.series.iter().zip(self.styles(scale)) {
                    let points = series.points.iter().copied().filter(|p| self.usable(*p));
                    match series.marks {
                        true => {
                            let style = style.filled();
                            let mark = |p| Circle::new(p, 4 * scale, style);
                            chart.draw_series(points.map(mark))?;
                        }
                        false if pieces => {
                            let points: Vec<_> = points.collect();
                            let piece = |ends: &[_]| PathElement::new(ends.to_vec(), style);
                            chart.draw_series(points.windows(2).map(piece))?;
                        }
                        false => {
                            chart.draw_series(LineSeries::new(points, style))?;
                        }
                    }
                }
            }};
        }
        if self.y_log {
            lines!((y[0]..y[1]).log_scale());
        } else {
            lines!(y[0]..y[1]);
        }
        root.present()
    }
}

/// The cumulative distribution of some values as at most `points` points of (value, share of the values up to it).
pub fn cumulative(mut values: Vec<f64>, points: usize) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let points = points.min(count);
    (1..=points)
        .map(|i| {
            let rank = i * count / points;
            (values[rank - 1], rank as f64 / count as f64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(y_log: bool, points: &[(f64, f64)]) -> Chart {
        Chart {
            title: "Delay".into(),
            x_label: "time, s".into(),
            y_label: "ms".into(),
            y_log,
            series: vec![Series {
                label: "flow".into(),
                points: points.to_vec(),
                ..Series::default()
            }],
            ..Chart::default()
        }
    }

    #[test]
    fn points_that_cannot_be_drawn_do_not_spoil_the_axes() {
        let c = chart(
            true,
            &[(0.0, 0.0), (1.0, 5.0), (2.0, f64::NAN), (3.0, 50.0)],
        );
        assert_eq!(c.ranges(), ([1.0, 3.0], [5.0 / 1.5, 75.0]));
        assert!(c.svg().expect("drawn").contains("<polyline"));
    }

    #[test]
    fn a_distribution_ends_at_its_largest_value() {
        let values = vec![4.0, 1.0, 3.0, 2.0];
        assert_eq!(cumulative(values.clone(), 2), [(2.0, 0.5), (4.0, 1.0)]);
        assert_eq!(cumulative(values, 9).len(), 4);
        assert!(cumulative(Vec::new(), 9).is_empty());
    }

    #[test]
    fn an_empty_chart_is_drawn_too() {
        for chart in [chart(false, &[]), chart(true, &[])] {
            assert!(chart.svg().expect("drawn").ends_with("</svg>\n"));
            assert!(!chart.png().expect("drawn").is_empty());
        }
    }

    #[test]
    fn a_bitmap_shows_the_line_in_its_colour_and_letters() {
        let file = chart(false, &[(0.0, 1.0), (1.0, 2.0)])
            .png()
            .expect("drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a frame");
        assert_eq!((info.width, info.height), (1720, 660));
        let RGBColor(r, g, b) = COLOURS[0];
        let pixels: Vec<[u8; 3]> = pixels.as_chunks().0.to_vec();
        let line = pixels.iter().filter(|pixel| **pixel == [r, g, b]);
        assert!(line.count() > 1000);
        // The title lies above everything else.
        let title = &pixels[..40 * 1720];
        assert!(title.contains(&[0, 0, 0]));
    }
}
