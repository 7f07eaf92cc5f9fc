// envoy.service.ratelimit.v3.RateLimitService: the calls of one read are judged with one look at the clock, those of
// the domain `weir` as one batch, and answered in any order, as HTTP/2 lets them.
//
// In other domains the descriptors of a call are judged together, all or nothing. In `weir` each descriptor is a query
// of its own: whoever wants several limits together names them in the policy, and sends one descriptor.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "door/descriptor_ruling.h"
#include "door/desk.h"
#include "door/rls/call.h"
#include "door/rls/query_entries.h"
#include "table/together.h"
#include "wire/http2/server.h"
#include "wire/rls/rate_limit_request.h"
#include "wire/rls/rate_limit_response.h"

namespace weir::door {

// One for each loop; its sessions use it in turn, each for one batch.
class RateLimitService {
 public:
  explicit RateLimitService(Desk& desk) noexcept : desk_(desk) {}

  // A batch: begin, any number of calls, end. The message stays until then. What is answered at the end is written to
  // `out` at once.
  void begin() noexcept;
  void call(wire::http2::Server& server, Exchange& exchange, std::string_view message);
  void end(wire::http2::Server& server, std::string& out);

 private:
  // A call whose descriptors are queries of the batch.
  struct Waiting {
    Exchange* exchange;
    std::size_t first;
    std::size_t count;
  };

  [[nodiscard]] std::string_view fault_of(const wire::rls::RateLimitRequest& request) const noexcept;
  void judge_by_descriptors(wire::http2::Server& server, Exchange& exchange);
  [[nodiscard]] std::span<engine::DescriptorAsk> asks();
  void write(const DescriptorRuling& ruling, std::string& out);
  void write(const Ruling& ruling, std::span<const engine::Verdict> verdicts, std::string& out);

  Desk& desk_;
  Instant now_{};
  bool started_ = false;  // now_ is that of this batch
  wire::rls::RateLimitRequest request_;
  std::vector<engine::DescriptorEntry> entries_;
  std::array<engine::DescriptorAsk, table::most_together> asks_;
  std::array<engine::DescriptorStatus, table::most_together> statuses_;
  QueryBatch batch_;
  std::vector<Waiting> waiting_;
  std::string body_;  // of a denial
};

}  // namespace weir::door
