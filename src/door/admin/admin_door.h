// The admin door: what operators ask, and what Prometheus collects.
//
//   GET  /metrics                                    the text format of Prometheus
//   GET  /v1/status                                  the server: policy, reloads, doors, memory, snapshots, candidates
//   GET  /v1/ruleset                                 the policy in force, in words
//   GET  /v1/denied?count=20                         the consumers that were denied most of late, by hash
//   GET  /v1/limits/NAME/consumers/CONSUMER?tier=T   what a consumer has left of a limit; charges nothing
//   POST /v1/limits/NAME/consumers/CONSUMER/reset    forgets what was counted for it
//   GET  /v1/domains/NAME/descriptor?KEY=VALUE       the same of a descriptor: its entries are the parameters, in order
//   POST /v1/domains/NAME/descriptor/reset?KEY=VALUE
//   POST /v1/reload                                  reads weir.yaml and the policy again
//   GET  /healthz, /readyz                           for whoever watches the process
//
// A consumer is written as engine/consumer_text.h reads it. Names in paths are percent-encoded. What changes state
// asks for the admin token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "door/access.h"
#include "door/admin/backend.h"
#include "door/desk.h"
#include "door/health.h"
#include "door/http_session.h"
#include "net/session.h"
#include "wire/http1/request.h"

namespace weir::door {

// Tokens are shown as `X-Weir-Token: T` or `Authorization: Bearer T`.
struct AdminOptions {
  wire::http1::Limits limits{};
  HostNames hosts{};
  Token token{};        // set: asked for of whoever reads; the admin token will do too
  Token admin_token{};  // asked for of whoever changes something; not set: nobody can
};

// What its sessions on one loop share; they are gone before it.
class AdminDoor {
 public:
  AdminDoor(Desk& desk, AdminBackend& backend, const Health& health, AdminOptions options)
      : desk_(desk), backend_(backend), health_(health), options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link);

  void change(AdminOptions options) { options_ = std::move(options); }

  // Since the start; from any thread.
  [[nodiscard]] std::uint64_t requests() const noexcept { return room_.received.value(); }

 private:
  class Session;

  Desk& desk_;
  AdminBackend& backend_;
  const Health& health_;
  AdminOptions options_;
  HttpRoom room_;
};

}  // namespace weir::door
