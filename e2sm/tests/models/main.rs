//! Encoding and decoding are each other's inverse for every type of E2SM-KPM, in both dialects, and for FlexRIC's models.

mod examples;
mod flexric;
mod kpm;
mod values;

use e2sm::aper::Notes;
use e2sm::kpm::*;
use kpm::{action, description, dialect, header, message};
use proptest::prelude::*;

/// Only what is unknown on purpose may be noted.
fn only_unknown(notes: &Notes) -> bool {
    (notes.extension_additions, notes.trailing_octets) == (0, 0)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn indication_messages(message in message(), dialect in dialect()) {
        let octets = message.encode(dialect).unwrap();
        let (decoded, notes) = IndicationMessage::decode(&octets, dialect).unwrap();
        prop_assert_eq!(&decoded, &message);
        prop_assert!(only_unknown(&notes), "{:?}", notes);
        prop_assert_eq!(decoded.into_owned(), message);
    }

    #[test]
    fn action_definitions(action in action(), dialect in dialect()) {
        let octets = action.encode(dialect).unwrap();
        let (decoded, notes) = ActionDefinition::decode(&octets, dialect).unwrap();
        prop_assert_eq!(decoded, action);
        prop_assert!(only_unknown(&notes), "{:?}", notes);
    }

    #[test]
    fn indication_headers(header in header()) {
        let octets = header.encode().unwrap();
        let version = header.collect_start_time.version();
        let (decoded, notes) = IndicationHeader::decode(&octets, version).unwrap();
        prop_assert_eq!(decoded, header);
        prop_assert_eq!(notes, Notes::default());
    }

    #[test]
    fn ran_function_descriptions(description in description()) {
        let octets = description.encode().unwrap();
        let (decoded, notes) = RanFunctionDescription::decode(&octets).unwrap();
        prop_assert_eq!(decoded, description);
        prop_assert!(only_unknown(&notes), "{:?}", notes);
    }

    #[test]
    fn event_triggers(period_ms in 1..=u32::MAX) {
        let trigger = EventTrigger { period_ms };
        prop_assert_eq!(EventTrigger::decode(&trigger.encode().unwrap()).unwrap().0, trigger);
        let plain = e2sm::flexric::EventTrigger { period_ms };
        prop_assert_eq!(e2sm::flexric::EventTrigger::decode(&plain.encode()).unwrap(), plain);
    }
}
