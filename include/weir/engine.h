// SPDX-License-Identifier: Apache-2.0
// The server's policy engine for your own program: load a policy, evaluate a query, read the verdict. All state is in
// this process's memory. The guide is docs/embedding.md.
//
//   const auto policy = weir::Policy::load("policy.yaml");
//   auto engine = weir::Engine::create(*policy);
//   const weir::Verdict verdict = engine->evaluate({.method = "GET", .path = "/api/items", .ip = "203.0.113.7"});
//
// Thread-safe: share one Engine among all threads that evaluate, reload and save. Evaluating threads do not wait for
// each other as long as there are no more of them than processors; a reload and the calls in progress wait for each
// other. Destroying or moving an Engine requires that no other thread uses it.
//
// Nothing here throws, prints, aborts or reads the environment. A denial is a Verdict, never an Error. evaluate()
// allocates nothing in the steady state; when out of memory, the verdict is a denial (Reason::no_memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/header.h"
#include "weir/policy.h"
#include "weir/query.h"
#include "weir/receipt.h"
#include "weir/result.h"
#include "weir/time.h"
#include "weir/verdict.h"

namespace weir {

class Engine {
 public:
  struct Options {
    // Bytes for the states of all consumers. Consumers beyond it share overflow states: a flood of new keys neither
    // evicts a known consumer nor bypasses the limits.
    std::size_t memory_budget = std::size_t{256} << 20;
    std::shared_ptr<const Clock> clock = nullptr;  // null: WallClock
  };

  static Result<Engine> create(const Policy& policy);
  static Result<Engine> create(const Policy& policy, Options options);

  // Creates an engine with the states that save() wrote to a directory. A damaged or foreign file is reported, and its
  // limit starts empty.
  struct Restored;
  static Result<Restored> restore(const Policy& policy, const std::filesystem::path& directory, Options options);

  // Writes all states and open receipts to files of mode 0600, since they contain the hash key. Evaluation continues.
  Result<void> save(const std::filesystem::path& directory);

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Replaces the policy. New numbers apply to existing usage; states that the new policy does not have are dropped. On
  // an error the current policy stays active.
  Result<void> reload(const Policy& policy);

  // Admits the request and charges every limit that covers it, or denies it and charges none.
  Verdict evaluate(const Query& query);

  // Evaluates as many queries as both spans hold. The result is the same as evaluating each in order at one instant,
  // but this is faster.
  void evaluate(std::span<const Query> queries, std::span<Verdict> verdicts);

  // Returns an error if the limit is unknown or the text does not match its key.
  Result<Verdict> evaluate_limit(const LimitQuery& query);

  // Evaluates all descriptors of one request, like Envoy's rate limit service. Unknown descriptors are not limited.
  Verdict evaluate_descriptors(std::string_view domain, std::span<const Descriptor> descriptors);

  // Returned by reserve() and hold(); identifies the charges. Valid for the engine that issued it, across reloads, and
  // for an engine restored from its states. Copies are the same receipt: the first settle wins.
  class Receipt {
   public:
    Receipt() noexcept = default;  // empty
    [[nodiscard]] explicit operator bool() const noexcept { return !bytes_.empty(); }
    friend bool operator==(const Receipt&, const Receipt&) = default;

   private:
    friend class Engine;
    std::string bytes_;
  };

  struct [[nodiscard]] Reservation {
    Verdict verdict{};
    Receipt receipt{};                    // empty if denied, or if no charge can be corrected
    std::optional<Instant> ends{};        // when the first of the limits' receipts expires; the charge stays
    std::vector<std::string> not_kept{};  // limits charged without a receipt because too many are open

    [[nodiscard]] explicit operator bool() const noexcept { return verdict.admitted; }
  };

  // Like evaluate(), but the charge can be corrected until the receipt expires, `lasts` from now (zero: the limits'
  // own lifetime). Repeating a reserve with an `id` that is open charges nothing and returns the same receipt.
  Reservation reserve(const Query& query, Duration lasts = Duration::zero(), std::string_view id = {});

  // Like evaluate(), but concurrency limits hold their units until the receipt is released. Other limits are charged
  // permanently. Without a concurrency limit there is no receipt.
  Reservation hold(const Query& query);

  // The result of a receipt operation or a report for one limit.
  struct LimitResult {
    std::string limit{};                         // empty: the policy no longer has the limit, nothing was done
    ReceiptResult result = ReceiptResult::none;  // `ended`: the receipt was not open, nothing changed
    Decision decision{};                         // the current state of the limit
    std::uint64_t lost = 0;                      // units that did not fit even into a debt of one capacity
    Instant ends{};                              // extend: when the receipt expires
  };
  struct Settlement {
    std::vector<LimitResult> limits{};

    // True if the operation was performed for all limits.
    [[nodiscard]] explicit operator bool() const noexcept;
  };

  // Closes the receipt and corrects the charge to the actual cost, for each limit whose cost the caller set. Repeating
  // a settle changes nothing. Never denied: a higher cost is charged, into a debt of at most one capacity.
  Settlement settle(const Receipt& receipt, Cost actual);
  // Gives back all of the charge that still counts.
  Settlement release(const Receipt& receipt);
  // Sets the receipt to expire `lasts` from now, but never earlier than before.
  Settlement extend(const Receipt& receipt, Duration lasts = Duration::zero());
  // Charges past usage. Never denied. Reports with the same `id` count once per hour.
  Settlement report(const Query& query, std::string_view id = {});

  // Resets what a limit has counted for a consumer, in the text form of LimitQuery.
  Result<void> reset(std::string_view limit, std::string_view consumer);

  // Counts since the start, across reloads, for each limit and route with activity.
  struct Counts {
    std::string limit;
    std::string route;
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;
    std::uint64_t blocked = 0;      // denied by a penalty
    std::uint64_t warned = 0;       // admitted with a warning
    std::uint64_t uncharged = 0;    // would have admitted, but another limit denied the request
    std::uint64_t would_deny = 0;   // for a limit in `mode: shadow`
    std::uint64_t without_key = 0;  // skipped: the request has no key
    std::uint64_t shared_key = 0;   // requests without a key that share one counter; included in the other counts
    std::uint64_t unlimited = 0;    // requests of a tier without a limit
    std::uint64_t candidate_agrees = 0;
    std::uint64_t candidate_newly_denied = 0;
    std::uint64_t candidate_newly_admitted = 0;
  };
  [[nodiscard]] std::vector<Counts> counts() const;

  struct Usage {
    std::size_t bytes = 0;         // used bytes of the memory budget
    std::uint64_t overflowed = 0;  // decisions on a shared overflow state, for lack of memory
  };
  [[nodiscard]] Usage usage() const;

 private:
  struct Body;
  explicit Engine(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

struct Engine::Restored {
  Engine engine;
  std::vector<Error> problems;  // files that could not be restored
};

}  // namespace weir
