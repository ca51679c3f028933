//! Compiles the .proto files in Rust (protox): no protoc has to be installed.
use prost::Message as _;
use std::{env, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(
        [
            "proto/cantor/guidance.proto",
            "proto/cantor/operations.proto",
        ],
        ["proto"],
    )?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
