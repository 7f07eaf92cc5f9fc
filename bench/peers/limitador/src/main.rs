//! limitador's library behind a gRPC server of tonic, which its own server is made with: that one is not published as a
//! crate. It answers a code and nothing else. One thread.
//!
//!   limitador_peer PORT (NAMESPACE VALUE SECONDS VARIABLE[,VARIABLE])...

use std::collections::HashMap;
use std::error::Error;

use limitador::limit::{Context, Limit};
use limitador::RateLimiter;
use tonic::{Request, Response, Status};

mod protos {
    tonic::include_proto!("protos");
}
use protos::envoy::service::ratelimit::v3 as rls;
use rls::rate_limit_response::Code;
use rls::rate_limit_service_server::{RateLimitService, RateLimitServiceServer};

const MOST_COUNTERS: u64 = 2_000_000;

struct Service {
    limiter: RateLimiter,
}

#[tonic::async_trait]
impl RateLimitService for Service {
    async fn should_rate_limit(
        &self,
        request: Request<rls::RateLimitRequest>,
    ) -> Result<Response<rls::RateLimitResponse>, Status> {
        let asked = request.into_inner();
        let descriptors: Vec<HashMap<String, String>> = asked
            .descriptors
            .into_iter()
            .map(|descriptor| descriptor.entries.into_iter().map(|entry| (entry.key, entry.value)).collect())
            .collect();
        let mut context = Context::default();
        context.list_binding("descriptors".to_string(), descriptors);
        let hits = u64::from(asked.hits_addend.max(1));
        let checked = self
            .limiter
            .check_rate_limited_and_update(&asked.domain.into(), &context, hits)
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let code = if checked.limited { Code::OverLimit } else { Code::Ok };
        Ok(Response::new(rls::RateLimitResponse { overall_code: code.into(), ..Default::default() }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (port, limits) = arguments.split_first().ok_or("usage: limitador_peer PORT LIMIT...")?;
    let limiter = RateLimiter::new(MOST_COUNTERS);
    for limit in limits.chunks_exact(4) {
        let mut variables = Vec::new();
        for variable in limit[3].split(',') {
            variables.push(variable.try_into()?);
        }
        limiter.add_limit(Limit::new(limit[0].as_str(), limit[1].parse()?, limit[2].parse()?, vec![], variables));
    }
    let address = format!("127.0.0.1:{port}").parse()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(
        tonic::transport::Server::builder()
            .add_service(RateLimitServiceServer::new(Service { limiter }))
            .serve(address),
    )?;
    Ok(())
}
