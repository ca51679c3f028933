//! Rates and times as people write them.

use std::time::Duration;

/// Reads a rate in bit/s: `40M`, `1.5G`, `500k`, `64000`, also with `bit/s`, `bps` or `bit` after it.
///
/// # Errors
/// A text that says what was expected.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let number = ["bit/s", "bps", "bit"]
        .iter()
        .find_map(|unit| trimmed.strip_suffix(unit))
        .unwrap_or(trimmed)
        .trim_end();
    let (digits, factor) = match number.chars().last() {
        Some('k' | 'K') => (&number[..number.len() - 1], 1e3),
        Some('M' | 'm') => (&number[..number.len() - 1], 1e6),
        Some('G' | 'g') => (&number[..number.len() - 1], 1e9),
        _ => (number, 1.0),
    };
    match digits.trim_end().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value * factor),
        _ => Err(format!(
            "{text:?} is not a rate; write one like 40M, 1.5G or 500k (bit/s)"
        )),
    }
}

/// Reads a time: `30`, `1.5s`, `200ms`, `500us`, `2m`. Without a unit it is in seconds.
///
/// # Errors
/// A text that says what was expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let trimmed = text.trim();
    let (digits, factor) = [
        ("ms", 1e-3),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("s", 1.0),
        ("m", 60.0),
    ]
    .iter()
    .find_map(|(unit, factor)| Some((trimmed.strip_suffix(unit)?, *factor)))
    .unwrap_or((trimmed, 1.0));
    let seconds = digits.trim_end().parse::<f64>().ok();
    seconds
        .and_then(|value| Duration::try_from_secs_f64(value * factor).ok())
        .ok_or_else(|| format!("{text:?} is not a time; write one like 30s, 200ms or 2m"))
}

/// A rate with three digits and its unit, e.g. "40.0 Mbit/s".
pub fn rate(bps: f64) -> String {
    let (value, unit) = match bps.abs() {
        x if x >= 999.5e6 => (bps / 1e9, "Gbit/s"),
        x if x >= 999.5e3 => (bps / 1e6, "Mbit/s"),
        x if x >= 999.5 => (bps / 1e3, "kbit/s"),
        _ => return format!("{bps:.0} bit/s"),
    };
    let digits = match value.abs() {
        x if x >= 99.95 => 0,
        x if x >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// A time in µs as milliseconds or seconds, e.g. "12.3 ms".
pub fn micros(us: f64) -> String {
    match us {
        x if x >= 1e6 => format!("{:.2} s", us / 1e6),
        x if x >= 99_950.0 => format!("{:.0} ms", us / 1e3),
        x if x >= 9_995.0 => format!("{:.1} ms", us / 1e3),
        _ => format!("{:.2} ms", us / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, bps) in [
            ("40M", 40e6),
            ("1.5G", 1.5e9),
            ("500k", 5e5),
            ("64000", 64e3),
            ("40 Mbit/s", 40e6),
            ("2Mbps", 2e6),
            ("100bit", 100.0),
        ] {
            assert_eq!(parse_rate(text), Ok(bps), "{text}");
        }
        for text in ["", "M", "-4M", "0", "40X", "NaN", "infinity", "4é"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, us) in [
            ("30", 30_000_000),
            ("1.5s", 1_500_000),
            ("200ms", 200_000),
            ("2m", 120_000_000),
            ("5us", 5),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_micros(us)),
                "{text}"
            );
        }
        for text in ["", "ms", "-1s", "1h", "1e300"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_and_times_are_written_with_three_digits() {
        assert_eq!(rate(40e6), "40.0 Mbit/s");
        assert_eq!(rate(999_600.0), "1.00 Mbit/s");
        assert_eq!(rate(123_456_789.0), "123 Mbit/s");
        assert_eq!(rate(12.0), "12 bit/s");
        assert_eq!(micros(12_345.0), "12.3 ms");
        assert_eq!(micros(2_500_000.0), "2.50 s");
    }
}
