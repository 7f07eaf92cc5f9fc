// The descriptors of one request evaluated: their limits together, all or nothing, with what follows.
//
//   live limits -> shadow limits, what is charged all the same, what is given back
//
// Quota descriptors (`quota_mode`) stand for each other: those that are over are left out, and the request is over only
// if all of them are, or any other descriptor is.
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
             const AskOptions& options, Instant now);

  // False if the policy does not have the domain; then nothing is asked.
  [[nodiscard]] bool is_known_domain() const noexcept { return domain_ != nullptr; }
  // One for each descriptor.
  [[nodiscard]] std::span<const DescriptorStatus> statuses() const noexcept { return statuses_; }

 private:
  // A descriptor's match, beside its outcome and its asked limit.
  struct Matched {
    const policy::Descriptor* descriptor;
    core::Rule of_override;
    std::string text;  // of the consumer, as a shared store names it
    bool banned;       // nothing per unit: has no table, and is over for all but a look
  };
  struct Quotas {
    std::size_t count = 0;
    std::size_t full = 0;
    bool was_closed = false;  // the store being unavailable

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
  // Only grows, and is not cleared: clearing it for each request would cost more than to decide.
  std::vector<Matched> matched_;
  std::vector<DescriptorStatus> statuses_;
  std::string key_;
  Quotas quotas_;
  bool banned_ = false;  // by a descriptor with nothing per unit
};

}  // namespace weir::engine
