//! A report as an HTML page with plots.

use super::table::{
    arm_head, arm_row, comparison_head, comparison_row, name, notes, outcome, standing, unit,
};
use crate::plot::{Chart, Page, PlotError, Series, cumulative};
use policies::experiment::statistics::Interval;
use policies::experiment::{Metric, Report, Scale};

/// The page.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn page(report: &Report) -> Result<String, PlotError> {
    let mut page = Page::new(&format!("Experiment {}", report.name));
    page.paragraph(&outcome(&report.verdict));
    page.paragraph(&format!(
        "The experiment is {}. Each observation is {}; {} decides, with a probability of false alarm of {} over all \
         looks.",
        standing(&report.state),
        unit(report.unit),
        report.primary,
        report.alpha
    ));
    let arms: Vec<_> = report.arms.iter().map(arm_row).collect();
    page.table(&arm_head(), &arms);
    page.heading(&format!("Against {}", name(report, 0)));
    page.paragraph(
        "“At any look” holds the true difference whenever the report is read, and however often; “bootstrap” is the \
         narrower interval of a single look.",
    );
    let rows: Vec<_> = report
        .comparisons
        .iter()
        .map(|c| comparison_row(report, c))
        .collect();
    page.table(&comparison_head(), &rows);
    for (metric, arms) in &report.distributions {
        if arms.iter().any(|values| !values.is_empty()) {
            page.heading(&format!("Distribution of {metric}"));
            page.chart(&distribution(report, *metric, arms))?;
        }
    }
    let course = course(report);
    if course.series.iter().any(|line| !line.points.is_empty()) {
        page.heading("How the interval narrowed");
        page.chart(&course)?;
    }
    for note in notes(report) {
        page.paragraph(&note);
    }
    Ok(page.finish())
}

/// The observations of each arm, as cumulative distributions.
fn distribution(report: &Report, metric: Metric, arms: &[Vec<f64>]) -> Chart {
    let series = arms.iter().enumerate().map(|(index, values)| {
        let values: Vec<_> = values.iter().map(|value| metric.display(*value)).collect();
        Series {
            label: name(report, index).to_owned(),
            points: cumulative(values, usize::MAX),
            ..Series::default()
        }
    });
    Chart {
        title: format!("{metric}, one value per observation"),
        x_label: format!("{metric}, {}", metric.unit()),
        y_label: "share of observations".to_owned(),
        series: series.collect(),
        ..Chart::default()
    }
}

/// The always-valid interval of the primary metric after each observation.
fn course(report: &Report) -> Chart {
    let (factor, unit) = match report.primary.scale() {
        Scale::Ratio => (100.0, "%"),
        Scale::Difference => (report.primary.display(1.0), report.primary.unit()),
    };
    let mut series = Vec::new();
    for (arm, points) in &report.courses {
        let differences = points
            .iter()
            .map(|p| (p.values as f64, p.difference * factor));
        let end = |of: fn(Interval) -> f64| Series {
            points: points
                .iter()
                .filter_map(|p| Some((p.values as f64, of(p.interval?) * factor)))
                .collect(),
            reference: true,
            ..Series::default()
        };
        series.push(Series {
            label: name(report, *arm).to_owned(),
            points: differences.collect(),
            ..Series::default()
        });
        series.extend([end(|i| i.low), end(|i| i.high)]);
    }
    Chart {
        title: format!("{} against {}", report.primary, name(report, 0)),
        x_label: "values compared".to_owned(),
        y_label: format!("difference, {unit}"),
        series,
        ..Chart::default()
    }
}
