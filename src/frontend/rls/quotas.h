// The quotas of a process: which streams have which buckets, and which limits those fall under. One for all loops,
// behind one lock: reports are rare.
//
// What clients can make it keep is bounded. A bucket for which there is no room is not kept and not answered: its Envoy
// goes on as it does without an assignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
    std::uint64_t assignments = 0;  // that were told, since the start, as are the next two
    std::uint64_t renewals = 0;
    std::uint64_t refused = 0;  // reports of buckets for which there was no room
  };

  Quotas() = default;
  Quotas(const QuotaTimes& times, const Bounds& bounds) : times_(times), bounds_(bounds) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  // So many nodes serve the same policy: each assigns its even part of every limit. One, until it is told.
  void set_nodes(std::uint64_t nodes, Instant now);

  // Null if there are too many. Gone before this.
  [[nodiscard]] std::unique_ptr<QuotaStream> open();

  [[nodiscard]] Figures figures() const;

 private:
  friend class QuotaStream;

  struct State {
    QuotaAssigner::Numbers whole;  // of all nodes
    std::shared_ptr<QuotaAssigner> assigner;
  };

  // All under the lock.
  [[nodiscard]] QuotaAssigner::Numbers own_part(const QuotaAssigner::Numbers& whole) const noexcept;
  // Null if there is no room.
  [[nodiscard]] std::shared_ptr<QuotaAssigner> assigner(const QuotaTerms::Limit& limit, Instant now);
  // Null if there is no room.
  [[nodiscard]] std::unique_ptr<QuotaBucket> new_bucket(const QuotaTerms& terms, Instant now);
  void forget_unused(Instant now);

  const QuotaTimes times_{};
  const Bounds bounds_{};

  mutable std::mutex mutex_;
  std::uint64_t nodes_ = 1;
  std::unordered_map<std::string, State> states_;
  Instant looked_over_at_;
  Figures figures_;
};

// The buckets of one stream. All but the limits belongs to the thread of its loop.
class QuotaStream {
 public:
  ~QuotaStream();
  QuotaStream(const QuotaStream&) = delete;
  QuotaStream& operator=(const QuotaStream&) = delete;

  using TermsOf = std::function<QuotaTerms(std::string_view id)>;

  // `terms_of` is asked about a bucket that is new.
  void report(std::string_view id, std::uint64_t requests, const TermsOf& terms_of, Instant now);
  // After a change of the policy.
  void match_again(const TermsOf& terms_of, Instant now);
  // Calls say(id, action) for all that is to be said now. What it is called for is said.
  void collect(Instant now, const std::function<void(std::string_view, const QuotaAction&)>& say);

 private:
  friend class Quotas;

  struct Entry {
    QuotaTerms terms;
    std::unique_ptr<QuotaBucket> bucket;
  };

  explicit QuotaStream(Quotas& quotas) noexcept : quotas_(quotas) {}
  void change(Entry& entry, QuotaTerms terms, Instant now);

  Quotas& quotas_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace weir::frontend
