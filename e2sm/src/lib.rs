//! E2AP, E2SM-KPM and FlexRIC service models: octets to types and back (aligned PER).
