//! The published figures and those of ns-3, from `sim/reference`.

/// A table of the reference.
pub struct Reference {
    columns: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// A row of it.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [&'static str],
    cells: &'a [&'static str],
}

impl Reference {
    pub fn new(text: &'static str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        Self {
            columns: lines.next().unwrap_or_default(),
            rows: lines.collect(),
        }
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row {
            columns: &self.columns,
            cells,
        })
    }
}

impl<'a> Row<'a> {
    /// The text of a cell; empty if there is none.
    pub fn text(self, column: &str) -> &'static str {
        let index = self.columns.iter().position(|c| *c == column);
        index
            .and_then(|index| self.cells.get(index))
            .copied()
            .unwrap_or_default()
    }

    /// The number in a cell; not a number if there is none.
    pub fn number(self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }
}

/// A figure with some digits; a dash for one that does not exist.
pub fn figure(value: f64, digits: usize) -> String {
    match value.is_finite() {
        true => format!("{value:.digits$}"),
        false => "–".to_owned(),
    }
}

/// Ours and the reference's figure in one cell.
pub fn beside(ours: f64, theirs: f64, digits: usize) -> String {
    format!("{} / {}", figure(ours, digits), figure(theirs, digits))
}
