// Decides what to send to one Envoy about one of its buckets: its share of every limit that covers the bucket, and when
// to renew it. Time is passed in. Not thread-safe, because the assigners are shared.
//
// 1. An assignment changes only if its rate changes by a tenth or more, or if its burst at least doubles.
//    Every change is a new, full bucket in Envoy, and its burst is taken from the pool of each limit.
// 2. A rate is raised only by what other holders have given up. Their assignments are lowered first, and the old ones
//    count until they expire.
// 3. An assignment is renewed only while it is certainly active in Envoy, with the same numbers.
//    A later renewal would create a new bucket.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "frontend/rls/quota_assigner.h"
#include "weir/cost.h"
#include "weir/time.h"

namespace weir::frontend {

// An action for a bucket.
struct QuotaAction {
  enum class Kind : std::uint8_t { allow_all, deny_all, token_bucket, abandon };

  Kind kind = Kind::allow_all;
  std::uint32_t max_tokens = 0;  // set for a token bucket, like the next two
  std::uint32_t tokens_per_fill = 0;
  std::chrono::seconds fill_interval{};
  std::chrono::seconds time_to_live{};
  bool is_new = true;  // false: renews the last action

  friend bool operator==(const QuotaAction&, const QuotaAction&) = default;
};

struct QuotaTimes {
  // A response reaches all threads of its Envoy within this time, or never.
  Duration delivery = std::chrono::seconds(1);
  // The time to live of assignments is one second less than the report interval, within these bounds. So the share
  // taken from one Envoy at a report is available to another at the next.
  std::chrono::seconds min_ttl{2};
  std::chrono::seconds max_ttl{30};
  // A bucket without requests for this long is abandoned.
  Duration idle = std::chrono::seconds(60);
  // A bucket without reports is abandoned after three report intervals, within these bounds.
  Duration min_silence = std::chrono::seconds(10);
  Duration max_silence = std::chrono::seconds(120);
};

class QuotaBucket {
 public:
  // A limit that covers the bucket.
  struct Part {
    std::shared_ptr<QuotaAssigner> assigner;
    Cost cost;  // per request; not zero
  };

  // Creates a bucket that no limit covers.
  QuotaBucket(bool admits, const QuotaTimes& times, Instant now);
  // `parts` must not be empty.
  QuotaBucket(std::span<const Part> parts, const QuotaTimes& times, Instant now);
  // The assignments of a destroyed bucket count until they expire.
  ~QuotaBucket();
  QuotaBucket(const QuotaBucket&) = delete;
  QuotaBucket& operator=(const QuotaBucket&) = delete;

  // `requests` is the number since the last report, admitted or not.
  void report(std::uint64_t requests, Instant now);

  // Returns the action to send now, if any; the caller must send it. `abandon` is the last one.
  [[nodiscard]] std::optional<QuotaAction> next(Instant now);

 private:
  struct OwnPart {
    std::shared_ptr<QuotaAssigner> assigner;
    QuotaAssigner::Holder holder;
    std::uint64_t cost;
  };
  // A token bucket in Envoy, counted in requests.
  struct Tokens {
    std::uint64_t burst = 0;
    std::uint64_t per_fill = 0;
    std::chrono::seconds fill{1};

    [[nodiscard]] bool is_empty() const noexcept { return burst == 0 || per_fill == 0; }
    // True if its rate is at least this many tenths of the other's.
    [[nodiscard]] bool is_at_least(unsigned tenths, const Tokens& other) const noexcept;
  };

  [[nodiscard]] static Tokens tokens_of(const OwnPart& part, const QuotaAssigner::Share& share) noexcept;
  [[nodiscard]] static QuotaAssigner::Share share_of(const OwnPart& part, const Tokens& tokens) noexcept;
  // Returns the minimum of the shares of all limits.
  template <class ShareOf>
  [[nodiscard]] Tokens min_over_parts(const ShareOf& share_of) const;
  [[nodiscard]] std::optional<QuotaAction> next_assignment(Instant now);
  // True if the last action must be renewed.
  [[nodiscard]] bool is_renewal_due(Instant now) const noexcept;
  [[nodiscard]] bool is_abandoned(Instant now) const noexcept;
  [[nodiscard]] Tokens fair() const;
  [[nodiscard]] Tokens current() const noexcept;  // requires an active assignment
  // True if a policy change requires a smaller assignment, regardless of its cost.
  [[nodiscard]] bool is_excessive() const;
  // True if the change is large enough to justify its cost.
  [[nodiscard]] bool is_worthwhile(const Tokens& offered) const;
  [[nodiscard]] QuotaAction assign(const Tokens& tokens, Instant now);
  [[nodiscard]] QuotaAction record_sent(QuotaAction action, Instant now);
  [[nodiscard]] std::chrono::seconds time_to_live() const noexcept;

  const QuotaTimes times_;
  const bool admits_;
  std::vector<OwnPart> parts_;

  Instant reported_at_;
  Instant used_at_;
  Instant counted_from_;
  std::uint64_t counted_ = 0;
  bool is_counting_ = false;          // true after the first report
  std::optional<Duration> interval_;  // between two reports

  std::optional<QuotaAction> sent_;
  Instant sent_at_;
};

}  // namespace weir::frontend
