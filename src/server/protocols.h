// The protocols of the server. The rest of the server iterates over them; only protocols.cpp lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/access.h"
#include "frontend/admin/backend.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "observe/metrics_page.h"
#include "observe/recent_traffic.h"
#include "server/config.h"
#include "server/log.h"
#include "store/local/throttle_table.h"
#include "table/hash_key.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::server {

// Options of a frontend, at startup and after every reload: its listener in weir.yaml, with the tokens read.
struct FrontendOptions {
  ListenerConfig listener;
  frontend::Token token;        // unset: no token is required
  frontend::Token admin_token;  // of those that may write; unset if there is no state directory
  std::vector<frontend::NamedToken> named_tokens;
  std::size_t loops = 1;  // the bounds of the listener are divided among them
};

[[nodiscard]] Result<FrontendOptions> frontend_options(const ListenerConfig& listener,
                                                       const std::vector<frontend::NamedToken>& admin_tokens,
                                                       std::size_t loops);

// One protocol of a server. Creates the frontend of each loop and owns the state that the frontends share. Must outlive
// them; sums are valid while they exist.
class Protocol {
 public:
  // Options for protocols that have their own states, besides those of the policy's limits.
  struct StateOptions {
    std::size_t memory = 0;          // state.memory of weir.yaml
    std::filesystem::path folder{};  // for snapshots; empty: none
    table::HashKey hash_key{};
    Instant now{};
  };
  // Must outlive the frontend.
  struct FrontendDependencies {
    frontend::LoopContext& context;
    const frontend::Health& health;
    frontend::AdminBackend& backend;
  };

  explicit Protocol(std::string name) : name_(std::move(name)) {}
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }  // the listener in weir.yaml

  // Creates the frontend of the next loop. Not thread-safe.
  [[nodiscard]] std::unique_ptr<frontend::Frontend> make_frontend(const FrontendDependencies& dependencies,
                                                                  const FrontendOptions& options);
  // Applies the options of a reload to the frontend of a loop. Called on the loop's thread.
  virtual void change(std::size_t loop, const FrontendOptions& options) = 0;

  [[nodiscard]] virtual Result<void> open_state(const StateOptions& /*options*/, Log& /*log*/) { return {}; }
  [[nodiscard]] virtual Result<void> save_state(const std::filesystem::path& /*folder*/, Instant /*now*/) { return {}; }
  [[nodiscard]] virtual std::size_t state_bytes() const { return 0; }
  // Sets how many nodes share the store. Thread-safe.
  virtual void set_nodes(std::uint32_t /*nodes*/, Instant /*now*/) {}
  // Returns the states of CL.THROTTLE; null for other protocols.
  [[nodiscard]] virtual store::ThrottleTable* throttle_table() noexcept { return nullptr; }

  // One per loop.
  [[nodiscard]] const std::vector<const frontend::Frontend*>& frontends() const noexcept { return frontends_; }
  [[nodiscard]] std::uint64_t requests() const noexcept;
  // Adds the traffic of clients, for the status.
  virtual void add_traffic(observe::TrafficTotals& totals) const { totals.requests += requests(); }
  virtual void append_metrics(observe::MetricsPage& /*page*/) const {}

 private:
  [[nodiscard]] virtual std::unique_ptr<frontend::Frontend> make(const FrontendDependencies& dependencies,
                                                                 const FrontendOptions& options) = 0;

  const std::string name_;
  std::vector<const frontend::Frontend*> frontends_;
};

// Returns one protocol for each enabled listener, in the order of the configuration.
[[nodiscard]] std::vector<std::unique_ptr<Protocol>> make_protocols(const Config& config);

// Returns the share of state.memory that protocols leave to the policy's limits.
[[nodiscard]] std::size_t policy_memory(const Config& config);

}  // namespace weir::server
