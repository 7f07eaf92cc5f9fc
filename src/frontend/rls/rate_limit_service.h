// envoy.service.ratelimit.v3.RateLimitService, and kuadrant.service.ratelimit.v1.RateLimitService with the same
// messages. The calls of one read are evaluated as one batch.
//
// The descriptors of a call are evaluated together, all or nothing. In the domain `weir`, however, each descriptor is a
// separate query on the limits with routes; to evaluate several limits together, let the policy combine them and send
// one descriptor. There the keys `method`, `path`, `user`, `api_key`, `ip` and `tier` are the fields of a query,
// `report` with the value `true` makes it a report, and any other key is a header.
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

// The domain whose descriptors are queries.
inline constexpr std::string_view query_domain = "weir";

enum class RateLimitMethod : std::uint8_t {
  decide,  // ShouldRateLimit
  check,   // CheckRateLimit: checks whether one hit would pass; charges nothing
  report,  // Report: charges the hits unconditionally
};

// Fills a query from the entries of a descriptor. The query refers to `headers`. Returns true for a report.
[[nodiscard]] bool read_query(std::span<const wire::rls::Entry> entries, Query& query, std::vector<Header>& headers);

// The calls of one batch.
struct CallBatch {
  struct Call {
    Exchange* exchange;
    std::size_t first;  // index in `evaluation`
    std::size_t count;
  };

  engine::EvaluationBatchPtr evaluation;
  std::vector<Call> calls;
  std::vector<bool> never_over;  // per item of `evaluation`: true for reports and negative hits
  BatchMemory memory;
};

// Each loop has one, shared by its sessions.
class RateLimitService {
 public:
  explicit RateLimitService(LoopContext& context) : context_(context) {}

  [[nodiscard]] std::unique_ptr<CallBatch> new_batch();
  // The maximum number of calls in a batch. With a shared store, larger batches need fewer round trips. In memory,
  // smaller batches stay in the processor's cache.
  [[nodiscard]] std::size_t max_batch_size() const noexcept {
    constexpr std::size_t in_memory = 16;
    return context_.evaluator().is_shared() ? SIZE_MAX : in_memory;
  }
  // Adds a call, or answers it if it is invalid. The message must outlive the batch.
  void add(CallBatch& batch, wire::http2::Server& server, Exchange& exchange, RateLimitMethod method,
           std::string_view message);
  // Answers an evaluated batch, except for closed exchanges, and writes the responses to `out`.
  void answer(const CallBatch& batch, wire::http2::Server& server, std::string& out);
  // Recycles a batch that is answered or no longer needed.
  void release_batch(std::unique_ptr<CallBatch> batch) noexcept;

  // Answers OVER_LIMIT without statuses to a call that could not be read.
  void deny_unread(wire::http2::Server& server, Exchange& exchange, Unread why);

  [[nodiscard]] UnevaluatedCounts& counts() noexcept { return counts_; }
  [[nodiscard]] const UnevaluatedCounts& counts() const noexcept { return counts_; }

 private:
  void fail(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why);
  void add_queries(CallBatch& batch, RateLimitMethod method);
  void add_descriptors(CallBatch& batch, RateLimitMethod method);
  [[nodiscard]] std::span<const match::DescriptorQuery> read_queries(std::span<const DescriptorEntry> entries,
                                                                     RateLimitMethod method);
  void write_queries(const CallBatch& batch, const CallBatch::Call& call, std::string& out);
  void append_problem(wire::rls::RateLimitResponse& response) const;
  void write_descriptors(const answer::DescriptorVerdict& verdict, std::string& out);

  LoopContext& context_;
  wire::rls::RateLimitRequest request_;
  std::vector<DescriptorEntry> entries_;                                 // entries of the request
  std::array<match::DescriptorQuery, table::max_group_size> queries_{};  // queries of the request
  std::vector<Header> headers_;                                          // headers of a query
  base::IdleObjects<CallBatch, max_idle_batches> batches_;
  std::string body_;  // the body of a denial
  UnevaluatedCounts counts_;
};

}  // namespace weir::frontend
