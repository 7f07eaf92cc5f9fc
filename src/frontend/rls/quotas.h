// The quotas of the process: the buckets of all streams, and the limits that cover them. Shared by all loops and
// protected by one mutex.
//
// Memory is bounded. A bucket beyond the bounds is ignored: its Envoy behaves as it does without an assignment.
//
// Work is bounded too:
//
// 1. The mutex is locked for one bucket (O(log n) steps in each of its limits) or for one batch of background work:
//    `max_released` buckets of ended streams, `max_scanned` states.
// 2. collect() visits a bounded number of buckets and continues there the next time.
// 3. The numbers of a limit with many holders change at most once per `min_change_interval`, because a change
//    may visit all holders. Changes can be frequent: tiers that share a key have different numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/rls/quota_assigner.h"
#include "frontend/rls/quota_bucket.h"
#include "weir/cost.h"
#include "weir/time.h"

namespace weir::frontend {

// The terms of the policy for a bucket.
struct QuotaTerms {
  struct Limit {
    std::string state;  // identifies the limit and its consumer
    QuotaAssigner::Numbers numbers;
    Cost cost;

    friend bool operator==(const Limit&, const Limit&) = default;
  };

  bool admits = true;  // used if there are no limits
  std::vector<Limit> limits;

  friend bool operator==(const QuotaTerms&, const QuotaTerms&) = default;
};

class QuotaStream;

class Quotas {
 public:
  struct Bounds {
    std::size_t streams = 4'096;
    std::size_t buckets_of_stream = 16'384;
    std::size_t buckets = 65'536;
    std::size_t id_bytes = 1'024;  // maximum length of a bucket's id
    std::size_t states = 131'072;  // maximum number of limit states that are in use or not yet pristine again
  };
  struct Figures {
    std::uint64_t streams = 0;
    std::uint64_t buckets = 0;
    std::uint64_t states = 0;
    std::uint64_t assignments = 0;  // sent since startup, like the next three
    std::uint64_t renewals = 0;
    std::uint64_t refused = 0;  // reports of buckets beyond the bounds
    std::uint64_t changes = 0;  // changes to the numbers of limits
  };

  Quotas() = default;
  Quotas(const QuotaTimes& times, const Bounds& bounds) : times_(times), bounds_(bounds) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  static constexpr std::size_t max_released = 128;
  static constexpr std::size_t max_scanned = 64;
  static constexpr Duration min_change_interval = std::chrono::seconds(1);

  // Sets how many nodes serve this policy. Each assigns an equal share of every limit. Defaults to 1. Must be called
  // from one thread only.
  void set_nodes(std::uint64_t nodes, Instant now);

  // Returns null if there are too many streams. Streams must be destroyed before this object.
  [[nodiscard]] std::unique_ptr<QuotaStream> open();

  // Releases a batch of buckets of ended streams. Returns true if more remain.
  bool release_some();

  [[nodiscard]] Figures figures() const;

 private:
  friend class QuotaStream;

  struct State {
    std::string name;
    QuotaAssigner::Numbers whole;  // the numbers for all nodes together
    std::shared_ptr<QuotaAssigner> assigner;
    Instant changed_at{};
    bool is_postponed = false;  // true if the assigner has not received these numbers yet
  };
  using States = std::list<State>;
  struct Entry {
    QuotaTerms terms;
    std::unique_ptr<QuotaBucket> bucket;
    std::uint64_t matched_by = 0;  // QuotaStream::policy_
    bool is_reported = false;      // is in QuotaStream::reported_
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // These require the mutex to be locked.
  [[nodiscard]] QuotaAssigner::Numbers own_part(const QuotaAssigner::Numbers& whole) const noexcept;
  // Returns null if there are too many states.
  [[nodiscard]] std::shared_ptr<QuotaAssigner> assigner(const QuotaTerms::Limit& limit, Instant now);
  void renumber(States::iterator state, Instant now);
  void apply_numbers(State& state, Instant now);
  // Returns null if there are too many states.
  [[nodiscard]] std::unique_ptr<QuotaBucket> new_bucket(const QuotaTerms& terms, Instant now);
  // Does a batch of background work.
  void tidy(Instant now);
  void forget_unused(Instant now);
  void release_batch();

  const QuotaTimes times_{};
  const Bounds bounds_{};

  mutable std::mutex mutex_;
  std::uint64_t nodes_ = 1;
  bool is_changing_nodes_ = false;  // while true, no state is erased
  States states_;
  std::unordered_map<std::string_view, States::iterator> by_name_;
  States::iterator next_scanned_ = states_.end();  // end: no scan in progress
  Instant scan_started_at_;
  std::deque<States::iterator> postponed_;
  std::deque<Entries> ended_;  // buckets of ended streams
  Figures figures_;
};

// The buckets of one stream. Used on the thread of its loop only; the limits are shared.
class QuotaStream {
 public:
  ~QuotaStream();
  QuotaStream(const QuotaStream&) = delete;
  QuotaStream& operator=(const QuotaStream&) = delete;

  using TermsOf = std::function<QuotaTerms(std::string_view id)>;
  using Send = std::function<void(std::string_view id, const QuotaAction&)>;

  // Calls `terms_of` for a new bucket.
  void report(std::string_view id, std::uint64_t requests, const TermsOf& terms_of, Instant now);
  // Called after a policy change: each bucket is matched again at its next visit.
  void rematch() noexcept { ++policy_; }
  // Starts a round that visits every bucket once, unless one is in progress.
  void begin_round();
  // Visits the reported buckets, then those of the round, and calls `send` for each action that is due. The caller must
  // send it. Returns the unused part of `max_visits`.
  std::size_t collect(Instant now, const TermsOf& terms_of, const Send& send, std::size_t max_visits);
  // True if there are buckets to visit.
  [[nodiscard]] bool has_more() const noexcept { return !reported_.empty() || next_ != entries_.end(); }

 private:
  friend class Quotas;

  using Entry = Quotas::Entry;
  using Entries = Quotas::Entries;

  explicit QuotaStream(Quotas& quotas) noexcept : quotas_(quotas) {}
  // Returns end() if the bounds are exceeded.
  [[nodiscard]] Entries::iterator add(std::string_view id, const TermsOf& terms_of, Instant now);
  [[nodiscard]] Entries::iterator next_to_visit();
  void visit(Entries::iterator at, const TermsOf& terms_of, const Send& send, Instant now);
  void match(std::string_view id, Entry& entry, const TermsOf& terms_of, Instant now);

  Quotas& quotas_;
  Entries entries_;
  std::deque<Entries::iterator> reported_;
  Entries::iterator next_ = entries_.end();  // the next bucket of the round; end: no round in progress
  std::uint64_t policy_ = 0;
};

}  // namespace weir::frontend
