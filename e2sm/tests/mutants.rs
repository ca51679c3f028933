//! Every vector below 4 KiB with every octet set to every other value (every 1-bit mutant is among them), and cut at
//! every length: each decodes to a value or an error, without panic, within memory that the input bounds.

// A global allocator that counts cannot be written without it.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use e2sm::e2ap::{self, Pdu, Version};
use e2sm::flexric::{GtpTunnel, MacUe, Model, PdcpBearer, RlcBearer, SliceIndication, Stats};
use e2sm::kpm::{self, Dialect};

/// Memory that a decoder may hold at once: so many octets for each octet of input, and so many in any case.
///
/// The worst type is a KPM item of three octets with a name and a label list behind it.
const OCTETS_PER_OCTET: usize = 128;
const OCTETS_IN_ANY_CASE: usize = 4096;

struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn grow(by: usize) {
    HELD.with(|held| {
        held.set(held.get().wrapping_add(by));
        // What another thread allocated may be freed here, so the balance can be below zero.
        if held.get() < usize::MAX / 2 {
            PEAK.with(|peak| peak.set(peak.get().max(held.get())));
        }
    });
}

// SAFETY: every call goes to the system's allocator unchanged; the counters are plain thread-local cells.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        grow(layout.size().wrapping_neg());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new block may both be there for a moment.
        grow(size);
        grow(layout.size().wrapping_neg());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Octets that `work` held at once.
fn peak_of(work: impl FnOnce()) -> usize {
    HELD.with(|held| held.set(0));
    PEAK.with(|peak| peak.set(0));
    work();
    PEAK.with(Cell::get)
}

#[test]
fn every_mutant_is_decoded_or_refused_in_bounded_memory() {
    let vectors = Mutex::new(vectors());
    let (count, mutants, worst) = (
        vectors.lock().unwrap().len(),
        AtomicU64::new(0),
        AtomicU64::new(0),
    );
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, octets)) = { vectors.lock().unwrap().pop() } {
                    let (tried, peak) = try_mutants(&name, octets);
                    mutants.fetch_add(tried, Ordering::Relaxed);
                    worst.fetch_max(peak, Ordering::Relaxed);
                }
            });
        }
    });
    println!(
        "{} mutants of {count} vectors; at most {} octets held for an octet of input",
        mutants.into_inner(),
        worst.into_inner()
    );
    assert_eq!(count, 370);
}

/// Tries every mutant of one vector; gives their number and the most octets held for an octet of input.
fn try_mutants(name: &str, mut octets: Vec<u8>) -> (u64, u64) {
    let (mut tried, mut worst) = (0, 0);
    let mut check = |mutant: &[u8]| {
        let peak = peak_of(|| decode_as_named(name, mutant));
        let bound = OCTETS_PER_OCTET * mutant.len() + OCTETS_IN_ANY_CASE;
        assert!(
            peak <= bound,
            "{name}: {peak} octets held for {}: {}",
            mutant.len(),
            hex::encode(mutant)
        );
        tried += 1;
        worst = worst.max((peak.saturating_sub(OCTETS_IN_ANY_CASE) / mutant.len().max(1)) as u64);
    };
    for length in 0..octets.len() {
        check(&octets[..length]);
    }
    for position in 0..octets.len() {
        let original = octets[position];
        for change in 1..=255 {
            octets[position] = original ^ change;
            check(&octets);
        }
        octets[position] = original;
    }
    (tried, worst)
}

fn decode_as_named(name: &str, octets: &[u8]) {
    let dialect = if name.contains("kpm300mod") {
        Dialect::FlexRic2023
    } else {
        Dialect::Standard
    };
    let version = if name.contains("kpm203") {
        kpm::Version::V2
    } else {
        kpm::Version::V3
    };
    if !name.contains("kpm203")
        && !name.contains("kpm300")
        && !name.contains("kpmfut")
        && !name.contains("syn_kpm")
    {
        decode_e2ap(name, octets);
    } else if name.contains("-hdr") || name.contains("_hdr") {
        let _ = kpm::IndicationHeader::decode(octets, version);
    } else if name.contains("actdef") || name.contains("_ad_") {
        let _ = kpm::ActionDefinition::decode(octets, dialect);
    } else if name.contains("evtrig") {
        let _ = kpm::EventTrigger::decode(octets);
    } else if name.contains("rfdesc") || name.contains("ranfuncdef") {
        let _ = kpm::RanFunctionDescription::decode(octets);
    } else {
        let _ = kpm::IndicationMessage::decode(octets, dialect);
    }
}

/// A PDU, and what it carries for a service model.
fn decode_e2ap(name: &str, octets: &[u8]) {
    let version = if name.starts_with("v1_") || name.starts_with("e2ap101") {
        Version::V1_01
    } else if name.starts_with("v3_") || name.starts_with("e2ap301") {
        Version::V3_01
    } else {
        Version::V2_03
    };
    let _ = e2ap::guess_version(octets);
    match e2ap::decode(octets, version) {
        Ok(decoded) => {
            let _ = e2ap::diagnose_notes(&decoded.value, version, &decoded.notes);
            if let Pdu::RicIndication(indication) = decoded.value {
                decode_payload(&indication);
            }
        }
        Err(error) => drop(e2ap::diagnose_error(octets, &error)),
    }
}

fn decode_payload(indication: &e2ap::RicIndication) {
    let message = &indication.message;
    match Model::from_ran_function_id(indication.ran_function) {
        Some(Model::Mac) => drop(Stats::<MacUe>::decode(message)),
        Some(Model::Rlc) => drop(Stats::<RlcBearer>::decode(message)),
        Some(Model::Pdcp) => drop(Stats::<PdcpBearer>::decode(message)),
        Some(Model::Gtp) => drop(Stats::<GtpTunnel>::decode(message)),
        Some(Model::Slice) => drop(SliceIndication::decode(message)),
        Some(Model::Tc) => {}
        None => {
            let _ = kpm::IndicationHeader::decode(&indication.header, kpm::Version::V2);
            let dialect = Dialect::of_message(message).unwrap_or_default();
            let _ = kpm::IndicationMessage::decode(message, dialect);
        }
    }
}

fn vectors() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let files = |set: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder.join(set)).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "hex"))
            .collect()
    };
    let mut vectors: Vec<(String, Vec<u8>)> = ["flexric", "oai", "pycrate"]
        .into_iter()
        .flat_map(files)
        .map(|path| {
            let hex = std::fs::read_to_string(&path).unwrap();
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                hex::decode(hex.trim()).unwrap(),
            )
        })
        .filter(|(_, octets)| octets.len() < 4096)
        .collect();
    // The longest are taken first, so that the threads end together.
    vectors.sort_by_key(|(name, octets)| (octets.len(), name.clone()));
    vectors
}
