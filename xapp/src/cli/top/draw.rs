//! Draws the screen: a function of the view.

use super::table::{Panel, Table, Tone, head};
use super::view::View;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table as TableWidget};

/// Wider texts are cut, so that the columns after them are seen.
const MAX_WIDTH: usize = 36;

pub(super) fn draw(frame: &mut Frame<'_>, view: &mut View) {
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(if view.lost.is_some() { 2 } else { 1 }),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(head_lines(view)), top);
    frame.render_widget(Paragraph::new(keys()), bottom);
    if view.snapshot.is_none() {
        return;
    }
    if view.alone {
        panel(frame, view, view.focus, body);
        return;
    }
    let shares =
        (0..Panel::ALL.len()).map(|i| Constraint::Fill(if i == view.focus { 2 } else { 1 }));
    for (i, area) in Layout::vertical(shares).split(body).iter().enumerate() {
        panel(frame, view, i, *area);
    }
}

fn head_lines(view: &View) -> Vec<Line<'static>> {
    let first = match (&view.snapshot, &view.lost) {
        (Some(snapshot), _) => {
            let mut text = head(snapshot);
            if snapshot.skipped > 0 {
                text += &format!(" · {} decisions not shown", snapshot.skipped);
            }
            Line::from(text).bold()
        }
        (None, _) => Line::from(format!("Connecting to {} …", view.xapp)),
    };
    let lost = view.lost.as_ref().map(|reason| {
        let text = format!("No answer from {}: {reason}. Trying again …", view.xapp);
        Line::from(text).fg(Color::White).bg(Color::Red)
    });
    [first].into_iter().chain(lost).collect()
}

fn keys() -> Line<'static> {
    let keys = [
        ("q", "quit"),
        ("Tab", "next table"),
        ("↑↓", "scroll"),
        ("s", "sort"),
        ("r", "reverse"),
        ("⏎", "zoom"),
    ];
    let spans = keys.into_iter().flat_map(|(key, does)| {
        [
            Span::from(format!(" {key} ")).reversed(),
            Span::from(format!(" {does}  ")),
        ]
    });
    spans.collect()
}

fn panel(frame: &mut Frame<'_>, view: &mut View, index: usize, area: Rect) {
    let Some(table) = view.table(index) else {
        return;
    };
    let focused = view.focus == index;
    // What is old must not look like what is now.
    let old = view.lost.is_some();
    let state = &mut view.panels[index];
    // Rows may have gone since the selection was made.
    let last = table.rows.len().checked_sub(1);
    let selected = state.rows.selected().and_then(|row| Some(row.min(last?)));
    state.rows.select(selected);

    let title = format!(" {} ({}) ", Panel::ALL[index].title(), table.rows.len());
    let border = if focused {
        Style::new().fg(Color::Cyan)
    } else {
        Style::new().add_modifier(Modifier::DIM)
    };
    let widget = TableWidget::new(rows(&table), widths(&table))
        .header(header(&table, state.sort, state.descending))
        .row_highlight_style(if focused {
            Style::new().reversed()
        } else {
            Style::new()
        })
        .style(if old {
            Style::new().add_modifier(Modifier::DIM)
        } else {
            Style::new()
        })
        .block(
            Block::new()
                .borders(Borders::TOP)
                .border_style(border)
                .title(title),
        );
    frame.render_stateful_widget(widget, area, &mut state.rows);
}

fn widths(table: &Table) -> Vec<Constraint> {
    let widths = table.widths().into_iter();
    widths
        .map(|w| Constraint::Length(w.min(MAX_WIDTH) as u16))
        .collect()
}

fn header(table: &Table, sort: Option<usize>, descending: bool) -> Row<'static> {
    let cells = table.columns.iter().enumerate().map(|(i, column)| {
        let mark = match (sort == Some(i), descending) {
            (false, _) => "",
            (true, false) => "▲",
            (true, true) => "▼",
        };
        Cell::from(aligned(format!("{}{mark}", column.head), column.number))
    });
    Row::new(cells).style(Style::new().bold())
}

fn rows(table: &Table) -> impl Iterator<Item = Row<'static>> {
    table.rows.iter().map(|row| {
        Row::new(row.iter().zip(&table.columns).map(|(field, column)| {
            Cell::from(aligned(field.text.clone(), column.number)).style(match field.tone {
                Tone::Plain => Style::new(),
                Tone::Good => Style::new().fg(Color::Green),
                Tone::Attention => Style::new().fg(Color::Yellow),
                Tone::Bad => Style::new().fg(Color::Red),
            })
        }))
    })
}

fn aligned(text: String, number: bool) -> Line<'static> {
    Line::from(text).alignment(if number {
        Alignment::Right
    } else {
        Alignment::Left
    })
}
