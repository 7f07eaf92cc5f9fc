// SPDX-License-Identifier: Apache-2.0
// One limit for each of many consumers, identified by a key: a user, an address, an API key. Callable from any thread.
//
// Memory is bounded: consumers beyond the budget share overflow states, so a flood of new keys neither evicts a known
// consumer nor bypasses the limit.
//
// Use reserve() with a concurrency limit (Limit::concurrency): its units are released by a receipt, so check(), admit()
// and acquire(), which return none, always deny there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/receipt.h"
#include "weir/request.h"
#include "weir/result.h"
#include "weir/to_duration.h"

namespace weir {

class KeyedLimiter {
 public:
  struct Options {
    std::size_t memory_budget = std::size_t{64} << 20;  // bytes
  };

  using Request = weir::Request;

  struct Usage {
    std::size_t bytes = 0;         // used bytes of the budget
    std::uint64_t overflowed = 0;  // decisions on a shared overflow state, for lack of memory
  };

  // Uses WallClock if no clock is given.
  static Result<KeyedLimiter> create(const Limit& limit);
  static Result<KeyedLimiter> create(const Limit& limit, Options options);
  static Result<KeyedLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock, Options options);
  static Result<KeyedLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock);

  // Restores the states that save() wrote to `path`. A truncated or foreign file is rejected.
  static Result<KeyedLimiter> restore(const std::filesystem::path& path, const Limit& limit,
                                      std::shared_ptr<const Clock> clock, Options options);
  static Result<KeyedLimiter> restore(const std::filesystem::path& path, const Limit& limit, Options options);

  KeyedLimiter(KeyedLimiter&&) noexcept;
  KeyedLimiter& operator=(KeyedLimiter&&) noexcept;
  ~KeyedLimiter();

  // Admits and charges, or denies and changes nothing.
  Decision check(std::string_view key, Cost cost = Cost{1});

  // Decides as many requests as both spans hold. The result is the same as checking each in order at one instant, but
  // this is several times faster for many keys.
  void check(std::span<const Request> requests, std::span<Decision> decisions);

  // Like check(), but returns only yes or no, and is faster.
  [[nodiscard]] bool admit(std::string_view key, Cost cost = Cost{1});
  void admit(std::span<const Request> requests, std::span<bool> admitted);

  // Returns what check(key, cost) would; for a concurrency limit, what reserve(key, cost) would. Charges nothing.
  [[nodiscard]] Decision peek(std::string_view key, Cost cost = Cost{1}) const;

  // Waits until admitted. Returns a denial at once if that would be after `deadline` or never, and when a stop is
  // requested. A caller admitted to a queue returns at its turn.
  Decision acquire(std::string_view key, Cost cost, Instant deadline, std::stop_token stop = {});

  // Waits at most this long: 200ms, 5s. Without a duration, waits indefinitely.
  template <class Rep, class Period>
  Decision acquire(std::string_view key, Cost cost, std::chrono::duration<Rep, Period> at_most,
                   std::stop_token stop = {}) {
    return acquire_within(key, cost, to_duration(at_most), std::move(stop));
  }
  Decision acquire(std::string_view key, Cost cost = Cost{1}, std::stop_token stop = {}) {
    return acquire(key, cost, Instant::max(), std::move(stop));
  }
  // Accepts a deadline of any other clock, converted by its distance from that clock's current time.
  template <class AnyClock, class Length>
  Decision acquire(std::string_view key, Cost cost, std::chrono::time_point<AnyClock, Length> deadline,
                   std::stop_token stop = {}) {
    return acquire_within(key, cost, duration_until(deadline), std::move(stop));
  }

  // Like check(), but an admitted charge can be corrected until the receipt expires; zero means the default lifetime
  // (see Receipt). Repeating a reserve with an `id` that is open is admitted, charges nothing and returns the same
  // receipt. At most 1,024 are open per key: beyond that a reserve is charged without a receipt (not_kept), or denied
  // if the limit is a concurrency limit.
  Reservation reserve(std::string_view key, Cost cost = Cost{1}, Duration lasts = Duration::zero(),
                      std::string_view id = {});

  // Corrects a reserved charge to the actual cost and closes the receipt. Repeating a settle changes nothing (ended).
  // Never denied: a lower cost is given back as far as it still counts (for a bucket, what has not been refilled since;
  // for a queue, only the newest turn); a higher cost is charged now, into a debt of at most one capacity. For a
  // concurrency limit any settle releases the hold.
  ReceiptAnswer settle(const Receipt& receipt, Cost actual);

  // Settles at zero: gives back all of the charge that still counts.
  ReceiptAnswer release(const Receipt& receipt) { return settle(receipt, Cost{0}); }

  // Sets the receipt to expire `lasts` from now, but never earlier than before.
  ReceiptAnswer extend(const Receipt& receipt, Duration lasts = Duration::zero());

  // Charges past usage. Never denied; goes into a debt of at most one capacity. Reports with the same `id` count once
  // per hour. At most 1,024 ids are remembered per key: beyond that a report is charged, and charged again if it is
  // repeated (not_kept).
  ReceiptAnswer report(std::string_view key, Cost cost, std::string_view id = {});

  // Forgets the key and its receipts. Returns false, and changes nothing, if the key shares an overflow state.
  bool reset(std::string_view key);

  [[nodiscard]] Usage usage() const noexcept;

  // Writes all states and open receipts to `path`, replacing the file atomically (mode 0600: it contains the hash key).
  Result<void> save(const std::filesystem::path& path) const;

 private:
  Decision acquire_within(std::string_view key, Cost cost, Duration at_most, std::stop_token stop);

  struct Body;
  explicit KeyedLimiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
