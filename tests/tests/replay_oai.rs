//! `cantor replay` on recordings of a real gNB, against what was really offered and received, and the figures that
//! were published with the recordings (tests/recordings/README.md).
//!
//! The software radio falls behind the clock when it is saturated (0.90 to 0.98 slots per 0.5 ms). Rates are octets
//! per second of the recording's clock on both sides, so this cancels out; PRBs per slot are counted per slot that
//! was. What is received lags behind what the reports say is delivered, by what the UE's PDCP holds back: `receiver.rs`
//! tells how much. Means over a phase weigh its reports by time, and the published ones by slots: where the load changes within a
//! phase, its loaded part has fewer slots per second, and weighs up to a tenth more here.

mod recorded_matching;
mod recorded_names;
mod recording;

use policies::UeId;
use recording::{Bearer, IP_OCTETS, Phase, Receiver, Replayed, Run, folder, options, replay};

const RUN_A: UeId = UeId::CRnti(0xf0db);
/// In the order of attach.
const RUN_B: [UeId; 2] = [UeId::CRnti(0xfbcf), UeId::CRnti(0x6a8d)];
const RUN_E: UeId = UeId::CRnti(0xc0bf);

fn replayed(name: &str) -> Replayed {
    replay(&folder().join(name), options())
}

fn within(what: &str, value: f64, expected: f64, share: f64, floor: f64) {
    let allowed = expected.abs() * share + floor;
    assert!(
        (value - expected).abs() <= allowed,
        "{what}: {value:.3}, expected {expected:.3} ± {allowed:.3}"
    );
}

fn rnti(ue: UeId) -> u32 {
    match ue {
        UeId::CRnti(rnti) => rnti.into(),
        other => panic!("{other} is no C-RNTI"),
    }
}

/// Throughput in each phase against what the UE received, within 2 %, but for what its PDCP held back: the reports count
/// what RLC has brought to the UE.
fn throughput(name: &str, reordering: &str, run: &Run, index: usize, ue: UeId) {
    let stream = |name: &str| folder().join(format!("{name}.e2.jsonl.gz"));
    let replayed = replayed(&format!("{name}.e2.jsonl.gz"));
    let bearer = Bearer::open(&stream(name), rnti(ue));
    let receiver = Receiver::of(&Bearer::open(&stream(reordering), rnti(ue)));
    let held = |t: f64| bearer.acknowledged(t) - receiver.delivered(t);
    for phase in &run.phases {
        let what = format!("{} of {ue}", phase.name);
        let windows = run.windows(index, phase);
        let (mut measured, mut received, mut held_back) = (0.0, 0.0, 0.0);
        for (window, octets) in &windows {
            let seconds = window.end - window.begin;
            let of_window = replayed.measured(ue, window);
            within(
                &format!("{what}: seconds covered"),
                of_window.seconds,
                seconds,
                0.001,
                0.01,
            );
            let mbps = 8e-6 / seconds / windows.len() as f64;
            measured += of_window.mbps / windows.len() as f64;
            received += octets * mbps;
            held_back += (held(window.end) - held(window.begin)) * mbps;
        }
        let derived = measured - held_back;
        let off = (derived - received) / received.max(0.001) * 100.0;
        println!(
            "{what}: {measured:.3} Mbit/s, {held_back:+.3} of it held by PDCP; received {received:.3} ({off:+.2} %)"
        );
        // An idle UE has its signalling.
        within(&format!("{what}: Mbit/s"), derived, received, 0.02, 0.002);
    }
}

#[test]
fn throughput_of_run_a_is_what_was_received() {
    let run = Run::open("oai_A_1ue106");
    for stream in ["oai_A_1ue106_10ms", "oai_A_1ue106_slow"] {
        throughput(stream, "oai_A_1ue106_10ms", &run, 0, RUN_A);
    }
}

#[test]
fn throughput_of_run_b_is_what_was_received() {
    let run = Run::open("oai_B_2ue106");
    for (index, ue) in RUN_B.into_iter().enumerate() {
        throughput("oai_B_2ue106_10ms", "oai_B_2ue106_10ms", &run, index, ue);
    }
}

/// PDCP's reordering tells at each sample what was received: to the packet in most, where RLC is full, too.
#[test]
fn what_is_received_when_follows_from_the_reports() {
    let runs = [("oai_A_1ue106", &[RUN_A][..]), ("oai_B_2ue106", &RUN_B[..])];
    for (name, ues) in runs {
        let run = Run::open(name);
        let path = folder().join(format!("{name}_10ms.e2.jsonl.gz"));
        for (index, ue) in ues.iter().enumerate() {
            let receiver = Receiver::of(&Bearer::open(&path, rnti(*ue)));
            let off = run
                .received(index)
                .map(|(t, octets)| (receiver.delivered(t) - octets as f64).abs() / IP_OCTETS);
            let off: Vec<f64> = off.collect();
            let same = off.iter().filter(|packets| **packets < 1.5).count();
            let mean = off.iter().sum::<f64>() / off.len() as f64;
            println!(
                "{ue}: {same} of {} samples, {mean:.1} packets off on average",
                off.len()
            );
            assert!(same * 2 > off.len() && mean < 20.0, "{ue}");
        }
    }
}

/// 315146 packets of 1403 octets (with their PDCP header) were received in run A: not one octet is lost or counted twice.
#[test]
fn octets_of_run_a_add_up() {
    for stream in ["10ms", "slow"] {
        let replayed = replayed(&format!("oai_A_1ue106_{stream}.e2.jsonl.gz"));
        let delivered: u64 = replayed
            .of_ue(RUN_A)
            .filter_map(|report| report.delivered_bytes)
            .sum();
        assert_eq!(delivered, 315_146 * 1403, "{stream}");
    }
}

/// Published figures of a phase.
struct Published {
    phase: &'static str,
    /// Initial transmissions per second of radio time, and PRBs of each.
    per_second: f64,
    prbs_each: f64,
    retransmitted: f64,
    mcs: (f64, f64),
    /// Mean and largest RLC queue, octets.
    queue: (f64, u64),
    load_changes: bool,
}

#[rustfmt::skip]
const PUBLISHED_A: [Published; 12] = [
    Published { phase: "idle", per_second: 10.0, prbs_each: 5.0, retransmitted: 0.0, mcs: (9.0, 9.0), queue: (0.0, 0), load_changes: false },
    Published { phase: "light", per_second: 99.0, prbs_each: 17.8, retransmitted: 0.0, mcs: (12.0, 28.0), queue: (18.0, 1406), load_changes: false },
    Published { phase: "heavy", per_second: 1212.0, prbs_each: 102.7, retransmitted: 0.0, mcs: (28.0, 28.0), queue: (9.46e6, 9_852_740), load_changes: false },
    Published { phase: "drain", per_second: 133.0, prbs_each: 96.0, retransmitted: 0.0, mcs: (9.0, 28.0), queue: (3.3e5, 6_322_322), load_changes: true },
    Published { phase: "onoff", per_second: 473.0, prbs_each: 67.0, retransmitted: 3.0, mcs: (10.0, 27.0), queue: (3168.0, 196_840), load_changes: true },
    Published { phase: "mid", per_second: 928.0, prbs_each: 51.0, retransmitted: 0.0, mcs: (22.0, 28.0), queue: (7884.0, 247_456), load_changes: false },
    Published { phase: "mid_n32", per_second: 918.0, prbs_each: 62.0, retransmitted: 504.0, mcs: (22.0, 28.0), queue: (15_596.0, 257_298), load_changes: false },
    Published { phase: "mid_n64", per_second: 1098.0, prbs_each: 96.0, retransmitted: 456.0, mcs: (8.0, 24.0), queue: (868_867.0, 2_902_456), load_changes: false },
    Published { phase: "mid_n110", per_second: 1123.0, prbs_each: 103.0, retransmitted: 779.0, mcs: (6.0, 19.0), queue: (5.84e6, 9_944_038), load_changes: false },
    Published { phase: "fading", per_second: 1098.0, prbs_each: 102.0, retransmitted: 2471.0, mcs: (6.0, 28.0), queue: (7.57e6, 9_997_938), load_changes: false },
    Published { phase: "ul", per_second: 272.0, prbs_each: 71.0, retransmitted: 0.0, mcs: (19.0, 28.0), queue: (6.0e5, 7_722_419), load_changes: true },
    Published { phase: "idle_end", per_second: 10.0, prbs_each: 5.0, retransmitted: 0.0, mcs: (9.0, 26.0), queue: (0.0, 0), load_changes: false },
];

#[test]
fn prbs_retransmissions_and_queues_of_run_a() {
    let run = Run::open("oai_A_1ue106");
    let replayed = replayed("oai_A_1ue106_10ms.e2.jsonl.gz");
    for published in PUBLISHED_A {
        let name = published.phase;
        let phase = run.phase(name);
        let measured = replayed.measured(RUN_A, phase);
        println!("{name}: {measured:?}");
        let prbs = published.per_second * published.prbs_each / 2000.0;
        let share = if published.load_changes { 0.12 } else { 0.04 };
        within(
            &format!("{name}: PRBs per slot"),
            measured.prbs - measured.retx_prbs,
            prbs,
            share,
            0.01,
        );
        // The published window ends some reports earlier or later.
        within(
            &format!("{name}: retransmissions"),
            measured.retransmitted,
            published.retransmitted,
            0.015,
            1.0,
        );
        assert_eq!(measured.failed, 0.0, "{name}");
        // An idle link's MCS still falls, one step in 100 ms: one more or less at the edge of the window.
        within(
            &format!("{name}: lowest MCS"),
            measured.mcs_min,
            published.mcs.0,
            0.0,
            1.0,
        );
        within(
            &format!("{name}: highest MCS"),
            measured.mcs_max,
            published.mcs.1,
            0.0,
            1.0,
        );
        // A packet that comes with the next phase's first.
        if published.queue.1 > 100_000 {
            within(
                &format!("{name}: largest queue"),
                measured.queue_max as f64,
                published.queue.1 as f64,
                0.001,
                0.0,
            );
        }
        // A queue of milliseconds is another one for each way of taking the mean.
        if published.queue.0 > 100_000.0 {
            within(
                &format!("{name}: mean queue"),
                measured.queue_mean,
                published.queue.0,
                0.02,
                0.0,
            );
        }
    }
}

/// Published: 41.2 PRBs per slot each when both are saturated; then UE 2 gets a bad channel.
#[test]
fn prbs_and_retransmissions_of_run_b() {
    let run = Run::open("oai_B_2ue106");
    let replayed = replayed("oai_B_2ue106_10ms.e2.jsonl.gz");
    let measured = |index: usize, phase: &Phase| replayed.measured(RUN_B[index], phase);
    for (name, index, prbs, retransmitted) in [
        ("both_sat", 0, 41.2, 0.0),
        ("both_sat", 1, 41.2, 0.0),
        ("ue2_bad_both_20", 0, 19.7, 0.0),
        ("ue2_bad_both_20", 1, 33.6, 644.0),
        ("ue2_bad_both_sat", 0, 39.6, 0.0),
        ("ue2_bad_both_sat", 1, 39.4, 636.0),
    ] {
        let measured = measured(index, run.phase(name));
        within(
            &format!("{name} UE {}: PRBs per slot", index + 1),
            measured.prbs - measured.retx_prbs,
            prbs,
            0.05,
            0.0,
        );
        within(
            &format!("{name} UE {}: retransmissions", index + 1),
            measured.retransmitted,
            retransmitted,
            0.01,
            1.0,
        );
    }
    // Both together fill the downlink slots, 8 of 10.
    let both: f64 = (0..2)
        .map(|index| measured(index, run.phase("both_sat")).prbs)
        .sum();
    within(
        "PRBs per slot of the saturated cell",
        both,
        0.81 * 102.0,
        0.02,
        0.0,
    );
}

/// Under load the age of the head of the queue is most of the one-way delay; without load both are a few milliseconds.
#[test]
fn head_of_line_age_follows_the_delay() {
    let run = Run::open("oai_A_1ue106");
    let replayed = replayed("oai_A_1ue106_10ms.e2.jsonl.gz");
    let mut compared = 0;
    for name in ["heavy", "mid_n64", "mid_n110", "fading"] {
        let phase = run.phase(name);
        let mut t = phase.begin + 2.0;
        while t < phase.end {
            let (delay, age) = (run.delay(0, t), replayed.head_of_line(RUN_A, t));
            // 150 ms behind RLC when the radio is saturated; and the age now is the delay of what leaves now.
            if delay > 0.3 {
                within(
                    &format!("{name} at {t:.1}: head-of-line age"),
                    age,
                    delay,
                    0.25,
                    0.2,
                );
                compared += 1;
            }
            t += 0.5;
        }
    }
    assert!(compared > 80, "{compared}");
    assert!(replayed.measured(RUN_A, run.phase("light")).head_of_line_ms < 1.0);
}

/// The UE process of run E was killed while 1 Mbit/s went on; the gNB lists it, with frozen counters, to the end.
#[test]
fn the_lost_ue_of_run_e_is_recognised() {
    let run = Run::open("oai_E_uelost");
    let replayed = replayed("oai_E_uelost_slow.e2.jsonl.gz");
    let [(lost, RUN_E)] = replayed.lost[..] else {
        panic!("{:?}", replayed.lost)
    };
    let begin = replayed.decisions[0].time - replayed.decisions[0].t.as_secs_f64();
    let gone = run.phase("ue_gone");
    let after = begin + lost - (gone.begin - 0.3);
    // About 70 transport blocks fail in the first second; counters stand still after that.
    assert!(
        (0.5..3.0).contains(&after),
        "recognised {after:.2} s after it was gone"
    );
    let last = replayed.of_ue(RUN_E).last().unwrap().end().as_secs_f64();
    assert!(last <= lost, "reports until {last}, lost at {lost}");
    assert!(
        replayed
            .decisions
            .iter()
            .all(|d| d.t.as_secs_f64() < lost + 1.0),
        "guidance for a lost UE"
    );
    assert!(replayed.summaries[0].lost.contains(&RUN_E));
    assert!(replayed.measured(RUN_E, gone).failed > 50.0);
}

#[test]
fn no_ue_of_runs_a_and_b_is_taken_for_lost_and_nothing_is_quarantined() {
    for name in [
        "oai_A_1ue106_10ms",
        "oai_A_1ue106_slow",
        "oai_B_2ue106_10ms",
        "oai_B_2ue106_slow",
    ] {
        let replayed = replayed(&format!("{name}.e2.jsonl.gz"));
        assert!(replayed.lost.is_empty(), "{name}");
        let counters = &replayed.summaries[0].counters;
        assert_eq!(
            (
                counters.quarantined_total(),
                counters.undecodable,
                counters.resets
            ),
            (0, 0, 0),
            "{name}"
        );
    }
}

/// r ← r − K·γ·(µ − Pε) from the rate at which data arrived, with n and Pε of the moment.
#[test]
fn rapid_guides_by_its_law() {
    let run = Run::open("oai_B_2ue106");
    let replayed = replayed("oai_B_2ue106_10ms.e2.jsonl.gz");
    let mut checked = 0;
    for decided in &replayed.decisions {
        let Some(prbs) = decided.prbs else { continue };
        let target = 0.9 * 84.8 / f64::from(decided.active_ues);
        within("Pε", decided.target_prbs, target, 1e-9, 0.0);
        if decided.note.is_empty() {
            let rate = decided.previous_rate_bps - 0.5e6 * (prbs - target);
            within("rate", decided.rate_bps, rate, 1e-9, 0.0);
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked}");
    // Both saturate the cell: each uses more than its target, and is told to send more slowly than it does.
    let phase = run.phase("both_sat");
    let saturated: Vec<_> = replayed
        .decisions
        .iter()
        .filter(|d| (phase.begin + 1.0..phase.end).contains(&d.time))
        .collect();
    assert!(saturated.len() > 80, "{}", saturated.len());
    for decided in saturated {
        assert_eq!(decided.active_ues, 2);
        assert!(decided.rate_bps < decided.previous_rate_bps, "{decided:?}");
    }
}

/// The packet capture holds part of run A twice: as the node sent it, and as a near-RT RIC forwarded it, not always in order.
#[test]
fn both_sides_of_the_ric_tell_the_same() {
    let path = folder().join("oai_A_e42.pcap.gz");
    let node = replay(&path, options());
    let xapp = replay(
        &path,
        recording::Options {
            e42: true,
            ..options()
        },
    );
    let octets = |replayed: &Replayed| -> u64 {
        replayed
            .of_ue(RUN_A)
            .filter_map(|r| r.delivered_bytes)
            .sum()
    };
    assert!(node.reports.len() > 200);
    assert_eq!(xapp.reports.len(), node.reports.len());
    assert_eq!(octets(&xapp), octets(&node));
    assert_eq!(xapp.summaries[0].node, node.summaries[0].node);
    assert_eq!(xapp.summaries[0].counters.late, 0);
}

/// FlexRIC's emulators draw their values at random: nearly everything must be quarantined, and nothing guided by it.
#[test]
fn random_values_are_quarantined() {
    let folder = folder().join("../vectors/flexric/pcap");
    for name in [
        "v2_mac_rlc_pdcp_gtp_slice_tc.pcap",
        "v2_flexric_xapp_kpm_mac.pcap",
        "v2_kpm_style4_mono.pcap",
        "v1_kpm_style4_mono.pcap",
        "v3_kpm3_style4_mono.pcap",
        "v2_fr2023_kpm_xapp.pcap",
    ] {
        let replayed = replay(&folder.join(name), options());
        let counters = &replayed.summaries[0].counters;
        println!("{name}: {counters:?}");
        assert!(counters.mostly_refused(), "{name}: {counters:?}");
        // A KPM report of a single UE may happen to be possible.
        assert!(
            replayed.reports.len() <= 1,
            "{name}: {:?}",
            replayed.reports
        );
        assert!(
            replayed.summaries[0].to_string().contains("not a real RAN"),
            "{name}"
        );
    }
}
