// Evaluates the descriptors of one request: their live limits together, all or nothing, then the followers.
//
//   live limits -> shadow limits, unconditional charges, refunds
//
// Quota descriptors (`quota_mode`) are alternatives: those over the limit are left out, and the request is over the
// limit only if all of them are, or any other descriptor is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule.h"
#include "engine/asked_limits.h"
#include "engine/evaluation.h"
#include "engine/followers.h"
#include "engine/verdict.h"
#include "match/descriptors.h"

namespace weir::engine {

class DescriptorsEvaluation final : public Evaluation {
 public:
  explicit DescriptorsEvaluation(EvaluationBatch& batch) noexcept : Evaluation(batch) {}

  void begin(const Bindings& bindings, std::string_view domain, std::span<const match::DescriptorQuery> asks,
             const EvaluationOptions& options, Instant now);

  // False if the policy does not have the domain. Then every status is unmatched.
  [[nodiscard]] bool is_known_domain() const noexcept { return domain_ != nullptr; }
  // One for each descriptor.
  [[nodiscard]] std::span<const DescriptorStatus> statuses() const noexcept { return statuses_; }

 private:
  // The match of one descriptor, with the same index as its outcome and its asked limit.
  struct Matched {
    const policy::Descriptor* descriptor;
    core::Rule of_override;
    std::string text;  // the consumer's name on a shared store
    bool banned;       // a limit of zero: it has no table, and denies everything except a peek
  };
  struct Quotas {
    std::size_t count = 0;
    std::size_t full = 0;
    bool was_closed = false;  // a quota was denied because the store is unavailable

    [[nodiscard]] bool are_full() const noexcept { return count > 0 && full == count; }
  };

  void match(std::size_t i, const match::DescriptorQuery& ask);
  void match_override(std::size_t i, const match::DescriptorQuery& ask);
  void match_configured(std::size_t i);
  void drop_replaced() noexcept;
  void begin_outcome(std::size_t i);
  void decide_banned(std::size_t i) noexcept;

  void ask_live();
  void read_live();
  [[nodiscard]] bool drop_full_quotas();
  void conclude(bool admits);
  [[nodiscard]] bool is_charged_unasked(std::size_t i, bool admits) const noexcept;
  void ask_followers(bool admits);
  void read_followers();
  void read_corrections();
  void finish();

  AskedLimits asked_{*this};
  Followers followers_{*this, asked_};
  const policy::Domain* domain_ = nullptr;
  // Only grows: clearing it for each request would cost more than a decision.
  std::vector<Matched> matched_;
  std::vector<DescriptorStatus> statuses_;
  std::string key_;
  Quotas quotas_;
  bool banned_ = false;  // denied by a descriptor with a limit of zero
};

}  // namespace weir::engine
