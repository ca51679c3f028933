//! An HTML page that holds charts.

use super::{Chart, PlotError};
use std::fmt::Write as _;

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

    #[test]
    fn text_cannot_become_markup() {
        let mut page = Page::new("a<b");
        page.table(&["<i>"], &[vec!["&".into()]]);
        let html = page.finish();
        assert!(html.contains("<h1>a&lt;b</h1>") && html.contains("<th>&lt;i&gt;</th>"));
        assert!(html.contains("<td>&amp;</td>"));
    }
}
