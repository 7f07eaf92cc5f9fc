fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = "../../../deploy/proto";
    tonic_prost_build::configure()
        .build_client(false)
        .include_file("protos.rs")
        .compile_protos(&[format!("{protos}/envoy/service/ratelimit/v3/rls.proto")], &[protos.to_string()])?;
    Ok(())
}
