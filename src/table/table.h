// Key -> state in memory, for one limit: compact, bounded, concurrent. Callable from any thread.
//
// A key costs 16 bytes plus the slack of an open table (at most 23 in total at scale, while the budget allows) if the
// state is one time with a small remainder or count; otherwise 32 plus the slack; a log adds 16 bytes and 12 per entry
// of its limit. The key itself is not stored, only a keyed hash: with 50 million live keys the probability that any two
// share a state is about 1 in 15,000. A state that can be forgotten is free space.
//
// The rule is passed to each call, because numbers may change under a state (a tier, a reload). All rules of one table
// have the same algorithm and window, and states that fit the table's layout: see holds().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/operations.h"
#include "core/receipts.h"
#include "core/rule.h"
#include "table/cells.h"
#include "table/hash_key.h"
#include "table/keyed_hash.h"
#include "table/memory.h"
#include "table/packing.h"
#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/request.h"
#include "weir/result.h"

namespace weir::table {

class ReceiptTable;

// A request with a key that is already hashed. `max_wait` is how long the caller can wait for its turn (queues only).
struct HashedRequest {
  KeyHash key;
  Cost cost{1};
  Duration max_wait = Duration::max();
  bool wants_more_after = false;
};

class Table {
 public:
  static constexpr unsigned overflow_states = 4096;

  // `widest` is the rule with the largest numbers that the table will see. The processor must support the hash.
  static Result<std::unique_ptr<Table>> create(const core::Rule& widest, std::size_t budget_bytes, HashKey hash_key);
  // Creates a table on a shared budget.
  static Result<std::unique_ptr<Table>> create(const core::Rule& widest, std::shared_ptr<Budget> budget,
                                               HashKey hash_key);

  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] KeyHash hash(std::string_view key) const noexcept { return {keyed_hash_(key)}; }

  // True if this table can store states of `rule`: the same algorithm, and numbers that fit.
  [[nodiscard]] bool holds(const core::Rule& rule) const noexcept;

  Decision decide(const core::Rule& rule, const HashedRequest& request, Instant now) noexcept;
  [[nodiscard]] Decision peek(const core::Rule& rule, const HashedRequest& request, Instant now) noexcept;

  // Functions from a key to its answer, for repeated calls with one rule: the dispatch is done once. An Answer is a
  // Decision, or a bool for callers that only need to know whether it is admitted.
  template <class Answer>
  struct DecideFunctions {
    Answer (*one)(Table&, const core::Rule&, std::string_view key, Cost cost, Instant now) noexcept;
    // Decides at most `max_batch_size` requests. The result is the same as deciding each in order, but memory latencies
    // overlap.
    void (*several)(Table&, const core::Rule&, std::span<const Request>, Instant now, Answer*) noexcept;
  };
  static constexpr std::size_t max_batch_size = 32;
  template <class Answer>
  [[nodiscard]] DecideFunctions<Answer> decide_functions(const core::Rule& rule) noexcept;

  // Prefetches the key's bucket.
  void prefetch(KeyHash key) const noexcept {
    if (narrow_) return narrow_->prefetch(key);
    if (wide_) return wide_->prefetch(key);
    log_->prefetch(key);
  }

  void refund(const core::Rule& rule, KeyHash key, Cost cost, const core::Charged& charged, Instant now) noexcept;
  void settle(const core::Rule& rule, KeyHash key, const core::Settlement& settlement, Instant now) noexcept;
  // Operate on the receipts of the key's state. Each stores its result in `use` and returns what a look at a cost of
  // zero would return.
  Decision settle(const core::Rule& rule, KeyHash key, core::ReceiptUse& use, Instant now) noexcept;
  Decision extend(const core::Rule& rule, KeyHash key, core::ReceiptUse& use, Instant now) noexcept;
  Decision report(const core::Rule& rule, KeyHash key, Cost cost, core::ReceiptUse& use, Instant now) noexcept;
  // Returns what a reserve on a concurrency limit would return.
  [[nodiscard]] Decision peek_holds(const core::Rule& rule, const HashedRequest& request, const core::ReceiptUse& use,
                                    Instant now) noexcept;
  [[nodiscard]] bool has_open(const core::Rule& rule, KeyHash key, core::ReceiptId id, Instant now) noexcept;
  // The open receipts of a state.
  [[nodiscard]] std::vector<core::Receipt> open_receipts(const core::Rule& rule, KeyHash key, Instant now);
  [[nodiscard]] ReceiptTable& receipts() noexcept { return *receipts_; }

  // Returns false, and changes nothing, if the key shares an overflow state with others.
  bool reset(const core::Rule& rule, KeyHash key, Instant now) noexcept;
  // Adapts bucket states to new numbers: no state stays further ahead than the time to fill of `rule`, which must be
  // the slowest of the new rules. No decision may still use the old numbers.
  void carry_over(const core::Rule& rule, const Clock& clock);
  // Charges as much as fits to a key with its own state; nothing if it shares an overflow state.
  void add_usage(const core::Rule& rule, KeyHash key, Cost cost, Instant now) noexcept;
  // Forgets the key and returns what it had used and not yet regained, so that it can be counted elsewhere. Zero for a
  // key that shares an overflow state.
  [[nodiscard]] std::uint64_t take_usage(const core::Rule& rule, KeyHash key, Instant now) noexcept;

  [[nodiscard]] std::size_t bytes_used() const noexcept { return budget_->used(); }
  [[nodiscard]] std::size_t budget() const noexcept { return budget_->total(); }
  // The number of keys with a live state, estimated from a sample: a few percent off in a large table.
  [[nodiscard]] std::uint64_t estimated_entries(Instant now) const noexcept;
  [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_.load(std::memory_order_relaxed); }
  [[nodiscard]] const HashKey& hash_key() const noexcept { return keyed_hash_.key(); }
  [[nodiscard]] const KeyedHash& keyed_hash() const noexcept { return keyed_hash_; }

  // Calls work(algorithm tag, cells, limit) with the types that `rule` has in this table.
  template <class Work>
  decltype(auto) with(const core::Rule& rule, Work&& work) {
    return core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) -> decltype(auto) {
      if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
        return work(of, *log_);
      } else {
        if constexpr (may_be_narrow<A>) {
          if (narrow_) return work(of, *narrow_);
        }
        return work(of, *wide_);
      }
    });
  }

  template <class Payload>
  [[nodiscard]] Cells<Payload>& cells() noexcept {
    if constexpr (std::is_same_v<Payload, NarrowPayload>) {
      return *narrow_;
    } else if constexpr (std::is_same_v<Payload, WidePayload>) {
      return *wide_;
    } else {
      return *log_;
    }
  }

  void count_overflow() noexcept { overflowed_.fetch_add(1, std::memory_order_relaxed); }

  // `bytes` is at most the budget at creation. States beyond a smaller budget stay.
  void resize_budget(std::size_t bytes) noexcept { budget_->resize(bytes); }

 private:
  Table(std::shared_ptr<Budget> budget, HashKey hash_key);

  // Calls work<A>(limit, state, owner) under the lock of the key's cell; it returns whether it has changed the state.
  template <class Work>
  Decision with_receipts(const core::Rule& rule, const HashedRequest& request, const core::ReceiptUse* use, Instant now,
                         Work&& work) noexcept;

  const KeyedHash keyed_hash_;
  const std::shared_ptr<Budget> budget_;
  std::atomic<std::uint64_t> overflowed_{0};

  // Exactly one of these is set.
  std::unique_ptr<Cells<NarrowPayload>> narrow_;
  std::unique_ptr<Cells<WidePayload>> wide_;
  std::unique_ptr<Cells<LogPayload>> log_;

  const std::unique_ptr<ReceiptTable> receipts_;
};

}  // namespace weir::table
