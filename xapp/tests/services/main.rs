//! The services of a running xApp over loopback, fed by a fake RAN link.

mod a1;
#[allow(dead_code, reason = "shared by several tests")]
#[path = "../../../policies/tests/common/bundle.rs"]
mod bundle;
mod guidance;
mod models;
mod operate;
mod policy;
mod rig;
