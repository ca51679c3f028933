//! A part of the document: tables and charts in order.

use sim::plot::{Chart, PlotError};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// The charts could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Draw(#[from] PlotError),
    #[error("charts: {0}")]
    Write(#[from] io::Error),
}

#[derive(Default)]
pub struct Section {
    parts: Vec<Part>,
}

enum Part {
    Table {
        title: String,
        rows: Vec<Vec<String>>,
    },
    Chart {
        file: &'static str,
        chart: Chart,
    },
}

impl Section {
    /// Adds a table whose first row is its head.
    pub fn table(&mut self, title: &str, head: &[&str], rows: Vec<Vec<String>>) {
        let mut all = vec![head.iter().map(|&cell| cell.to_owned()).collect()];
        all.extend(rows);
        self.parts.push(Part::Table {
            title: title.to_owned(),
            rows: all,
        });
    }

    /// Adds a chart.
    pub fn chart(&mut self, file: &'static str, chart: Chart) {
        self.parts.push(Part::Chart { file, chart });
    }

    /// The tables with aligned columns.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            let Part::Table { title, rows } = part else {
                continue;
            };
            let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
            let width = |column: usize| {
                let cells = rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            };
            let widths: Vec<usize> = (0..columns).map(width).collect();
            let _ = writeln!(text, "\n{title}");
            for row in rows {
                for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                    let _ = match column {
                        0 => write!(text, "{cell:<width$}"),
                        _ => write!(text, "  {cell:>width$}"),
                    };
                }
                text.push('\n');
            }
        }
        text
    }

    /// The tables and charts as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Table { title, rows } => {
                    let _ = writeln!(text, "**{title}**\n");
                    for (index, row) in rows.iter().enumerate() {
                        let _ = writeln!(text, "| {} |", row.join(" | "));
                        if index == 0 {
                            let rules = row.iter().skip(1).map(|_| "---: |").collect::<String>();
                            let _ = writeln!(text, "| --- |{rules}");
                        }
                    }
                    text.push('\n');
                }
                Part::Chart { file, chart } => {
                    let _ = writeln!(text, "![{}](img/{file}.svg)\n", chart.title);
                }
            }
        }
        text.trim_end().to_owned()
    }

    /// Writes the charts as SVG files.
    pub fn write_charts(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder)?;
        for part in &self.parts {
            if let Part::Chart { file, chart } = part {
                fs::write(folder.join(format!("{file}.svg")), chart.svg()?)?;
            }
        }
        Ok(())
    }
}
