// envoy.service.rate_limit_quota.v3.RateLimitQuotaService: an Envoy reports what it admitted and denied, and is told
// how much it may admit by itself.
//
// The entries of a bucket's id are matched as those of a descriptor are, in any order; in the domain `weir` they are a
// query. Requests that no limit covers are admitted; what the policy denies whatever is left, is denied.
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
#include "match/descriptors.h"
#include "weir/header.h"
#include "wire/http2/server.h"
#include "wire/rlqs.h"

namespace weir::frontend {

// A stream of an Envoy.
struct QuotaCall {
  Exchange* exchange;  // kept until the call is over
  std::unique_ptr<QuotaStream> stream;
  std::string domain{};          // empty: it has not been told
  std::uint64_t matched_by = 0;  // which policy: QuotaService::policy_
};

// One for each loop; its sessions use it in turn.
class QuotaService {
 public:
  QuotaService(LoopContext& context, std::shared_ptr<Quotas> quotas) : context_(context), quotas_(std::move(quotas)) {}

  // Null if there are too many; then the exchange is answered.
  [[nodiscard]] std::unique_ptr<QuotaCall> open(wire::http2::Server& server, Exchange& exchange);
  // All messages that are there. False: the call is over, and answered.
  [[nodiscard]] bool receive(wire::http2::Server& server, QuotaCall& call, std::size_t longest_message);
  // What is to be said now. False: the call is over, and answered.
  [[nodiscard]] bool tell(wire::http2::Server& server, QuotaCall& call);

 private:
  [[nodiscard]] bool read(wire::http2::Server& server, QuotaCall& call, std::string_view message);
  // Looks which policy is in force.
  void refresh();
  [[nodiscard]] QuotaTerms terms_of(std::string_view domain, std::string_view id);
  [[nodiscard]] QuotaTerms query_terms();
  [[nodiscard]] QuotaTerms descriptor_terms(std::string_view domain);

  LoopContext& context_;
  const std::shared_ptr<Quotas> quotas_;
  std::uint64_t policy_ = 0;  // another number for another one
  std::string digest_;        // of the policy
  wire::rlqs::UsageReports reports_;
  std::vector<wire::rlqs::Entry> entries_;  // of a bucket
  std::vector<Header> headers_;             // of a query
  std::vector<match::DescriptorEntry> descriptor_;
  std::string id_;
};

}  // namespace weir::frontend
