// The protocols that the server speaks. All else of the server goes over a list of them; only protocols.cpp says which
// there are.
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

// What a protocol is told, at the start and at every reload: from weir.yaml, with the tokens read.
struct FrontendOptions {
  ListenerConfig listener;
  frontend::Token token;        // of its listener; not set: none is needed
  frontend::Token admin_token;  // not set: none could be made
  std::size_t loops = 1;        // that share the bounds of the listener
};

[[nodiscard]] Result<FrontendOptions> frontend_options(const ListenerConfig& listener, const std::string& admin_token,
                                                       std::size_t loops);

// One protocol of a server: makes the frontend of each loop, and has what they share. It stays longer than they do, and
// is asked for sums while they are there.
class Protocol {
 public:
  // Where a protocol keeps states of its own, beside those of the policy's limits.
  struct StateOptions {
    std::size_t memory = 0;          // of weir.yaml, all of it
    std::filesystem::path folder{};  // of snapshots; empty: there are none
    table::HashKey hash_key{};
    Instant now{};
  };
  // What a frontend works with; all of it stays longer.
  struct FrontendDependencies {
    frontend::LoopContext& context;
    const frontend::Health& health;
    frontend::AdminBackend& backend;
  };

  explicit Protocol(std::string name) : name_(std::move(name)) {}
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }  // of its listener in weir.yaml

  // For another loop. Not from several threads.
  [[nodiscard]] std::unique_ptr<frontend::Frontend> make_frontend(const FrontendDependencies& surroundings,
                                                                  const FrontendOptions& options);
  // Other options for the frontend of a loop, after a reload. On the loop's thread.
  virtual void change(std::size_t loop, const FrontendOptions& options) = 0;

  [[nodiscard]] virtual Result<void> open_state(const StateOptions& /*options*/, Log& /*log*/) { return {}; }
  [[nodiscard]] virtual Result<void> save_state(const std::filesystem::path& /*folder*/, Instant /*now*/) { return {}; }
  [[nodiscard]] virtual std::size_t state_bytes() const { return 0; }
  // So many nodes share the store. From any thread.
  virtual void set_nodes(std::uint32_t /*nodes*/, Instant /*now*/) {}
  // Of CL.THROTTLE; null: it has none.
  [[nodiscard]] virtual store::ThrottleTable* throttle_table() noexcept { return nullptr; }

  // One for each loop.
  [[nodiscard]] const std::vector<const frontend::Frontend*>& frontends() const noexcept { return frontends_; }
  [[nodiscard]] std::uint64_t requests() const noexcept;
  // What clients asked of it, for the status page.
  virtual void add_traffic(observe::TrafficTotals& totals) const { totals.requests += requests(); }
  virtual void append_metrics(observe::MetricsPage& /*page*/) const {}

 private:
  [[nodiscard]] virtual std::unique_ptr<frontend::Frontend> make(const FrontendDependencies& surroundings,
                                                                 const FrontendOptions& options) = 0;

  const std::string name_;
  std::vector<const frontend::Frontend*> frontends_;
};

// One for each listener that is on, in the order of the configuration.
[[nodiscard]] std::vector<std::unique_ptr<Protocol>> make_protocols(const Config& config);

// What protocols leave to the states of the policy's limits, of the memory in weir.yaml.
[[nodiscard]] std::size_t policy_memory(const Config& config);

}  // namespace weir::server
