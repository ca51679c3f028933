//! Line charts as SVG, and an HTML page that holds them.

use plotters::prelude::*;
use std::fmt::Write as _;

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

/// An axis label without needless decimals.
fn number(value: &f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// A chart could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("chart {title:?}: {reason}")]
pub struct PlotError {
    title: String,
    reason: String,
}

impl Chart {
    /// Draws the chart as an SVG element.
    ///
    /// # Errors
    /// When the drawing library refuses the chart.
    pub fn svg(&self) -> Result<String, PlotError> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|e| PlotError {
            title: self.title.clone(),
            reason: e.to_string(),
        })?;
        Ok(svg)
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
        if self.y_log {
            (x, [y[0] / 1.5, y[1] * 1.5])
        } else {
            let low = y[0].min(0.0);
            (x, [low, low + (y[1] - low).max(1e-9) * 1.08])
        }
    }

    /// How each series is drawn: references thin and grey, the others in turn of the colours.
    fn styles(&self) -> Vec<ShapeStyle> {
        let mut colours = COLOURS.iter().cycle();
        let styles = self.series.iter().map(|series| match series.reference {
            true => BLACK.mix(0.45).stroke_width(1),
            false => colours.next().unwrap_or(&BLACK).stroke_width(2),
        });
        styles.collect()
    }

    /// Title and legend, above the lines so that neither hides any.
    fn draw_head<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let font = ("sans-serif", 13).into_font().color(&BLACK);
        area.draw_text(
            &self.title,
            &("sans-serif", 18).into_font().color(&BLACK),
            (74, 8),
        )?;
        let mut left = 74;
        let named = self.series.iter().zip(self.styles());
        for (series, style) in named.filter(|(series, _)| !series.label.is_empty()) {
            area.draw(&PathElement::new([(left, 40), (left + 18, 40)], style))?;
            area.draw_text(&series.label, &font, (left + 23, 33))?;
            // The width of a text is not known without a font: an average one per letter.
            left += 45 + 7 * series.label.chars().count() as i32;
        }
        Ok(())
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(HEAD_HEIGHT);
        self.draw_head(&head)?;
        let (mut x, y) = self.ranges();
        if self.x_reversed {
            x.reverse();
        }
        let mut builder = ChartBuilder::on(&body);
        builder
            .margin(10)
            .x_label_area_size(38)
            .y_label_area_size(64);
        // The two axis kinds are different types to the library; the drawing is the same.
        macro_rules! lines {
            ($y:expr) => {{
                let mut chart = builder.build_cartesian_2d(x[0]..x[1], $y)?;
                chart
                    .configure_mesh()
                    .light_line_style(TRANSPARENT)
                    .bold_line_style(BLACK.mix(0.12))
                    .x_desc(&self.x_label)
                    .y_desc(&self.y_label)
                    .x_label_formatter(&number)
                    .y_label_formatter(&number)
                    .label_style(("sans-serif", 13))
                    .draw()?;
                for (series, style) in self.series.iter().zip(self.styles()) {
                    let points = series.points.iter().copied().filter(|p| self.usable(*p));
                    match series.marks {
                        true => {
                            let style = style.filled();
                            chart.draw_series(points.map(|p| Circle::new(p, 4, style)))?;
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
        root.present()?;
        Ok(())
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

/// An HTML page in one file: no scripts, nothing loaded from elsewhere.
#[derive(Clone, Debug)]
pub struct Page {
    html: String,
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;\
background:#fff;color:#1a1a1a}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.3rem .8rem;text-align:right;\
border-bottom:1px solid #ddd}th:first-child,td:first-child{text-align:left;white-space:nowrap}svg{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}th,td{border-color:#444}\
svg{filter:invert(.93) hue-rotate(180deg)}}";

impl Page {
    /// Starts a page with a heading.
    pub fn new(title: &str) -> Self {
        let title = escape(title);
        Self {
            html: format!(
                "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
                 <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
                 <style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
            ),
        }
    }

    /// Adds a second-level heading.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.html, "<h2>{}</h2>", escape(text));
    }

    /// Adds a paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.html, "<p>{}</p>", escape(text));
    }

    /// Adds plain text that keeps its columns.
    pub fn preformatted(&mut self, text: &str) {
        let _ = writeln!(self.html, "<pre>{}</pre>", escape(text));
    }

    /// Adds a table; the first column is text, the others are figures.
    pub fn table<S: AsRef<str>>(&mut self, head: &[S], rows: &[Vec<String>]) {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
            cells.fold(String::new(), |mut row, cell| {
                let _ = write!(row, "<{tag}>{}</{tag}>", escape(cell));
                row
            })
        };
        let head = cells("th", &mut head.iter().map(S::as_ref));
        let _ = writeln!(self.html, "<table>\n<tr>{head}</tr>");
        for row in rows {
            let row = cells("td", &mut row.iter().map(String::as_str));
            let _ = writeln!(self.html, "<tr>{row}</tr>");
        }
        self.html.push_str("</table>\n");
    }

    /// Adds a chart.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn chart(&mut self, chart: &Chart) -> Result<(), PlotError> {
        let _ = writeln!(self.html, "<figure>{}</figure>", chart.svg()?);
        Ok(())
    }

    /// The finished page.
    pub fn finish(mut self) -> String {
        self.html.push_str("</body></html>\n");
        self.html
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
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
        assert!(
            chart(false, &[])
                .svg()
                .expect("drawn")
                .ends_with("</svg>\n")
        );
        assert!(chart(true, &[]).svg().expect("drawn").ends_with("</svg>\n"));
    }

    #[test]
    fn text_cannot_become_markup() {
        let mut page = Page::new("a<b");
        page.table(&["<i>"], &[vec!["&".into()]]);
        let html = page.finish();
        assert!(html.contains("<h1>a&lt;b</h1>") && html.contains("<th>&lt;i&gt;</th>"));
        assert!(html.contains("<td>&amp;</td>"));
    }
}
