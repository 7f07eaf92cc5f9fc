// The quotas of a process: which streams have which buckets, and which limits those fall under. One for all loops,
// behind one lock.
//
// What clients can make it keep is bounded. A bucket for which there is no room is not kept and not answered: its Envoy
// goes on as it does without an assignment.
//
// What clients can make it do at once is bounded, too:
//
// 1. The lock is held for one bucket (O(log n) steps in each of its limits), or for one batch of the work that nobody
//    waits for: `max_released` buckets of streams that have ended, `max_looked_at` states.
// 2. A call of collect() visits as many buckets as it is allowed, and goes on there the next time.
// 3. The numbers of a limit with many holders change at most once in `between_changes`, however often its buckets bring
//    others (tiers that share a key): a change may visit all holders.
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

// What the policy has for a bucket.
struct QuotaTerms {
  struct Limit {
    std::string state;  // names the limit and its consumer
    QuotaAssigner::Numbers numbers;
    Cost cost;

    friend bool operator==(const Limit&, const Limit&) = default;
  };

  bool admits = true;  // where there are no limits
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
    std::size_t id_bytes = 1'024;  // of one bucket
    std::size_t states = 131'072;  // of limits: those that are held, and those that are not as new yet
  };
  struct Figures {
    std::uint64_t streams = 0;
    std::uint64_t buckets = 0;
    std::uint64_t states = 0;
    std::uint64_t assignments = 0;  // that were told, since the start, as are the next three
    std::uint64_t renewals = 0;
    std::uint64_t refused = 0;  // reports of buckets for which there was no room
    std::uint64_t changes = 0;  // of the numbers of limits
  };

  Quotas() = default;
  Quotas(const QuotaTimes& times, const Bounds& bounds) : times_(times), bounds_(bounds) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  static constexpr std::size_t max_released = 128;
  static constexpr std::size_t max_looked_at = 64;
  static constexpr Duration between_changes = std::chrono::seconds(1);

  // Sets how many nodes serve the same policy; each assigns an equal part of every limit. The default is 1. Called from
  // one thread.
  void set_nodes(std::uint64_t nodes, Instant now);

  // Null if there are too many. Gone before this.
  [[nodiscard]] std::unique_ptr<QuotaStream> open();

  // Releases some buckets of streams that have ended. True: there are more.
  bool release_some();

  [[nodiscard]] Figures figures() const;

 private:
  friend class QuotaStream;

  struct State {
    std::string name;
    QuotaAssigner::Numbers whole;  // of all nodes
    std::shared_ptr<QuotaAssigner> assigner;
    Instant changed_at{};
    bool is_postponed = false;  // the assigner does not have these numbers yet
  };
  using States = std::list<State>;
  struct Entry {
    QuotaTerms terms;
    std::unique_ptr<QuotaBucket> bucket;
    std::uint64_t matched_by = 0;  // QuotaStream::policy_
    bool is_reported = false;      // in QuotaStream::reported_
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // All under the lock.
  [[nodiscard]] QuotaAssigner::Numbers own_part(const QuotaAssigner::Numbers& whole) const noexcept;
  // Null if there is no room.
  [[nodiscard]] std::shared_ptr<QuotaAssigner> assigner(const QuotaTerms::Limit& limit, Instant now);
  void renumber(States::iterator state, Instant now);
  void apply_numbers(State& state, Instant now);
  // Null if there is no room.
  [[nodiscard]] std::unique_ptr<QuotaBucket> new_bucket(const QuotaTerms& terms, Instant now);
  // A batch of what nobody waits for.
  void tidy(Instant now);
  void forget_unused(Instant now);
  void release_batch();

  const QuotaTimes times_{};
  const Bounds bounds_{};

  mutable std::mutex mutex_;
  std::uint64_t nodes_ = 1;
  bool is_changing_nodes_ = false;  // no state is erased meanwhile
  States states_;
  std::unordered_map<std::string_view, States::iterator> by_name_;
  States::iterator looked_at_ = states_.end();  // end: no round is under way
  Instant round_begun_at_;
  std::deque<States::iterator> postponed_;
  std::deque<Entries> left_;  // of streams that have ended
  Figures figures_;
};

// The buckets of one stream. All but the limits belongs to the thread of its loop.
class QuotaStream {
 public:
  ~QuotaStream();
  QuotaStream(const QuotaStream&) = delete;
  QuotaStream& operator=(const QuotaStream&) = delete;

  using TermsOf = std::function<QuotaTerms(std::string_view id)>;
  using Say = std::function<void(std::string_view id, const QuotaAction&)>;

  // `terms_of` is asked about a bucket that is new.
  void report(std::string_view id, std::uint64_t requests, const TermsOf& terms_of, Instant now);
  // After a change of the policy: each bucket is matched again when it is next visited.
  void match_again() noexcept { ++policy_; }
  // All buckets are to be visited once, unless such a round is under way.
  void begin_round();
  // Visits buckets, first those that were reported, then those of the round, and calls `say` for what is to be said
  // now. What it is called for is said. Returns how many of `max_visits` are not used.
  std::size_t collect(Instant now, const TermsOf& terms_of, const Say& say, std::size_t max_visits);
  // There are buckets to visit.
  [[nodiscard]] bool has_more() const noexcept { return !reported_.empty() || next_ != entries_.end(); }

 private:
  friend class Quotas;

  using Entry = Quotas::Entry;
  using Entries = Quotas::Entries;

  explicit QuotaStream(Quotas& quotas) noexcept : quotas_(quotas) {}
  // The end if there is no room.
  [[nodiscard]] Entries::iterator add(std::string_view id, const TermsOf& terms_of, Instant now);
  [[nodiscard]] Entries::iterator next_to_visit();
  void visit(Entries::iterator at, const TermsOf& terms_of, const Say& say, Instant now);
  void match(std::string_view id, Entry& entry, const TermsOf& terms_of, Instant now);

  Quotas& quotas_;
  Entries entries_;
  std::deque<Entries::iterator> reported_;
  Entries::iterator next_ = entries_.end();  // of the round; end: none is under way
  std::uint64_t policy_ = 0;
};

}  // namespace weir::frontend
