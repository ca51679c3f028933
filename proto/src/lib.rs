//! The gRPC contracts of Cantor: guidance for edge servers, operations for operators.
//!
//! The messages are documented in `proto/cantor/*.proto`.
#![forbid(unsafe_code)]

/// Rate guidance for edge servers (`cantor.guidance.v1`).
pub mod guidance {
    #![allow(missing_docs, clippy::all)]
    tonic::include_proto!("cantor.guidance.v1");
}

/// What operators see of a running Cantor (`cantor.operations.v1`).
pub mod operations {
    #![allow(missing_docs, clippy::all)]
    tonic::include_proto!("cantor.operations.v1");
}

/// Encoded `google.protobuf.FileDescriptorSet` of both contracts, for server reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
