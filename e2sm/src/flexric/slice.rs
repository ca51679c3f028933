//! RAN slices of a cell, RAN function 145: a message of variable length, packed.
//!
//! OAI's agent fills it with random test data: never take it for measurements.

use super::wire::{Error, ErrorKind, Plain};

/// SLICE indication message.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SliceIndication {
    /// Downlink slices.
    pub dl: DirectionSlices,
    /// Uplink slices.
    pub ul: DirectionSlices,
    /// Which slices each UE is in.
    pub ues: Vec<UeSlices>,
    /// When the node read the values: Unix time in µs.
    pub tstamp_us: i64,
}

/// Slices of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DirectionSlices {
    /// Name of the scheduler that divides the cell among the slices.
    pub scheduler: String,
    /// The slices.
    pub slices: Vec<Slice>,
}

/// One slice.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Slice {
    /// Slice id.
    pub id: u32,
    /// Label.
    pub label: String,
    /// Name of the scheduler within the slice.
    pub scheduler: String,
    /// What the slice is given.
    pub params: SliceParams,
}

/// What a slice is given, by slicing algorithm.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum SliceParams {
    /// No slicing.
    None,
    /// A fixed range of PRBs.
    Static(StaticSlice),
    /// Network virtualisation substrate: a rate or a share.
    Nvs(Nvs),
    /// SCN19.
    Scn19(Scn19),
    /// Earliest deadline first.
    Edf(EdfParams),
}

/// A fixed range of PRBs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StaticSlice {
    /// Last PRB.
    pub pos_high: u32,
    /// First PRB.
    pub pos_low: u32,
}

/// Parameters of an NVS slice.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Nvs {
    /// A rate.
    Rate {
        /// Reference rate, Mbit/s.
        reference_mbps: f32,
        /// Required rate, Mbit/s.
        required_mbps: f32,
    },
    /// A share of the cell, 0 to 1.
    Capacity(f32),
}

/// Parameters of an SCN19 slice.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Scn19 {
    /// A rate.
    Dynamic {
        /// Reference rate, Mbit/s.
        reference_mbps: f32,
        /// Required rate, Mbit/s.
        required_mbps: f32,
    },
    /// A fixed range of PRBs.
    Fixed(StaticSlice),
    /// On demand.
    OnDemand {
        /// Logarithm of the delta.
        log_delta: f32,
        /// Share reserved, percent.
        pct_reserved: f32,
        /// Time constant.
        tau: u32,
    },
}

/// Parameters of an EDF slice.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EdfParams {
    /// Deadline.
    pub deadline: u32,
    /// PRBs guaranteed.
    pub guaranteed_prbs: u32,
    /// Most PRBs given back at once.
    pub max_replenish: u32,
    /// Slices it may take from.
    pub over: Vec<u32>,
}

/// Which slices one UE is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UeSlices {
    /// Downlink slice id.
    pub dl_id: u32,
    /// Uplink slice id.
    pub ul_id: u32,
    /// C-RNTI.
    pub rnti: u16,
}

impl SliceIndication {
    /// Reads a RIC indication message.
    ///
    /// # Errors
    /// Refuses what ends early, goes on after its end, or has an unknown algorithm.
    pub fn decode(octets: &[u8]) -> Result<Self, Error> {
        let mut r = Reader {
            all: octets.len(),
            rest: octets,
        };
        let dl = r.direction("dl")?;
        let ul = r.direction("ul")?;
        let n: u32 = r.number("n_ue")?;
        let mut ues = Vec::new();
        for i in 0..n {
            let path = &format!("ue[{i}]");
            ues.push(UeSlices {
                dl_id: r.number(path)?,
                ul_id: r.number(path)?,
                rnti: r.number(path)?,
            });
        }
        let tstamp_us = r.number("tstamp")?;
        if !r.rest.is_empty() {
            let expected = (r.all - r.rest.len()) as u64;
            return Err(r.error(
                "end",
                ErrorKind::Length {
                    expected,
                    found: r.all as u64,
                },
            ));
        }
        Ok(Self {
            dl,
            ul,
            ues,
            tstamp_us,
        })
    }

    /// Octets of the RIC indication message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.dl.write(&mut out);
        self.ul.write(&mut out);
        (self.ues.len() as u32).put(&mut out);
        for ue in &self.ues {
            ue.dl_id.put(&mut out);
            ue.ul_id.put(&mut out);
            ue.rnti.put(&mut out);
        }
        self.tstamp_us.put(&mut out);
        out
    }
}

impl DirectionSlices {
    fn write(&self, out: &mut Vec<u8>) {
        put_name(&self.scheduler, out);
        (self.slices.len() as u32).put(out);
        for slice in &self.slices {
            slice.id.put(out);
            put_name(&slice.label, out);
            put_name(&slice.scheduler, out);
            slice.params.write(out);
        }
    }
}

impl SliceParams {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => 0u32.put(out),
            Self::Static(s) => {
                1u32.put(out);
                s.write(out);
            }
            Self::Nvs(Nvs::Rate {
                reference_mbps,
                required_mbps,
            }) => {
                [2, 0].put(out);
                reference_mbps.put(out);
                required_mbps.put(out);
            }
            Self::Nvs(Nvs::Capacity(share)) => {
                [2, 1].put(out);
                share.put(out);
            }
            Self::Scn19(Scn19::Dynamic {
                reference_mbps,
                required_mbps,
            }) => {
                [3, 0].put(out);
                reference_mbps.put(out);
                required_mbps.put(out);
            }
            Self::Scn19(Scn19::Fixed(s)) => {
                [3, 1].put(out);
                s.write(out);
            }
            Self::Scn19(Scn19::OnDemand {
                log_delta,
                pct_reserved,
                tau,
            }) => {
                [3, 2].put(out);
                log_delta.put(out);
                pct_reserved.put(out);
                tau.put(out);
            }
            Self::Edf(e) => {
                4u32.put(out);
                [
                    e.deadline,
                    e.guaranteed_prbs,
                    e.max_replenish,
                    e.over.len() as u32,
                ]
                .put(out);
                e.over.iter().for_each(|id| id.put(out));
            }
        }
    }
}

impl StaticSlice {
    fn write(&self, out: &mut Vec<u8>) {
        [self.pos_high, self.pos_low].put(out);
    }
}

fn put_name(name: &str, out: &mut Vec<u8>) {
    (name.len() as u32).put(out);
    out.extend_from_slice(name.as_bytes());
}

struct Reader<'a> {
    all: usize,
    rest: &'a [u8],
}

impl Reader<'_> {
    fn error(&self, path: &str, kind: ErrorKind) -> Error {
        Error {
            offset: self.all - self.rest.len(),
            path: format!("SLICE / {path}"),
            kind,
        }
    }

    fn short(&self, path: &str, more: usize) -> Error {
        self.error(
            path,
            ErrorKind::Length {
                expected: (self.all - self.rest.len() + more) as u64,
                found: self.all as u64,
            },
        )
    }

    fn number<T: Plain>(&mut self, path: &str) -> Result<T, Error> {
        T::get(&mut self.rest).ok_or_else(|| self.short(path, T::SIZE))
    }

    fn name(&mut self, path: &str) -> Result<String, Error> {
        let n: u32 = self.number(path)?;
        let (name, rest) = self
            .rest
            .split_at_checked(n as usize)
            .ok_or_else(|| self.short(path, n as usize))?;
        let name = str::from_utf8(name).map_err(|_| self.error(path, ErrorKind::NotUtf8))?;
        self.rest = rest;
        Ok(name.to_owned())
    }

    fn direction(&mut self, dir: &str) -> Result<DirectionSlices, Error> {
        let scheduler = self.name(&format!("{dir} / scheduler"))?;
        let n: u32 = self.number(&format!("{dir} / n"))?;
        let mut slices = Vec::new();
        for i in 0..n {
            let path = &format!("{dir} / slice[{i}]");
            slices.push(Slice {
                id: self.number(path)?,
                label: self.name(path)?,
                scheduler: self.name(path)?,
                params: self.params(path)?,
            });
        }
        Ok(DirectionSlices { scheduler, slices })
    }

    fn params(&mut self, path: &str) -> Result<SliceParams, Error> {
        Ok(match self.number::<u32>(path)? {
            0 => SliceParams::None,
            1 => SliceParams::Static(self.static_slice(path)?),
            2 => SliceParams::Nvs(match self.number::<u32>(path)? {
                0 => Nvs::Rate {
                    reference_mbps: self.number(path)?,
                    required_mbps: self.number(path)?,
                },
                1 => Nvs::Capacity(self.number(path)?),
                other => return Err(self.error(path, ErrorKind::UnknownValue(other))),
            }),
            3 => SliceParams::Scn19(match self.number::<u32>(path)? {
                0 => Scn19::Dynamic {
                    reference_mbps: self.number(path)?,
                    required_mbps: self.number(path)?,
                },
                1 => Scn19::Fixed(self.static_slice(path)?),
                2 => Scn19::OnDemand {
                    log_delta: self.number(path)?,
                    pct_reserved: self.number(path)?,
                    tau: self.number(path)?,
                },
                other => return Err(self.error(path, ErrorKind::UnknownValue(other))),
            }),
            4 => SliceParams::Edf(EdfParams {
                deadline: self.number(path)?,
                guaranteed_prbs: self.number(path)?,
                max_replenish: self.number(path)?,
                over: {
                    let n: u32 = self.number(path)?;
                    let mut over = Vec::new();
                    for _ in 0..n {
                        over.push(self.number(path)?);
                    }
                    over
                },
            }),
            other => return Err(self.error(path, ErrorKind::UnknownValue(other))),
        })
    }

    fn static_slice(&mut self, path: &str) -> Result<StaticSlice, Error> {
        Ok(StaticSlice {
            pos_high: self.number(path)?,
            pos_low: self.number(path)?,
        })
    }
}
