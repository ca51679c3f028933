//! From SINR to blocks: how many octets they hold, which MCS they get and how often they fail.
//!
//! - [`mutual_information`], [`bler`]: the error model.
//! - [`lena`]: sizes and link adaptation of 5G-LENA.
//! - [`outer_loop`]: link adaptation of OpenAirInterface.

pub mod bler;
pub mod lena;
pub mod mutual_information;
pub mod outer_loop;
