// envoy.service.ratelimit.v3.RateLimitService: the calls of one read are judged as one batch, those of the domain
// `weir` as one and the others as another, and answered in any order, as HTTP/2 lets them. With a shared store all of
// them are one hearing, and answered when it is over.
//
// In other domains the descriptors of a call are judged together, all or nothing. In `weir` each descriptor is a query
// of its own: whoever wants several limits together names them in the policy, and sends one descriptor.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "door/descriptor_ruling.h"
#include "door/desk.h"
#include "door/pool.h"
#include "door/rls/call.h"
#include "door/rls/call_batch.h"
#include "door/unjudged.h"
#include "net/link.h"
#include "table/together.h"
#include "wire/http2/server.h"
#include "wire/rls/rate_limit_request.h"
#include "wire/rls/rate_limit_response.h"

namespace weir::door {

// One for each loop; its sessions use it in turn, each for one batch.
class RateLimitService {
 public:
  explicit RateLimitService(Desk& desk) : desk_(desk), at_once_(desk, at_once_memory) {}

  // A batch: begin, any number of calls, end. Messages stay until it is answered. What is answered at the end is
  // written to `out` at once. If there is more to answer, the link is resumed when that is known: until then the
  // session keeps the batch.
  void begin();
  void call(wire::http2::Server& server, Exchange& exchange, std::string_view message);
  [[nodiscard]] std::unique_ptr<CallBatch> end(wire::http2::Server& server, const net::Link& link, std::string& out);

  // Over the limit, whatever it asks: nothing of it was read, so there are no statuses.
  void deny_unread(wire::http2::Server& server, Exchange& exchange, Unread why);

  // The batch is judged. Exchanges that are gone are not answered.
  void answer(const CallBatch& batch, wire::http2::Server& server, std::string& out);
  // Nobody waits for it any more.
  void drop(std::unique_ptr<CallBatch> batch) noexcept;

  [[nodiscard]] UnjudgedCounts& counts() noexcept { return counts_; }
  [[nodiscard]] const UnjudgedCounts& counts() const noexcept { return counts_; }

 private:
  void fail(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why);
  [[nodiscard]] std::string_view fault_of(const wire::rls::RateLimitRequest& request) const noexcept;
  void ask_by_descriptors(CallBatch& batch, Exchange& exchange);
  void read_entries();
  [[nodiscard]] std::span<const engine::DescriptorAsk> asks(std::span<const engine::DescriptorEntry> entries);
  void answer_queries(const CallBatch& batch, const Ruling& ruling, wire::http2::Server& server, std::string& out);
  void answer_descriptors(const CallBatch& batch, wire::http2::Server& server, std::string& out);
  void judge_descriptors_at_once(wire::http2::Server& server, std::string& out);
  void write(const DescriptorRuling& ruling, std::string& out);
  void write(const Ruling& ruling, const QueryBatch& queries, const CallBatch::Queries& call, std::string& out);

  static constexpr std::size_t at_once_memory = std::size_t{64} << 10;  // what a read of many small calls needs

  Desk& desk_;
  wire::rls::RateLimitRequest request_;
  std::vector<engine::DescriptorEntry> entries_;
  std::array<engine::DescriptorAsk, table::most_together> asks_;
  CallBatch at_once_;                   // of a store that does not make anybody wait
  DescriptorRulings rulings_;           // on it
  std::unique_ptr<CallBatch> current_;  // of one that does; null: there is none
  Pool<CallBatch> waiting_;
  std::string body_;  // of a denial
  UnjudgedCounts counts_;
};

}  // namespace weir::door
