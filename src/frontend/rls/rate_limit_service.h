// envoy.service.ratelimit.v3.RateLimitService, and kuadrant.service.ratelimit.v1.RateLimitService with the same
// messages: the calls of one read are evaluated as one batch, and answered when it is done.
//
// In most domains the descriptors of a call are evaluated together, all or nothing. In the domain `weir` each
// descriptor is a query of its own, on the limits with routes: a client that wants several limits together names them
// in the policy, and sends one descriptor. The keys `method`, `path`, `user`, `api_key`, `ip` and `tier` mean what they
// mean in a query, and `report` with the value `true` makes it a report; any other key is the name of a header field.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer.h"
#include "base/object_pool.h"
#include "frontend/batch_memory.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "frontend/rls/call.h"
#include "net/session.h"
#include "table/together.h"
#include "weir/header.h"
#include "wire/http2/server.h"
#include "wire/rls.h"

namespace weir::frontend {

// In this domain descriptors are queries.
inline constexpr std::string_view query_domain = "weir";

// What a call is for.
enum class RateLimitMethod : std::uint8_t {
  decide,  // ShouldRateLimit
  check,   // CheckRateLimit: whether something is left, whatever the hits; charges nothing
  report,  // Report: charges the hits without asking
};

// Fills a query from the entries of a descriptor; `headers` keeps what it views. True: it is a report.
[[nodiscard]] bool read_query(std::span<const wire::rls::Entry> entries, Query& query, std::vector<Header>& headers);

// Calls of one read, and the exchanges that they are answered to.
struct CallBatch {
  struct Call {
    Exchange* exchange;
    std::size_t first;  // of what is evaluated
    std::size_t count;
  };

  engine::EvaluationBatchPtr evaluation;
  std::vector<Call> calls;
  std::vector<bool> never_over;  // of what is evaluated: a query that gives back, or reports
  BatchMemory memory;
};

// One for each loop; its sessions use it in turn.
class RateLimitService {
 public:
  explicit RateLimitService(LoopContext& context) : context_(context) {}

  [[nodiscard]] std::unique_ptr<CallBatch> new_batch();
  // Calls of one batch. On a store that is shared, more at once are fewer trips. In this process's own memory fewer are
  // better: what they touch between them stays in the nearest cache.
  [[nodiscard]] std::size_t max_batch_size() const noexcept {
    constexpr std::size_t in_memory = 16;
    return context_.evaluator().is_shared() ? SIZE_MAX : in_memory;
  }
  // Adds a call, or answers it if something is wrong with it. The message stays until the batch is answered.
  void add(CallBatch& batch, wire::http2::Server& server, Exchange& exchange, RateLimitMethod method,
           std::string_view message);
  // When it is evaluated. Exchanges that are gone are not answered. What is answered is written to `out` at once.
  void answer(const CallBatch& batch, wire::http2::Server& server, std::string& out);
  // It is answered, or nobody waits for it any more.
  void give_back(std::unique_ptr<CallBatch> batch) noexcept;

  // Over the limit, whatever it asks: nothing of it was read, so there are no statuses.
  void deny_unread(wire::http2::Server& server, Exchange& exchange, Unread why);

  [[nodiscard]] UnevaluatedCounts& counts() noexcept { return counts_; }
  [[nodiscard]] const UnevaluatedCounts& counts() const noexcept { return counts_; }

 private:
  void fail(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why);
  void add_queries(CallBatch& batch, RateLimitMethod method);
  void add_descriptors(CallBatch& batch, RateLimitMethod method);
  [[nodiscard]] std::span<const match::DescriptorQuery> asks(std::span<const DescriptorEntry> entries,
                                                             RateLimitMethod method);
  void write_queries(const CallBatch& batch, const CallBatch::Call& call, std::string& out);
  void append_problem(wire::rls::RateLimitResponse& response) const;
  void write_descriptors(const answer::DescriptorVerdict& verdict, std::string& out);

  LoopContext& context_;
  wire::rls::RateLimitRequest request_;
  std::vector<DescriptorEntry> entries_;                              // of the request
  std::array<match::DescriptorQuery, table::max_group_size> asks_{};  // of the request
  std::vector<Header> headers_;                                       // of a query
  base::IdleObjects<CallBatch, max_idle_batches> batches_;
  std::string body_;  // of a denial
  UnevaluatedCounts counts_;
};

}  // namespace weir::frontend
