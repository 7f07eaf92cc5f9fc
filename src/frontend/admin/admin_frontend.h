// The admin frontend: the API for operators, the metrics for Prometheus and the page. docs/reference-admin.md lists the
// paths; docs/decisions/0020 describes the JSON that the page reads.
//
// Consumers are written as in match/consumer.h. Names in paths are percent-encoded. Write operations require the admin
// token and are reported to the backend for the log. The files of the page require no token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/access.h"
#include "frontend/admin/backend.h"
#include "frontend/frontend.h"
#include "frontend/http_router.h"
#include "frontend/http_session.h"
#include "frontend/loop_context.h"
#include "wire/http1/request.h"

namespace weir::frontend {

// Tokens are sent as `X-Weir-Token: T` or `Authorization: Bearer T`.
struct AdminOptions {
  wire::http1::Limits limits{};
  HostNames hosts{};
  Token token{};        // if set, required for reading; the admin token is accepted too
  Token admin_token{};  // required for writing; if not set, write operations are disabled
};

class AdminFrontend final : public FrontendWith<AdminOptions> {
 public:
  AdminFrontend(LoopContext& context, AdminBackend& backend, const Health& health, AdminOptions options)
      : FrontendWith(std::move(options)), context_(context), backend_(backend), health_(health) {}

  [[nodiscard]] static std::vector<Route> routes();

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link) override;
  [[nodiscard]] net::ConnectionOptions connection_options() const override {
    return http_connection_options(options_.limits);
  }
  [[nodiscard]] std::vector<std::string> alpn_protocols() const override { return {"http/1.1"}; }
  [[nodiscard]] std::uint64_t requests() const noexcept override { return shared_.received.value(); }

 private:
  class Session;

  LoopContext& context_;
  AdminBackend& backend_;
  const Health& health_;
  HttpLoopState shared_;
};

}  // namespace weir::frontend
