//! FlexRIC's plain service models: encoding and decoding are each other's inverse, padding aside.

use crate::values::text;
use e2sm::flexric::{
    DirectionSlices, EdfParams, ErrorKind, GtpTunnel, MacUe, Model, Nvs, PdcpBearer, RlcBearer,
    Scn19, Slice, SliceIndication, SliceParams, StaticSlice, Stats, UeSlices,
};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Any octets of the right length are a message of a plain model, and padding is all that encoding changes.
    #[test]
    fn plain_models(records in 0..4u32, octets in vec(any::<u8>(), 4 * 176 + 8)) {
        plain::<MacUe>(records, 176, &[170, 171, 172, 173, 174, 175], &octets)?;
        plain::<RlcBearer>(records, 152, &[100, 101, 102, 103, 150, 151], &octets)?;
        plain::<PdcpBearer>(records, 68, &[66, 67], &octets)?;
        plain::<GtpTunnel>(records, 12, &[10, 11], &octets)?;
    }

    #[test]
    fn slices(message in slice_message()) {
        let octets = message.encode();
        prop_assert_eq!(SliceIndication::decode(&octets).unwrap(), message);
        for end in 0..octets.len() {
            prop_assert!(SliceIndication::decode(&octets[..end]).is_err());
        }
    }
}

fn plain<R: e2sm::flexric::Record>(
    records: u32,
    size: usize,
    padding: &[usize],
    octets: &[u8],
) -> Result<(), TestCaseError> {
    let mut message = records.to_le_bytes().to_vec();
    message.extend(&octets[..records as usize * size + 8]);
    let encoded = Stats::<R>::decode(&message).unwrap().encode();
    for record in message[4..].chunks_exact_mut(size).take(records as usize) {
        padding.iter().for_each(|at| record[*at] = 0);
    }
    prop_assert_eq!(encoded, message);
    Ok(())
}

fn slice_message() -> impl Strategy<Value = SliceIndication> {
    let rate = || (0f32..1000.0, 0f32..1000.0);
    let fixed = || {
        (any::<u32>(), any::<u32>())
            .prop_map(|(pos_high, pos_low)| StaticSlice { pos_high, pos_low })
    };
    let params = prop_oneof![
        Just(SliceParams::None),
        fixed().prop_map(SliceParams::Static),
        rate().prop_map(
            |(reference_mbps, required_mbps)| SliceParams::Nvs(Nvs::Rate {
                reference_mbps,
                required_mbps
            })
        ),
        (0f32..1.0).prop_map(|share| SliceParams::Nvs(Nvs::Capacity(share))),
        rate().prop_map(
            |(reference_mbps, required_mbps)| SliceParams::Scn19(Scn19::Dynamic {
                reference_mbps,
                required_mbps
            })
        ),
        fixed().prop_map(|fixed| SliceParams::Scn19(Scn19::Fixed(fixed))),
        (0f32..1.0, 0f32..100.0, any::<u32>()).prop_map(|(log_delta, pct_reserved, tau)| {
            SliceParams::Scn19(Scn19::OnDemand {
                log_delta,
                pct_reserved,
                tau,
            })
        }),
        (any::<[u32; 3]>(), vec(any::<u32>(), 0..3)).prop_map(
            |([deadline, guaranteed_prbs, max_replenish], over)| SliceParams::Edf(EdfParams {
                deadline,
                guaranteed_prbs,
                max_replenish,
                over
            })
        ),
    ];
    let slice =
        (any::<u32>(), text(20), text(20), params).prop_map(|(id, label, scheduler, params)| {
            Slice {
                id,
                label,
                scheduler,
                params,
            }
        });
    let direction = (text(20), vec(slice, 0..3))
        .prop_map(|(scheduler, slices)| DirectionSlices { scheduler, slices })
        .boxed();
    let ue = (any::<[u32; 2]>(), any::<u16>()).prop_map(|([dl_id, ul_id], rnti)| UeSlices {
        dl_id,
        ul_id,
        rnti,
    });
    (direction.clone(), direction, vec(ue, 0..3), any::<i64>()).prop_map(
        |(dl, ul, ues, tstamp_us)| SliceIndication {
            dl,
            ul,
            ues,
            tstamp_us,
        },
    )
}

#[test]
fn a_plain_message_of_another_length_is_refused() {
    let message = Stats {
        records: vec![RlcBearer::default(); 2],
        tstamp_us: 1,
    }
    .encode();
    let error = Stats::<RlcBearer>::decode(&message[1..]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Length { found: 315, .. }));
    // RLC taken for MAC, and a count that no message can hold.
    assert!(Stats::<MacUe>::decode(&message).is_err());
    let mut huge = message;
    huge[..4].fill(0xff);
    let error = Stats::<RlcBearer>::decode(&huge).unwrap_err();
    assert_eq!(
        error.to_string(),
        "octet 0: RLC / n: needs 652835028852 octets in all, has 316: other version of the service model?"
    );
    assert_eq!(Model::from_oid("0.0.0.0.0.0.0.0.1.147.0"), None);
}
