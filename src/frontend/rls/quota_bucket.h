// What one Envoy is told about one of its buckets: its part of every limit that the bucket falls under, and when that
// is to be said again. Pure: time is passed in. Not thread-safe: the assigners are shared.
//
// 1. An assignment is changed only for a tenth of its rate or more, or if its burst at least doubles. Every change is a
//    new, full bucket in Envoy, and is taken out of the pool of each limit.
// 2. A rate is raised only by what the others have let go: they are told first, and what they had counts until it has
//    ended.
// 3. An assignment is said again only while the last one is certainly in force, with the same numbers. Later it would
//    be a new one.
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

// Said about a bucket.
struct QuotaAction {
  enum class Kind : std::uint8_t { allow_all, deny_all, token_bucket, abandon };

  Kind kind = Kind::allow_all;
  std::uint32_t max_tokens = 0;  // of a token bucket, as are the next two
  std::uint32_t tokens_per_fill = 0;
  std::chrono::seconds fill_interval{};
  std::chrono::seconds time_to_live{};
  bool is_new = true;  // and not the last one again

  friend bool operator==(const QuotaAction&, const QuotaAction&) = default;
};

struct QuotaTimes {
  // An answer has reached all threads of its Envoy within this time, or never does.
  Duration delivery = std::chrono::seconds(1);
  // Of assignments: a second less than the time between two reports, within these bounds. So what is taken from one
  // Envoy at a report is free for another at the next.
  std::chrono::seconds min_ttl{2};
  std::chrono::seconds max_ttl{30};
  // A bucket without requests for so long is abandoned.
  Duration idle = std::chrono::seconds(60);
  // A bucket of which nothing is reported is abandoned after three times its usual time, within these.
  Duration min_silence = std::chrono::seconds(10);
  Duration max_silence = std::chrono::seconds(120);
};

class QuotaBucket {
 public:
  // Of a limit that the bucket falls under.
  struct Part {
    std::shared_ptr<QuotaAssigner> assigner;
    Cost cost;  // of each request; not zero
  };

  // Under no limit; `admits` as the policy says.
  QuotaBucket(bool admits, const QuotaTimes& times, Instant now);
  // Under at least one.
  QuotaBucket(std::span<const Part> parts, const QuotaTimes& times, Instant now);
  // What it holds counts until it is over.
  ~QuotaBucket();
  QuotaBucket(const QuotaBucket&) = delete;
  QuotaBucket& operator=(const QuotaBucket&) = delete;

  // So many requests since the last one, admitted or not.
  void report(std::uint64_t requests, Instant now);

  // What is to be said now, and then is said; none: nothing. Nothing more is to be said after `abandon`.
  [[nodiscard]] std::optional<QuotaAction> next(Instant now);

 private:
  struct OwnPart {
    std::shared_ptr<QuotaAssigner> assigner;
    QuotaAssigner::Holder holder;
    std::uint64_t cost;
  };
  // As Envoy has it: in requests.
  struct Tokens {
    std::uint64_t burst = 0;
    std::uint64_t per_fill = 0;
    std::chrono::seconds fill{1};

    [[nodiscard]] bool is_nothing() const noexcept { return burst == 0 || per_fill == 0; }
    // Whether its rate is at least so many tenths of the other one's.
    [[nodiscard]] bool is_at_least(unsigned tenths, const Tokens& other) const noexcept;
  };

  [[nodiscard]] static Tokens tokens_of(const OwnPart& part, const QuotaAssigner::Share& share) noexcept;
  [[nodiscard]] static QuotaAssigner::Share share_of(const OwnPart& part, const Tokens& tokens) noexcept;
  // Of what each limit gives.
  template <class ShareOf>
  [[nodiscard]] Tokens least(const ShareOf& share_of) const;
  [[nodiscard]] std::optional<QuotaAction> next_assignment(Instant now);
  // Whether it is time to say the same again.
  [[nodiscard]] bool is_due(Instant now) const noexcept;
  [[nodiscard]] bool is_forgotten(Instant now) const noexcept;
  [[nodiscard]] Tokens fair() const;
  [[nodiscard]] Tokens has() const noexcept;  // of an assignment in force
  // The policy was changed: this is due, whatever it costs.
  [[nodiscard]] bool has_too_much() const;
  // Every change costs: whether this one is large enough.
  [[nodiscard]] bool is_worth_it(const Tokens& offered) const;
  [[nodiscard]] QuotaAction assign(const Tokens& tokens, Instant now);
  [[nodiscard]] QuotaAction say(QuotaAction action, Instant now);
  [[nodiscard]] std::chrono::seconds time_to_live() const noexcept;

  const QuotaTimes times_;
  const bool admits_;
  std::vector<OwnPart> parts_;

  Instant heard_at_;
  Instant used_at_;
  Instant counted_from_;
  std::uint64_t counted_ = 0;
  bool has_begun_ = false;            // the first report has come: from now on they are counted
  std::optional<Duration> interval_;  // between two reports

  std::optional<QuotaAction> said_;
  Instant said_at_;
};

}  // namespace weir::frontend
