//! KPM indications: the source of reports where no MAC model reports, additional information otherwise.

mod units;
mod values;

pub use units::KpmDialect;

use super::{
    CellConfig,
    counters::{Counters, Reason},
    window::MAX_BITS_PER_PRB,
};
use e2sm::kpm::{Dialect, IndicationHeader, IndicationMessage, MeasInfo, Version};
use policies::{SNssai, UeId, UeReport};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use values::Values;

/// What KPM says of a UE, in one set of units. Values that cannot be are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KpmUe {
    /// End of the period, on the receiver's monotonic clock.
    pub received: Duration,
    /// Throughput, bit/s.
    pub throughput_bps: Option<f64>,
    /// PRBs per slot, averaged over all slots. `None` also while the unit is unknown.
    pub prbs: Option<f64>,
    /// Mean delay of SDUs in RLC.
    pub rlc_delay: Option<Duration>,
    /// Octets offered to the bearer in the period.
    pub offered_bytes: Option<u64>,
    /// Slice that labels the values, or whose UEs were asked for.
    pub slice: Option<SNssai>,
    /// RAN UE ID.
    pub ran_ue_id: Option<u64>,
    /// The id that RRC gave the UE, as OAI's PDCP and GTP models have it.
    pub rrc_ue: Option<u32>,
    /// All of this holds until then, on the receiver's monotonic clock: UEs that leave the slice are just not reported.
    #[serde(skip)]
    pub until: Duration,
}

/// What KPM said holds for so many periods, and this long at least.
const HOLDS_FOR_PERIODS: u32 = 3;
const HOLDS_AT_LEAST: Duration = Duration::from_secs(2);

/// State of one KPM subscription.
#[derive(Debug, Default)]
pub(super) struct Kpm {
    subscribed: Vec<MeasInfo<'static>>,
    encoding: Option<Dialect>,
    dialect: Option<KpmDialect>,
    last: Option<(Duration, BTreeSet<UeId>)>,
    latest: BTreeMap<UeId, KpmUe>,
}

/// A period of a KPM subscription.
struct Period<'a> {
    cell: &'a CellConfig,
    cell_prbs: f64,
    received: Duration,
    /// Time since the last report.
    length: Duration,
    /// Period by which the node divides.
    granularity: Duration,
}

impl Kpm {
    /// What the subscription asked for: some nodes leave the names out of their reports.
    pub(super) fn subscribed(&mut self, names: impl IntoIterator<Item = String>) {
        self.subscribed = names.into_iter().map(MeasInfo::named).collect();
    }

    pub(super) fn latest(&self) -> &BTreeMap<UeId, KpmUe> {
        &self.latest
    }

    /// Takes an indication; gives a report per UE with its values.
    pub(super) fn on_indication(
        &mut self,
        header: &[u8],
        message: &[u8],
        received: Duration,
        cell: &CellConfig,
        cell_prbs: f64,
        counters: &mut Counters,
    ) -> Result<Vec<UeReport>, e2sm::aper::DecodeError> {
        let encoding = *self
            .encoding
            .get_or_insert_with(|| Dialect::of_message(message).unwrap_or_default());
        let (message, _) = IndicationMessage::decode(message, encoding)?;
        // Nodes fill the header as they like: it is worth a hint at the sender, and no error.
        let header = IndicationHeader::decode(header, Version::V2)
            .ok()
            .map(|(header, _)| header);
        let sender = header
            .as_ref()
            .and_then(|header| header.sender_name.as_deref());

        let mut ues: BTreeMap<UeId, Option<Values>> = BTreeMap::new();
        let mut granularity = None;
        for (ue, report) in message.reports() {
            granularity = granularity.or(report.granularity_ms);
            let Some(ue) = ue else { continue };
            counters.records += 1;
            let Some(id) = values::ue_id(ue) else {
                counters.refused += 1;
                counters.quarantine(Reason::UeId);
                continue;
            };
            let values = Values::of(ue, report, &self.subscribed, counters);
            if let Some(twice) = ues.insert(id, Some(values)) {
                // Whose values are whose cannot be told: none of them count.
                for _ in 0..1 + u8::from(twice.is_some()) {
                    counters.refused += 1;
                    counters.quarantine(Reason::Duplicate);
                }
                ues.insert(id, None);
            }
        }
        let ids: BTreeSet<UeId> = ues.keys().copied().collect();
        let last = self.last.replace((received, ids.clone()));
        let since_last = last
            .as_ref()
            .map(|(last, _)| received.saturating_sub(*last));
        let granularity = granularity.map(|ms| Duration::from_millis(ms.into()));
        let Some(length) = period(since_last, granularity) else {
            return Ok(Vec::new());
        };
        let period = Period {
            cell,
            cell_prbs,
            received,
            length,
            granularity: granularity.unwrap_or(length),
        };
        let known: Vec<(UeId, Values)> = ues
            .into_iter()
            .filter_map(|(id, values)| Some((id, values?)))
            .collect();
        let dialect = self.dialect(sender, &known, &period);
        self.latest.retain(|id, _| ids.contains(id));
        let same_ues = last.is_some_and(|(_, before)| before == ids);
        if !same_ues && dialect.is_none_or(KpmDialect::mixes_ues_up) {
            counters.unsettled += known.len() as u64;
            // Who they are is known, and whose slice it is.
            let unsettled = known.iter().map(|(id, values)| (*id, period.named(values)));
            self.latest.extend(unsettled);
            return Ok(Vec::new());
        }
        let mut reports = Vec::new();
        for (id, values) in known {
            let ue = period.read(&values, dialect, counters);
            reports.push(period.report(id, &ue));
            self.latest.insert(id, ue);
        }
        Ok(reports)
    }

    /// The node's units; `None` while they cannot be told.
    fn dialect(
        &mut self,
        sender: Option<&str>,
        ues: &[(UeId, Values)],
        period: &Period<'_>,
    ) -> Option<KpmDialect> {
        if period.cell.kpm_dialect != KpmDialect::Auto {
            return Some(period.cell.kpm_dialect);
        }
        let by_efficiency = || {
            ues.iter().find_map(|(_, values)| {
                let bits = values.throughput_kbps? * 1e3 * period.granularity.as_secs_f64();
                units::by_efficiency(
                    values.prb_total?,
                    bits,
                    period.slots(),
                    period.cell,
                    period.cell_prbs,
                )
            })
        };
        match self.dialect {
            Some(KpmDialect::Oai2024 | KpmDialect::Oai2026) => {}
            // What a node says of itself holds until its values contradict it.
            _ => match (units::by_sender(sender), by_efficiency()) {
                (_, Some(KpmDialect::Oai2024)) => self.dialect = Some(KpmDialect::Oai2024),
                (None, Some(found)) => self.dialect = Some(found),
                (by_sender, _) => self.dialect = by_sender,
            },
        }
        self.dialect
    }
}

/// Time that a report covers. The header's time stamp means something else in every implementation: the time
/// between receipts counts, unless a report was lost or held up.
fn period(since_last: Option<Duration>, granularity: Option<Duration>) -> Option<Duration> {
    match (since_last, granularity) {
        (Some(since), Some(granularity))
            if since < granularity / 2 || since > granularity * 3 / 2 =>
        {
            Some(granularity)
        }
        (Some(since), _) if !since.is_zero() => Some(since),
        (_, granularity) => granularity,
    }
}

impl Period<'_> {
    fn slots(&self) -> f64 {
        self.length.as_secs_f64() * self.cell.slots_per_second()
    }

    /// A UE of which nothing else is known.
    fn named(&self, values: &Values) -> KpmUe {
        KpmUe {
            received: self.received,
            throughput_bps: None,
            prbs: None,
            rlc_delay: None,
            offered_bytes: None,
            slice: values.slice.or(self.cell.kpm_slice),
            ran_ue_id: values.ran_ue_id,
            rrc_ue: values.rrc_ue,
            until: self.received + HOLDS_AT_LEAST.max(self.granularity * HOLDS_FOR_PERIODS),
        }
    }

    fn read(&self, values: &Values, dialect: Option<KpmDialect>, counters: &mut Counters) -> KpmUe {
        let units = dialect.unwrap_or(KpmDialect::Oai2024);
        let most_bps = self.cell.carrier_prbs * self.cell.slots_per_second() * MAX_BITS_PER_PRB;
        let throughput_bps = values.throughput_kbps.map(|kbps| kbps * 1e3);
        KpmUe {
            throughput_bps: possible(throughput_bps, most_bps, Reason::Delivered, counters),
            prbs: self.prbs(values, dialect, counters),
            rlc_delay: values
                .rlc_delay
                .and_then(|delay| Duration::try_from_secs_f64(delay * units.delay_unit()).ok())
                // Nothing was sent, or an RLC subscription has just emptied the mean.
                .filter(|delay| !delay.is_zero()),
            offered_bytes: values
                .offered_volume
                .map(|volume| (volume * units.volume_unit() / 8.0) as u64),
            ..self.named(values)
        }
    }

    /// PRBs per slot, averaged over all slots.
    fn prbs(
        &self,
        values: &Values,
        dialect: Option<KpmDialect>,
        counters: &mut Counters,
    ) -> Option<f64> {
        if let (Some(used), Some(available)) = (values.prb_used, values.prb_available)
            && available > 0.0
        {
            return possible(Some(used / available), 1.0, Reason::Prbs, counters)
                .map(|part| part * self.cell_prbs);
        }
        if let Some(total) = values.prb_total {
            return match dialect? {
                KpmDialect::Oai2024 => {
                    // The report may cover a little more than the time between two receipts.
                    let most = self.cell.carrier_prbs * 1.05;
                    possible(Some(total / self.slots()), most, Reason::Prbs, counters)
                }
                _ => possible(Some(total / 100.0), 1.0, Reason::Percent, counters)
                    .map(|part| part * self.cell_prbs),
            };
        }
        // A mean over the slots that can carry downlink.
        let used = possible(
            values.prb_used,
            self.cell.carrier_prbs,
            Reason::Prbs,
            counters,
        )?;
        Some(used * self.cell_prbs / self.cell.carrier_prbs)
    }

    fn report(&self, id: UeId, ue: &KpmUe) -> UeReport {
        let octets = |bps: f64| (bps * self.granularity.as_secs_f64() / 8.0) as u64;
        UeReport {
            ue: id,
            start: self.received.saturating_sub(self.length),
            length: self.length,
            ran_time_us: None,
            prbs: ue.prbs,
            retx_prbs: None,
            cell_prbs: self.cell_prbs,
            used_prbs: None,
            mcs: None,
            tb_sent: None,
            tb_retx: None,
            tb_failed: None,
            sinr_db: None,
            cqi: None,
            delivered_bytes: ue.throughput_bps.map(octets),
            arrived_bytes: ue.offered_bytes,
            queue_bytes: None,
            head_of_line: None,
            rlc_delay: ue.rlc_delay,
            slice: ue.slice,
        }
    }
}

fn possible(value: Option<f64>, most: f64, reason: Reason, counters: &mut Counters) -> Option<f64> {
    let value = value?;
    if value <= most {
        return Some(value);
    }
    counters.quarantine(reason);
    None
}
