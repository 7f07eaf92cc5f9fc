// The frontend for Redis clients: CL.THROTTLE as defined by redis-cell, the WEIR. commands on the limits of the policy,
// and the commands of Redis that client libraries send by themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "base/object_pool.h"
#include "frontend/access.h"
#include "frontend/batch_memory.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "frontend/resp/limit_commands.h"
#include "frontend/resp/transaction.h"
#include "wire/resp/command_parser.h"

namespace weir::frontend {

// Clients send tokens by AUTH or HELLO AUTH, with any user name. Authenticated connections stay authenticated when the
// token changes.
struct RespOptions {
  wire::resp::CommandLimits limits;
  Token token;        // if set, required for decisions
  Token admin_token;  // permits resets too; if not set, resets are disabled
};

// The context's evaluator must have a table for CL.THROTTLE. `on_reset` is called on the loop's thread. The frontends
// of all loops share the transaction budget.
class RespFrontend final : public FrontendWith<RespOptions> {
 public:
  RespFrontend(LoopContext& context, RespOptions options, OnReset on_reset = {},
               std::shared_ptr<TransactionBudget> transaction_budget = std::make_shared<TransactionBudget>())
      : FrontendWith(std::move(options)),
        context_(context),
        on_reset_(std::move(on_reset)),
        transaction_budget_(std::move(transaction_budget)) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link) override;
  // Clients keep idle connections open.
  [[nodiscard]] net::ConnectionOptions connection_options() const override {
    net::ConnectionOptions options = connection_for(2 * options_.limits.command_length);
    options.timeouts.idle = std::chrono::hours(1);
    return options;
  }
  [[nodiscard]] std::vector<std::string> alpn_protocols() const override { return {}; }
  [[nodiscard]] std::uint64_t requests() const noexcept override { return commands_.value(); }
  [[nodiscard]] const ThrottleCounts& throttle_counts() const noexcept { return throttle_counts_; }

 private:
  class Session;

  LoopContext& context_;
  const OnReset on_reset_;
  const std::shared_ptr<TransactionBudget> transaction_budget_;
  ThrottleLimits throttle_limits_;
  ThrottleCounts throttle_counts_;
  base::IdleObjects<CommandBatch, max_idle_batches> batches_;
  base::Counter commands_;
};

}  // namespace weir::frontend
