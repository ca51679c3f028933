//! State of the screen, and what keys do to it.

use super::fetch::{Snapshot, Update};
use super::table::{Panel, Table};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::widgets::TableState;

/// What is on the screen.
pub(super) struct View {
    pub(super) xapp: String,
    pub(super) snapshot: Option<Snapshot>,
    /// Why the xApp does not answer; what is shown is from before.
    pub(super) lost: Option<String>,
    /// Index of the table that keys go to.
    pub(super) focus: usize,
    /// Only that table is shown.
    pub(super) alone: bool,
    pub(super) panels: [PanelState; Panel::ALL.len()],
}

/// Sorting and scrolling of one table.
#[derive(Default)]
pub(super) struct PanelState {
    /// Column to sort by; `None`: as the xApp lists them.
    pub(super) sort: Option<usize>,
    pub(super) descending: bool,
    pub(super) rows: TableState,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Stay,
    Quit,
}

impl View {
    pub(super) fn new(xapp: &str) -> Self {
        Self {
            xapp: xapp.to_owned(),
            snapshot: None,
            lost: None,
            focus: 0,
            alone: false,
            panels: Default::default(),
        }
    }

    pub(super) fn update(&mut self, update: Update) {
        match update {
            Update::Snapshot(snapshot) => {
                self.snapshot = Some(*snapshot);
                self.lost = None;
            }
            Update::Lost(reason) => self.lost = Some(reason),
        }
    }

    /// The sorted table of a panel; `None`: nothing came yet.
    pub(super) fn table(&self, index: usize) -> Option<Table> {
        let mut table = Panel::ALL[index].table(self.snapshot.as_ref()?);
        let state = &self.panels[index];
        if let Some(column) = state.sort {
            table.sort(column, state.descending);
        }
        Some(table)
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Outcome {
        let rows = self.table(self.focus).map_or(0, |t| t.rows.len());
        let columns = self.table(self.focus).map_or(0, |t| t.columns.len());
        let panels = Panel::ALL.len();
        let panel = &mut self.panels[self.focus];
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Outcome::Quit,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Outcome::Quit;
            }
            KeyCode::Tab | KeyCode::Right => self.focus = (self.focus + 1) % panels,
            KeyCode::BackTab | KeyCode::Left => self.focus = (self.focus + panels - 1) % panels,
            KeyCode::Enter => self.alone = !self.alone,
            KeyCode::Char('s') => {
                panel.sort = match panel.sort {
                    None if columns > 0 => Some(0),
                    Some(column) if column + 1 < columns => Some(column + 1),
                    _ => None,
                };
            }
            KeyCode::Char('r') => panel.descending = !panel.descending,
            KeyCode::Down => panel.scroll(1, rows),
            KeyCode::Up => panel.scroll(-1, rows),
            KeyCode::PageDown => panel.scroll(10, rows),
            KeyCode::PageUp => panel.scroll(-10, rows),
            KeyCode::Home => panel.rows.select((rows > 0).then_some(0)),
            KeyCode::End => panel.rows.select(rows.checked_sub(1)),
            _ => {}
        }
        Outcome::Stay
    }
}

impl PanelState {
    /// Moves the selection by so many rows, and keeps it within the table.
    fn scroll(&mut self, by: isize, rows: usize) {
        let next = match self.rows.selected() {
            None => 0,
            Some(row) => row.saturating_add_signed(by),
        };
        self.rows
            .select(rows.checked_sub(1).map(|last| next.min(last)));
    }
}
