//! Transport block size, TS 38.214 clause 5.1.3.2, and code blocks, TS 38.212 clauses 5.2.2 and 7.2.2.

use super::mcs::Mcs;
use super::mcs::McsTable;

/// Table 5.1.3.2-1: the transport block sizes up to 3824 bits.
const SMALL: [u16; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184,
    192, 208, 224, 240, 256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528,
    552, 576, 608, 640, 672, 704, 736, 768, 808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192,
    1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088,
    2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496,
    3624, 3752, 3824,
];

/// Resource elements of one PRB that can carry data (N'_RE): `symbols` symbols without `overhead` elements
/// of DM-RS and other overhead, at most 156.
pub fn data_elements(symbols: u8, overhead: u16) -> u16 {
    (12 * u16::from(symbols)).saturating_sub(overhead).min(156)
}

/// Transport block size in bits for `prbs` PRBs of `elements` data elements each, on `layers` layers.
///
/// All steps of the clause in integers: N_info is kept as a multiple of 1/2048.
pub fn transport_block_bits(mcs: Mcs, prbs: u16, elements: u16, layers: u8) -> u32 {
    let n_info_x2048 = u64::from(prbs)
        * u64::from(elements)
        * u64::from(mcs.code_rate_x2048)
        * u64::from(mcs.modulation_order)
        * u64::from(layers);
    if n_info_x2048 == 0 {
        return 0;
    }
    if n_info_x2048 <= 3824 * 2048 {
        small_block(n_info_x2048 / 2048)
    } else {
        large_block(n_info_x2048, mcs.code_rate_x2048)
    }
}

/// Step 3: quantised downwards, then the next size of the table.
fn small_block(n_info: u64) -> u32 {
    let n = n_info.max(1).ilog2().saturating_sub(6).max(3);
    let quantised = (n_info >> n << n).max(24);
    let row = SMALL.partition_point(|&size| u64::from(size) < quantised);
    u32::from(SMALL[row.min(SMALL.len() - 1)])
}

/// Step 4: quantised to the nearest, then made to fill equal code blocks.
fn large_block(n_info_x2048: u64, code_rate_x2048: u16) -> u32 {
    let above_crc_x2048 = n_info_x2048 - 24 * 2048;
    let n = (above_crc_x2048 / 2048).ilog2() - 5;
    // Ties go up, as the clause demands of its "round".
    let step_x2048 = 2048_u64 << n;
    let steps = (2 * above_crc_x2048 + step_x2048) / (2 * step_x2048);
    let quantised = (steps << n).max(3840);
    let code_blocks = if code_rate_x2048 <= 2048 / 4 {
        (quantised + 24).div_ceil(3816)
    } else if quantised > 8424 {
        (quantised + 24).div_ceil(8424)
    } else {
        1
    };
    (8 * code_blocks * (quantised + 24).div_ceil(8 * code_blocks) - 24) as u32
}

/// LDPC base graph (TS 38.212 clause 7.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseGraph {
    /// Base graph 1, code blocks up to 8448 bits.
    One,
    /// Base graph 2, code blocks up to 3840 bits.
    Two,
}

/// How a transport block is split for LDPC coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// Base graph.
    pub base_graph: BaseGraph,
    /// Code blocks C.
    pub code_blocks: u32,
    /// Bits of one code block with its CRC, K'.
    pub code_block_bits: u32,
}

/// Segmentation of a transport block of `bits` bits at the code rate of `mcs` (TS 38.212 clauses 7.2.1, 7.2.2, 5.2.2).
pub fn segmentation(bits: u32, mcs: Mcs) -> Segmentation {
    let rate = mcs.code_rate();
    let base_graph = if bits <= 292 || (bits <= 3824 && rate <= 0.67) || rate <= 0.25 {
        BaseGraph::Two
    } else {
        BaseGraph::One
    };
    let largest = match base_graph {
        BaseGraph::One => 8448,
        BaseGraph::Two => 3840,
    };
    let with_crc = bits + if bits > 3824 { 24 } else { 16 };
    if with_crc <= largest {
        return Segmentation {
            base_graph,
            code_blocks: 1,
            code_block_bits: with_crc,
        };
    }
    let code_blocks = with_crc.div_ceil(largest - 24);
    Segmentation {
        base_graph,
        code_blocks,
        code_block_bits: with_crc.div_ceil(code_blocks) + 24,
    }
}

/// Transport block sizes in octets of one slot shape, for every MCS and PRB count: computed once, then looked up.
#[derive(Clone, Debug)]
pub struct TbsTable {
    /// `rows[mcs][prbs]`.
    rows: Vec<Vec<u32>>,
}

impl TbsTable {
    /// The sizes on 0 to `prbs` PRBs of `elements` data elements each, on `layers` layers.
    pub fn new(table: McsTable, prbs: u16, elements: u16, layers: u8) -> Self {
        let octets = |mcs: Mcs, n: u16| transport_block_bits(mcs, n, elements, layers) / 8;
        let rows = table
            .rows()
            .iter()
            .map(|&mcs| (0..=prbs).map(|n| octets(mcs, n)).collect())
            .collect();
        Self { rows }
    }

    /// The sizes that `octets(mcs, prbs)` gives, of MCS 0 to `highest` on 0 to `prbs` PRBs.
    pub fn from_fn(highest: u8, prbs: u16, octets: impl Fn(u8, u16) -> u32) -> Self {
        let row = |mcs| (0..=prbs).map(|n| octets(mcs, n)).collect();
        Self {
            rows: (0..=highest).map(row).collect(),
        }
    }

    /// Octets that `prbs` PRBs carry at an MCS index.
    pub fn octets(&self, mcs: u8, prbs: u16) -> u32 {
        self.rows[usize::from(mcs)][usize::from(prbs)]
    }

    /// The fewest PRBs that carry `octets` at an MCS index; all PRBs if none suffice.
    pub fn prbs_for(&self, mcs: u8, octets: u32) -> u16 {
        let row = &self.rows[usize::from(mcs)];
        row.partition_point(|&size| size < octets)
            .min(row.len() - 1) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mcs(table: McsTable, index: usize) -> Mcs {
        table.rows()[index]
    }

    /// Fixed reference channels of TS 38.101-1 table A.3.2.2-1 (QPSK, rate 1/3, 12 symbols, 36 elements of DM-RS).
    #[test]
    fn fixed_reference_channels() {
        let elements = data_elements(12, 36);
        for (prbs, bits) in [(25, 1672), (52, 3368), (79, 5120), (106, 6912), (133, 8712)] {
            let size = transport_block_bits(mcs(McsTable::Qam64, 4), prbs, elements, 1);
            assert_eq!(size, bits, "{prbs} PRBs");
        }
    }

    /// What a real gNB (OAI) sends on 106 PRBs at MCS 28: 13 symbols, 12 elements of DM-RS.
    #[test]
    fn full_carrier_of_a_real_gnb() {
        let elements = data_elements(13, 12);
        let bits = transport_block_bits(mcs(McsTable::Qam64, 28), 106, elements, 1);
        assert_eq!(bits, 10497 * 8);
    }

    #[test]
    fn smallest_blocks_follow_the_table() {
        assert_eq!(
            transport_block_bits(mcs(McsTable::Qam64, 0), 1, 12, 1),
            24,
            "N_info of 2.8 is raised to the smallest block"
        );
        assert_eq!(transport_block_bits(mcs(McsTable::Qam64, 0), 0, 144, 1), 0);
        assert_eq!(data_elements(14, 0), 156, "N'_RE is capped");
    }

    #[test]
    fn fewest_prbs_for_an_amount() {
        let table = TbsTable::new(McsTable::Qam64, 106, 144, 1);
        let prbs = table.prbs_for(28, 1500);
        assert!(table.octets(28, prbs) >= 1500 && table.octets(28, prbs - 1) < 1500);
        assert_eq!(table.prbs_for(0, 1_000_000), 106);
        assert_eq!(table.prbs_for(9, 0), 0);
    }

    proptest! {
        /// The purpose of step 4: code blocks of equal size, in whole octets, without filler.
        #[test]
        fn blocks_fill_their_code_blocks(
            index in 0_usize..28, prbs in 1_u16..=275, elements in 1_u16..=156, layers in 1_u8..=4, qam256: bool,
        ) {
            let table = if qam256 { McsTable::Qam256 } else { McsTable::Qam64 };
            let mcs = mcs(table, index);
            let bits = transport_block_bits(mcs, prbs, elements, layers);
            prop_assert_eq!(bits % 8, 0);
            let split = segmentation(bits, mcs);
            let crc = if bits > 3824 { 24 } else { 16 };
            prop_assert_eq!((bits + crc) % split.code_blocks, 0);
            // The quantised size stays near the information bits that the resource elements carry.
            let n_info = f64::from(prbs) * f64::from(elements) * f64::from(layers) * mcs.spectral_efficiency();
            if n_info > 100.0 {
                prop_assert!((f64::from(bits) / n_info - 1.0).abs() < 0.13, "{} bits for {}", bits, n_info);
            }
        }

        #[test]
        fn more_prbs_never_carry_less(index in 0_usize..29, elements in 12_u16..=156) {
            let table = TbsTable::new(McsTable::Qam64, 275, elements, 1);
            for prbs in 1..=275 {
                prop_assert!(table.octets(index as u8, prbs) >= table.octets(index as u8, prbs - 1));
            }
        }
    }
}
