// The baseline for the rate limit service listener: a grpc++ callback server that answers a constant.
//
//   rls_baseline PORT
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include <envoy/service/ratelimit/v3/rls.grpc.pb.h>
#include <grpcpp/grpcpp.h>

namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using envoy::service::ratelimit::v3::RateLimitService;

class Constant final : public RateLimitService::CallbackService {
  grpc::ServerUnaryReactor* ShouldRateLimit(grpc::CallbackServerContext* context, const RateLimitRequest* request,
                                            RateLimitResponse* response) override {
    response->set_overall_code(RateLimitResponse::OK);
    for (int i = 0; i < request->descriptors_size(); ++i) response->add_statuses()->set_code(RateLimitResponse::OK);
    auto* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: rls_baseline PORT\n";
    return EXIT_FAILURE;
  }
  Constant service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("127.0.0.1:") + arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) return EXIT_FAILURE;
  server->Wait();
}
