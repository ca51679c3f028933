//! Profile `gnb` against the recordings of a real OpenAirInterface gNB (`tests/recordings`, `docs/calibration.md`): 106
//! PRBs, 7 downlink, 1 mixed and 2 uplink slots.
//!
//! The recorded radio fell behind the clock when it was busy. The cells fall behind as much (`made_slots`); where that
//! changes from phase to phase, they make all their slots, and what the recording gives per second of clock is converted.

use sim::cell::{Cell, CellConfig, UeConfig, UeView};
use sim::channel::Channel;
use sim::channel::replay::Replay;
use sim::rlc::{Fate, Packet};
use std::collections::HashMap;

const SLOTS_PER_SECOND: f64 = 2000.0;
/// Packets of the recordings.
const PACKET: u32 = 1400;
/// SINR at a noise of one unit of the recordings, dB: the only number fitted, to the MCSs at noise 32, 64 and 110.
const SINR_AT_UNIT_NOISE_DB: f64 = 48.5;

/// One phase of the recordings as seen of one UE: `gnb_oai.csv`.
struct Recorded(HashMap<String, f64>);

impl Recorded {
    fn phase(run: &str, phase: &str, ue: usize) -> Self {
        let mut lines = include_str!("reference/gnb_oai.csv").lines();
        let header = lines.next().unwrap();
        let key = format!("{run},{phase},{ue},");
        let row = lines.find(|line| line.starts_with(&key)).unwrap();
        let columns = header.split(',').zip(row.split(','));
        let numbers =
            columns.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        Self(numbers.collect())
    }

    fn get(&self, column: &str) -> f64 {
        self.0[column]
    }

    fn per_slot(&self, column: &str) -> f64 {
        self.get(column) / self.get("slots")
    }

    /// Seconds of slots per second of clock.
    fn speed(&self) -> f64 {
        self.get("slots") / SLOTS_PER_SECOND / self.get("clock_s")
    }

    /// Mbit/s of IP received, per second of slots.
    fn mbps(&self) -> f64 {
        self.get("received_mbps") / self.speed()
    }
}

fn sinr_db(noise: f64) -> f64 {
    SINR_AT_UNIT_NOISE_DB - 20.0 * noise.log10()
}

fn gnb(made_slots: f64, channels: Vec<Channel>) -> Cell {
    let mut config = CellConfig::gnb();
    config.made_slots = made_slots;
    config.ues = vec![
        UeConfig {
            queue_limit_bytes: 10_000_000,
            ..UeConfig::default()
        };
        channels.len()
    ];
    let mut cell = Cell::new(config, 1).unwrap();
    for (ue, channel) in channels.into_iter().enumerate() {
        cell.set_channel(ue, channel);
    }
    cell
}

/// What a UE got over some slots.
#[derive(Clone, Debug, Default)]
struct Measured {
    slots: f64,
    first: f64,
    second: f64,
    third: f64,
    prbs: f64,
    tb_octets: f64,
    rlc_pdus: f64,
    rlc_retx_pdus: f64,
    mbps: f64,
    queue_mean: f64,
    queue_max: u64,
    hol_ms: f64,
    delay_ms: f64,
    mcs: Vec<u8>,
}

impl Measured {
    fn mcs_at(&self, quantile: f64) -> f64 {
        let mut sorted = self.mcs.clone();
        sorted.sort_unstable();
        f64::from(sorted[(quantile * (sorted.len() - 1) as f64) as usize])
    }
}

/// Traffic: packets of 1400 octets at constant rates, bit/s.
struct Traffic {
    rates: Vec<f64>,
    credit: Vec<f64>,
    next: u64,
}

impl Traffic {
    fn new(rates: &[f64]) -> Self {
        Self {
            rates: rates.to_vec(),
            credit: vec![0.0; rates.len()],
            next: 0,
        }
    }

    fn offer(&mut self, cell: &mut Cell) {
        for ue in 0..self.rates.len() {
            self.credit[ue] += self.rates[ue] / 8.0 * cell.duration(1).as_secs_f64();
            while self.credit[ue] >= f64::from(PACKET) {
                self.credit[ue] -= f64::from(PACKET);
                let packet = Packet {
                    id: self.next,
                    len: PACKET,
                };
                self.next += 1;
                cell.enqueue(ue, packet);
            }
        }
    }
}

fn run(cell: &mut Cell, traffic: &mut Traffic, slots: u64) -> Vec<Measured> {
    let counts = |ue: UeView<'_>| {
        [
            ue.mac.harq[0],
            ue.mac.harq[1],
            ue.mac.harq[2],
            ue.mac.prbs,
            ue.mac.tbs_octets,
            ue.rlc.sent_pdus,
            ue.rlc.retx_pdus,
        ]
    };
    let before: Vec<_> = cell.ues().map(counts).collect();
    let mut all = vec![Measured::default(); cell.ue_count()];
    let mut received = vec![(0_u64, 0.0); cell.ue_count()];
    let slot_ms = 1e3 * cell.duration(1).as_secs_f64();
    for _ in 0..slots {
        traffic.offer(cell);
        let now = cell.slot();
        for output in cell.run_slot() {
            assert_eq!(output.fate, Fate::Delivered, "AM loses nothing");
            let seen = &mut received[output.ue];
            seen.0 += 1;
            seen.1 += (now + 1 - output.arrived) as f64 * slot_ms;
        }
        for (m, ue) in all.iter_mut().zip(cell.ues()) {
            m.queue_mean += ue.queue_octets as f64 / slots as f64;
            m.queue_max = m.queue_max.max(ue.queue_octets);
            m.hol_ms += ue.head_of_line.as_secs_f64() * 1e3 / slots as f64;
            m.mcs.push(ue.link.mcs);
        }
    }
    for (ue, m) in all.iter_mut().enumerate() {
        let after = counts(cell.ue(ue).unwrap());
        let difference: Vec<f64> = std::iter::zip(after, before[ue])
            .map(|(a, b)| (a - b) as f64)
            .collect();
        [
            m.first,
            m.second,
            m.third,
            m.prbs,
            m.tb_octets,
            m.rlc_pdus,
            m.rlc_retx_pdus,
        ] = difference.try_into().unwrap();
        m.slots = slots as f64;
        let seconds = cell.duration(slots).as_secs_f64();
        m.mbps = received[ue].0 as f64 * f64::from(PACKET) * 8e-6 / seconds;
        m.delay_ms = received[ue].1 / received[ue].0.max(1) as f64;
    }
    all
}

fn assert_within_factor(what: &str, ours: f64, theirs: f64, factor: f64) {
    assert!(
        ours <= theirs * factor && ours >= theirs / factor,
        "{what}: {ours}, recorded {theirs}"
    );
}

fn within(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!(
        (ours / theirs - 1.0).abs() <= tolerance,
        "{what}: {ours}, recorded {theirs}"
    );
}

#[test]
fn a_lone_saturated_ue_gets_what_the_real_one_got() {
    let recorded = Recorded::phase("A", "heavy", 0);
    let mut cell = gnb(recorded.speed(), vec![Channel::fixed(sinr_db(6.0))]);
    let mut traffic = Traffic::new(&[130e6]);
    run(&mut cell, &mut traffic, 20_000);
    let m = run(&mut cell, &mut traffic, 20_000).remove(0);
    assert_eq!(m.mcs_at(0.0), 28.0);
    let share = m.first / m.slots;
    assert!((share - 0.606).abs() < 0.01, "{share} of all slots");
    let block = recorded.get("tb_octets") / recorded.get("first");
    within("octets per block", m.tb_octets / m.first, block, 0.005);
    let prbs = recorded.get("prbs") / recorded.get("first");
    within("PRBs per block", m.prbs / m.first, prbs, 0.005);
    // 79.9 Mbit/s.
    within("goodput", m.mbps, recorded.get("received_mbps"), 0.02);
    within(
        "longest queue",
        m.queue_max as f64,
        recorded.get("queue_max"),
        0.03,
    );
    // The recorded delay is that from end to end, with what lies around the cell.
    within("delay", m.delay_ms, recorded.get("delay_ms"), 0.15);
    println!(
        "lone saturated UE: {:.2} Mbit/s, {share:.3} of the slots, {:.0} octets and {:.1} PRBs per block, delay {:.0} ms",
        m.mbps,
        m.tb_octets / m.first,
        m.prbs / m.first,
        m.delay_ms
    );
}

#[test]
fn two_saturated_ues_share_prbs_equally_and_fill_the_downlink_slots() {
    let recorded: Vec<_> = (0..2)
        .map(|ue| Recorded::phase("B", "both_sat", ue))
        .collect();
    let mut cell = gnb(recorded[0].speed(), vec![Channel::fixed(sinr_db(6.0)); 2]);
    let mut traffic = Traffic::new(&[70e6; 2]);
    run(&mut cell, &mut traffic, 20_000);
    let both = run(&mut cell, &mut traffic, 20_000);
    let share = (both[0].first + both[1].first) / both[0].slots;
    assert!((share - 0.81).abs() < 0.03, "{share} of all slots");
    for (m, recorded) in both.iter().zip(&recorded) {
        within(
            "PRBs per slot",
            m.prbs / m.slots,
            recorded.per_slot("prbs"),
            0.03,
        );
        within("goodput", m.mbps, recorded.get("received_mbps"), 0.05);
    }
}

#[test]
fn a_worse_link_costs_rate_but_not_prbs() {
    let recorded: Vec<_> = (0..2)
        .map(|ue| Recorded::phase("B", "ue2_bad_both_sat", ue))
        .collect();
    // The SINR that gives the second UE its MCS of 16 or 17.
    let channels = vec![Channel::fixed(sinr_db(6.0)), Channel::fixed(11.2)];
    let mut cell = gnb(recorded[0].speed(), channels);
    let mut traffic = Traffic::new(&[70e6; 2]);
    run(&mut cell, &mut traffic, 20_000);
    let both = run(&mut cell, &mut traffic, 40_000);
    let mcs = both[1].mcs_at(0.5);
    assert!((16.0..=17.0).contains(&mcs), "{mcs}");
    for (m, recorded) in both.iter().zip(&recorded) {
        within(
            "PRBs per slot",
            m.prbs / m.slots,
            recorded.per_slot("prbs"),
            0.08,
        );
        within("goodput", m.mbps, recorded.get("received_mbps"), 0.1);
    }
    let ratio = both[1].second / both[1].first;
    let theirs = recorded[1].get("second") / recorded[1].get("first");
    assert_within_factor("retransmissions", ratio, theirs, 1.5);
}

#[test]
fn the_mcs_climbs_and_falls_a_step_per_tenth_of_a_second() {
    // Recorded: 9 to 28 in 1.8 s (18 steps after the first) from the begin of 1 Mbit/s on, back in as long when idle.
    let mut cell = gnb(1.0, vec![Channel::fixed(sinr_db(6.0))]);
    let mut idle = Traffic::new(&[0.0]);
    let mut light = Traffic::new(&[1e6]);
    run(&mut cell, &mut idle, 10_000);
    assert_eq!(cell.ue(0).unwrap().link.mcs, 9);
    for (traffic, mcs) in [(&mut light, 28), (&mut idle, 9)] {
        let begin = cell.slot();
        while cell.ue(0).unwrap().link.mcs != mcs {
            run(&mut cell, traffic, 1);
        }
        let seconds = (cell.slot() - begin) as f64 / SLOTS_PER_SECOND;
        assert!((1.8..=2.1).contains(&seconds), "to MCS {mcs}: {seconds} s");
    }
}

/// Noise of the second half of run A, over seconds of clock within a phase.
fn noise(phase: &str, seconds: f64) -> f64 {
    match phase {
        "mid_n32" => 32.0,
        "mid_n64" => 64.0,
        "mid_n110" => 110.0,
        "fading" => 68.0 + 52.0 * (seconds / 5.0 * std::f64::consts::TAU).sin(),
        _ => 6.0,
    }
}

/// The second half of run A: phases, seconds of clock, bit/s offered.
const NOISY: [(&str, f64, f64); 6] = [
    ("light", 12.0, 1e6),
    ("mid", 8.0, 30e6),
    ("mid_n32", 8.0, 30e6),
    ("mid_n64", 8.0, 30e6),
    ("mid_n110", 10.0, 30e6),
    ("fading", 25.0, 30e6),
];

/// Its channel, `offset` dB better than the fit.
fn noisy_channel(offset: f64) -> Replay {
    let mut trace = "time_ms,sinr_db\n".to_owned();
    let mut begin = 0.0;
    for (phase, seconds, _) in NOISY {
        let speed = Recorded::phase("A", phase, 0).speed();
        for step in 0..(seconds * 100.0) as u32 {
            let at = f64::from(step) / 100.0;
            let db = sinr_db(noise(phase, at)) + offset;
            trace += &format!("{},{db}\n", (begin + at * speed) * 1e3);
        }
        begin += seconds * speed;
    }
    Replay::from_csv(&trace, None).unwrap()
}

/// Where the SINR lies between the thresholds of two MCSs (about 1 dB apart) decides how the loop swings, and is not known
/// of the recording: means over cells whose SINRs cover that decibel.
#[test]
fn retransmissions_and_mcs_follow_the_noise_as_recorded() {
    const CELLS: u32 = 8;
    let cell = |index: u32| {
        let offset = (f64::from(index) + 0.5) / f64::from(CELLS) - 0.5;
        gnb(1.0, vec![Channel::replayed(noisy_channel(offset))])
    };
    let mut cells: Vec<_> = (0..CELLS).map(cell).collect();
    let (mut third, mut third_recorded) = (0.0, 0.0);
    for (phase, seconds, rate) in NOISY {
        let recorded = Recorded::phase("A", phase, 0);
        let speed = recorded.speed();
        let slots = |seconds: f64| (seconds * speed * SLOTS_PER_SECOND) as u64;
        let measured: Vec<_> = cells
            .iter_mut()
            .map(|cell| {
                let mut traffic = Traffic::new(&[rate / speed]);
                run(cell, &mut traffic, slots(0.3));
                run(cell, &mut traffic, slots(seconds - 0.3)).remove(0)
            })
            .collect();
        let mean =
            |of: &dyn Fn(&Measured) -> f64| measured.iter().map(of).sum::<f64>() / f64::from(CELLS);
        let again = mean(&|m| m.second / m.first);
        let again_recorded = recorded.get("second") / recorded.get("first");
        let mcs = mean(&|m| m.mcs_at(0.5));
        let mbps = mean(&|m| m.mbps);
        println!(
            "{phase}, ours / recorded: retransmissions {again:.4} / {again_recorded:.4}, second ones {:.1} / {}, MCS p10 {:.1} / {} p50 {mcs:.1} / {} p90 {:.1} / {}, {mbps:.1} / {:.1} Mbit/s, delay {:.0} / {:.0} ms, RLC PDUs again {:.0} / {}",
            mean(&|m| m.third),
            recorded.get("third"),
            mean(&|m| m.mcs_at(0.1)),
            recorded.get("mcs_p10"),
            recorded.get("mcs_p50"),
            mean(&|m| m.mcs_at(0.9)),
            recorded.get("mcs_p90"),
            recorded.mbps(),
            mean(&|m| m.delay_ms),
            recorded.get("delay_ms") * speed,
            mean(&|m| m.rlc_retx_pdus),
            recorded.get("rlc_retx_pdus"),
        );
        if again_recorded > 0.0 {
            assert_within_factor(phase, again, again_recorded, 1.5);
        } else {
            assert_eq!(again, 0.0, "{phase}");
        }
        assert!(
            (mcs - recorded.get("mcs_p50")).abs() <= 3.0,
            "{phase}: MCS {mcs}"
        );
        within(phase, mbps, recorded.mbps(), 0.2);
        third += mean(&|m| m.third);
        third_recorded += recorded.get("third");
    }
    assert_within_factor("second retransmissions", third, third_recorded, 1.5);
}
