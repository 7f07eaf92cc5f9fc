// envoy.service.rate_limit_quota.v3.RateLimitQuotaService: an Envoy reports the requests that it admitted and denied,
// and receives the share that it may admit by itself.
//
// The entries of a bucket id are matched like those of a descriptor, in any order; in the domain `weir` they are a
// query. Requests that no limit covers are admitted. Requests that the policy always denies are denied.
//
// A stream may have many buckets and report all of them in one message. They are processed in turns of at most
// `buckets_of_turn` buckets, and the buckets of an ended stream are released in turns too.
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

// One stream of an Envoy.
struct QuotaCall {
  // A bucket of a partially processed message.
  struct Usage {
    std::size_t id_size;
    std::uint64_t requests;
  };

  Exchange* exchange;  // kept until the call ends
  std::unique_ptr<QuotaStream> stream;
  std::string domain{};          // empty: not known yet
  std::uint64_t matched_by = 0;  // QuotaService::policy_ at the last match
  std::vector<Usage> usages{};   // usages of one message; not processed from `next_usage` on
  std::size_t next_usage = 0;
  std::string ids{};  // ids of the usages; not processed from `next_id` on
  std::size_t next_id = 0;
  bool has_unread = false;  // unprocessed messages or usages
};

// Each loop has one, shared by its sessions.
class QuotaService {
 public:
  QuotaService(LoopContext& context, std::shared_ptr<Quotas> quotas) : context_(context), quotas_(std::move(quotas)) {}

  // Returns null and ends the call if there are too many streams.
  [[nodiscard]] std::unique_ptr<QuotaCall> open(wire::http2::Server& server, Exchange& exchange);
  // The maximum number of buckets that a session visits in one turn, in all of its calls.
  static constexpr std::size_t buckets_of_turn = 256;

  // Processes received messages and sends actions for their buckets, within the bound of a turn. Returns false if the
  // call has ended.
  [[nodiscard]] bool receive(wire::http2::Server& server, QuotaCall& call, std::size_t max_message_size);
  // Sends the actions that are due. Subtracts the visited buckets from `max_visits`. Returns false if the call has
  // ended.
  [[nodiscard]] bool send_actions(wire::http2::Server& server, QuotaCall& call, std::size_t& max_visits);
  // True if there is work for another turn.
  [[nodiscard]] static bool has_more(const QuotaCall& call) noexcept {
    return call.has_unread || call.stream->has_more();
  }
  // Ends a call. Its buckets are released in turns of the loop, if there is one.
  void close(std::unique_ptr<QuotaCall> call, net::Loop* loop);
  [[nodiscard]] Turns& turns() noexcept { return turns_; }

 private:
  // Reads a message into the call. Returns false if the call has ended.
  [[nodiscard]] bool read(wire::http2::Server& server, QuotaCall& call, std::string_view message);
  // Returns false if unprocessed usages remain.
  [[nodiscard]] bool report(QuotaCall& call, std::size_t& max_usages);
  // Updates policy_ if the active policy has changed.
  void refresh();
  [[nodiscard]] QuotaTerms terms_of(std::string_view domain, std::string_view id);
  [[nodiscard]] QuotaTerms query_terms();
  [[nodiscard]] QuotaTerms descriptor_terms(std::string_view domain);

  LoopContext& context_;
  const std::shared_ptr<Quotas> quotas_;
  Turns turns_;
  std::uint64_t policy_ = 0;  // changes with the active policy
  std::string digest_;        // digest of the active policy
  wire::rlqs::UsageReports reports_;
  std::vector<wire::rlqs::Entry> entries_;  // scratch: the entries of a bucket
  std::vector<Header> headers_;             // scratch: the headers of a query
  std::vector<DescriptorEntry> descriptor_;
};

}  // namespace weir::frontend
