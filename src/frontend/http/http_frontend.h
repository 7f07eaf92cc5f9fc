// The HTTP frontend serves POST /v1/check, report, settle, release and extend for programs, /v1/auth for proxies, and
// POST /json for clients that send Envoy's descriptors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/object_pool.h"
#include "frontend/access.h"
#include "frontend/batch_memory.h"
#include "frontend/frontend.h"
#include "frontend/http/check_json.h"
#include "frontend/http/descriptors_json.h"
#include "frontend/http/original_request.h"
#include "frontend/http_router.h"
#include "frontend/http_session.h"
#include "frontend/loop_context.h"
#include "weir/time.h"
#include "wire/http1/request.h"

namespace weir::frontend {

struct HttpOptions {
  wire::http1::Limits limits;
  HostNames hosts;
  Token token;  // if set, decisions require it in X-Weir-Token
  AuthHeaders auth_headers = AuthHeaders::agreeing;
  Duration max_delay =
      std::chrono::seconds(5);      // maximum delay of a response of /v1/auth that waits for its turn in a queue
  std::size_t max_delayed = 1'000;  // maximum number of delayed responses per loop
};

class HttpFrontend final : public FrontendWith<HttpOptions> {
 public:
  HttpFrontend(LoopContext& context, const Health& health, HttpOptions options);
  ~HttpFrontend() override;

  [[nodiscard]] static std::vector<Route> routes();

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link) override;
  [[nodiscard]] net::ConnectionOptions connection_options() const override {
    return http_connection_options(options_.limits);
  }
  [[nodiscard]] std::vector<std::string> alpn_protocols() const override { return {"http/1.1"}; }
  [[nodiscard]] std::uint64_t requests() const noexcept override { return shared_.received.value(); }
  [[nodiscard]] const UnevaluatedCounts* unevaluated() const noexcept override { return &shared_.unevaluated; }

 private:
  class Session;
  struct Task;
  struct Batch;

  LoopContext& context_;
  const Health& health_;
  HttpLoopState shared_;
  CheckReader check_reader_;
  std::vector<CheckItem> items_;  // items of the request that is being read
  DescriptorsReader descriptors_reader_;
  std::string body_;  // body of the response that is being written
  base::IdleObjects<Batch, max_idle_batches> batches_;
  std::size_t may_delay_ = 0;  // unanswered queries whose responses may be delayed
};

}  // namespace weir::frontend
