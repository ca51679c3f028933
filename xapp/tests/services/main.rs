//! The services of a running xApp over loopback, fed by a fake RAN link.

mod a1;
mod guidance;
mod operate;
mod policy;
mod rig;
