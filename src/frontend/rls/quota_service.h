// envoy.service.rate_limit_quota.v3.RateLimitQuotaService: an Envoy reports what it admitted and denied, and is told
// how much it may admit by itself.
//
// The entries of a bucket's id are matched as those of a descriptor are, in any order; in the domain `weir` they are a
// query. Requests that no limit covers are admitted; what the policy denies whatever is left, is denied.
//
// A stream may have many buckets, and report all of them at once. They are read, and spoken of, in turns
// (`buckets_of_turn`), and so are the buckets of a stream that has ended released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/loop_context.h"
#include "frontend/rls/call.h"
#include "frontend/rls/quotas.h"
#include "frontend/rls/turns.h"
#include "match/descriptors.h"
#include "weir/header.h"
#include "wire/http2/server.h"
#include "wire/rlqs.h"

namespace weir::frontend {

// A stream of an Envoy.
struct QuotaCall {
  // A bucket of a message that is not read to its end.
  struct Usage {
    std::size_t id_size;
    std::uint64_t requests;
  };

  Exchange* exchange;  // kept until the call is over
  std::unique_ptr<QuotaStream> stream;
  std::string domain{};          // empty: it has not been told
  std::uint64_t matched_by = 0;  // which policy: QuotaService::policy_
  std::vector<Usage> usages{};   // of one message, from `next_usage` on
  std::size_t next_usage = 0;
  std::string ids{};  // theirs, from `next_id` on
  std::size_t next_id = 0;
  bool has_unread = false;  // messages, or usages of one
};

// One for each loop; its sessions use it in turn.
class QuotaService {
 public:
  QuotaService(LoopContext& context, std::shared_ptr<Quotas> quotas) : context_(context), quotas_(std::move(quotas)) {}

  // Null if there are too many; then the exchange is answered.
  [[nodiscard]] std::unique_ptr<QuotaCall> open(wire::http2::Server& server, Exchange& exchange);
  // How many buckets a session visits in one turn, in all of its calls together.
  static constexpr std::size_t buckets_of_turn = 256;

  // Messages that are there, and what is to be said of the buckets in them; as much of both as a turn has. False: the
  // call is over, and answered.
  [[nodiscard]] bool receive(wire::http2::Server& server, QuotaCall& call, std::size_t max_message_size);
  // What is to be said now. Takes the buckets that it visits from `max_visits`. False: the call is over, and answered.
  [[nodiscard]] bool tell(wire::http2::Server& server, QuotaCall& call, std::size_t& max_visits);
  // There is something left for the next turn.
  [[nodiscard]] static bool has_more(const QuotaCall& call) noexcept {
    return call.has_unread || call.stream->has_more();
  }
  // The call is over: its buckets are released in turns of the loop, if there is one.
  void close(std::unique_ptr<QuotaCall> call, net::Loop* loop);
  [[nodiscard]] Turns& turns() noexcept { return turns_; }

 private:
  // Reads a message into the call. False: the call is over, and answered.
  [[nodiscard]] bool read(wire::http2::Server& server, QuotaCall& call, std::string_view message);
  // False: some of its usages are left.
  [[nodiscard]] bool report(QuotaCall& call, std::size_t& max_usages);
  // Looks which policy is in force.
  void refresh();
  [[nodiscard]] QuotaTerms terms_of(std::string_view domain, std::string_view id);
  [[nodiscard]] QuotaTerms query_terms();
  [[nodiscard]] QuotaTerms descriptor_terms(std::string_view domain);

  LoopContext& context_;
  const std::shared_ptr<Quotas> quotas_;
  Turns turns_;
  std::uint64_t policy_ = 0;  // another number for another one
  std::string digest_;        // of the policy
  wire::rlqs::UsageReports reports_;
  std::vector<wire::rlqs::Entry> entries_;  // of a bucket
  std::vector<Header> headers_;             // of a query
  std::vector<DescriptorEntry> descriptor_;
};

}  // namespace weir::frontend
