//! Whole-system tests: real SCTP, processes killed, recordings of real RANs.
