// The policy engine of the server in a program of your own: load a policy, evaluate a query, read the verdict. In this
// process, with the states in its memory. docs/embedding.md is the guide.
//
//   const auto policy = weir::Policy::load("policy.yaml");
//   auto engine = weir::Engine::create(*policy);
//   const weir::Verdict verdict = engine->evaluate({.method = "GET", .path = "/api/items", .ip = "203.0.113.7"});
//
// Callable from any thread, without a lock of the caller's: one Engine is shared by all threads that evaluate, reload
// and save. Threads do not wait for each other while there are no more of them than processors; a reload waits for the
// calls in hand, and they for it. Only the end of the Engine, and a move from it, are for one thread, when the others
// are done.
//
// Nothing here throws, prints, aborts or reads the environment. A denial is a Verdict, never an Error. To evaluate
// allocates nothing in the steady state; where memory is out, the verdict is a denial (Reason::no_memory).
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
    // Bytes for the states of all consumers. Consumers beyond it share overflow states: a flood of fresh keys neither
    // evicts a known consumer nor goes unlimited.
    std::size_t memory_budget = std::size_t{256} << 20;
    std::shared_ptr<const Clock> clock = nullptr;  // null: the time of day (WallClock)
  };

  static Result<Engine> create(const Policy& policy);
  static Result<Engine> create(const Policy& policy, Options options);

  // With the states that save() left in a directory. A file that is damaged or foreign is told, and its limit begins
  // with no states.
  struct Restored;
  static Result<Restored> restore(const Policy& policy, const std::filesystem::path& directory, Options options);

  // All states and open receipts, in files of mode 0600: they hold the key of the hashes. Judging goes on meanwhile.
  Result<void> save(const std::filesystem::path& directory);

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Another policy from now on. New numbers apply to the usage as it stands; what the new policy no longer has is
  // forgotten. On an error the policy in force stays.
  Result<void> reload(const Policy& policy);

  // Admits and charges every limit that covers the request, or denies and charges none.
  Verdict evaluate(const Query& query);

  // The same as evaluating each in order, at one instant, quicker for many. Judges as many as both spans hold.
  void evaluate(std::span<const Query> queries, std::span<Verdict> verdicts);

  // An error if the policy has no such limit, or the words fit no consumer of it.
  Result<Verdict> evaluate_limit(const LimitQuery& query);

  // All descriptors of one request together, as Envoy's rate limit service has it. What the domain does not have is
  // not limited.
  Verdict evaluate_descriptors(std::string_view domain, std::span<const Descriptor> descriptors);

  // What reserve() and hold() give: which charges are meant. Good for the engine that gave it, over reloads, and for
  // one that was restored from that one's states. Copies are the same receipt: whichever is settled first counts.
  class Receipt {
   public:
    Receipt() noexcept = default;  // none
    [[nodiscard]] explicit operator bool() const noexcept { return !bytes_.empty(); }
    friend bool operator==(const Receipt&, const Receipt&) = default;

   private:
    friend class Engine;
    std::string bytes_;
  };

  struct [[nodiscard]] Reservation {
    Verdict verdict{};
    Receipt receipt{};                    // none, if it is denied or nothing was charged that can be corrected
    std::optional<Instant> ends{};        // when the receipt does, the first of its limits counted; the charge stays
    std::vector<std::string> not_kept{};  // limits that were charged without a receipt, because too many are open

    [[nodiscard]] explicit operator bool() const noexcept { return verdict.admitted; }
  };

  // As evaluate(), and what was charged can be corrected until the receipt ends: after `lasts`, or if that is zero, as
  // the limits say. A reserve under an `id` that is open is the same one: it charges nothing, and gives the same
  // receipt.
  Reservation reserve(const Query& query, Duration lasts = Duration::zero(), std::string_view id = {});

  // As evaluate(), and limits on what runs at once hold their place until the receipt is released. Other limits are
  // charged for good. Without such a limit there is no receipt.
  Reservation hold(const Query& query);

  // What came of a receipt, or of a report, for each limit.
  struct LimitResult {
    std::string limit{};                         // empty: the policy has it no more, and nothing was done
    ReceiptResult result = ReceiptResult::none;  // `ended`: nothing was open under the receipt. Nothing changed
    Decision decision{};                         // how the limit stands now
    std::uint64_t lost = 0;                      // what even a debt of one capacity had no room for
    Instant ends{};                              // of an extension: when the receipt ends
  };
  struct Settlement {
    std::vector<LimitResult> limits{};

    // Whether it was done for all of them.
    [[nodiscard]] explicit operator bool() const noexcept;
  };

  // Corrects what was reserved to what it turned out to cost, where the cost was the caller's, and ends the receipt.
  // Once: a settle that is repeated changes nothing. Never denied: what is more is charged, into a debt of at most one
  // capacity.
  Settlement settle(const Receipt& receipt, Cost actual);
  // All of it is given back that still counts.
  Settlement release(const Receipt& receipt);
  // The receipt ends so long from now, and never earlier than it did.
  Settlement extend(const Receipt& receipt, Duration lasts = Duration::zero());
  // Charges what was used already. Never denied. Under an `id` it counts once in an hour.
  Settlement report(const Query& query, std::string_view id = {});

  // Forgets what a limit has counted for a consumer, in words as LimitQuery has them.
  Result<void> reset(std::string_view limit, std::string_view consumer);

  // What happened since the start, over reloads: for each limit and route that something happened to.
  struct Counts {
    std::string limit;
    std::string route;
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;
    std::uint64_t blocked = 0;      // denied by a penalty
    std::uint64_t warned = 0;       // admitted with a warning
    std::uint64_t uncharged = 0;    // would have admitted, but another limit denied
    std::uint64_t would_deny = 0;   // of a limit in `mode: shadow`
    std::uint64_t without_key = 0;  // not asked, the request having no key
    std::uint64_t shared_key = 0;   // of `admitted` and the others: all requests without a key share a counter
    std::uint64_t unlimited = 0;    // of a tier without a limit
    std::uint64_t candidate_agrees = 0;
    std::uint64_t candidate_newly_denied = 0;
    std::uint64_t candidate_newly_admitted = 0;
  };
  [[nodiscard]] std::vector<Counts> counts() const;

  struct Usage {
    std::size_t bytes = 0;         // of the memory budget
    std::uint64_t overflowed = 0;  // decisions on a shared state, for want of room
  };
  [[nodiscard]] Usage usage() const;

 private:
  struct Body;
  explicit Engine(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

struct Engine::Restored {
  Engine engine;
  std::vector<Error> problems;  // files that could not be taken
};

}  // namespace weir
