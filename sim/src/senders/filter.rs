//! Windowed maximum by virtual time.

/// Maximum of the values of the last `length` ticks of a virtual clock (rounds, cycles).
#[derive(Clone, Debug)]
pub struct WindowedMax {
    length: u64,
    /// (time, value), times ascending, values descending.
    values: std::collections::VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// An empty filter.
    pub fn new(length: u64) -> Self {
        Self {
            length,
            values: std::collections::VecDeque::new(),
        }
    }

    /// Adds a value at `time` and returns the maximum; the window ends at `time`.
    pub fn update(&mut self, time: u64, value: f64) -> f64 {
        while self.values.back().is_some_and(|&(_, v)| v <= value) {
            self.values.pop_back();
        }
        self.values.push_back((time, value));
        while self
            .values
            .front()
            .is_some_and(|&(t, _)| t + self.length <= time)
        {
            self.values.pop_front();
        }
        self.max()
    }

    /// Changes the window's length from the next update on.
    pub fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    /// The maximum; 0 if there is none.
    pub fn max(&self) -> f64 {
        self.values.front().map_or(0.0, |&(_, v)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_is_older_than_its_window() {
        let mut filter = WindowedMax::new(2);
        assert_eq!(filter.max(), 0.0);
        assert_eq!(filter.update(0, 5.0), 5.0);
        assert_eq!(filter.update(1, 3.0), 5.0);
        assert_eq!(filter.update(1, 4.0), 5.0);
        assert_eq!(filter.update(2, 1.0), 4.0);
        assert_eq!(filter.update(9, 0.5), 0.5);
    }
}
