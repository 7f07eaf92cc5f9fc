// One limit for each of many consumers, told apart by a key: a user, an address, an API key.
// Callable from any thread. Memory is bounded: consumers beyond the budget share overflow states, so
// a flood of fresh keys neither evicts a known consumer nor goes unlimited.
//
// A limit on what is held at once (Limit::concurrency) is asked by reserve(): what is held is given back by a receipt,
// so check(), admit() and acquire(), which give none, are denied for good there.
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
    std::size_t bytes = 0;         // of the budget
    std::uint64_t overflowed = 0;  // decisions on a shared state, for want of room
  };

  // Without a clock: by the time of day (WallClock).
  static Result<KeyedLimiter> create(const Limit& limit);
  static Result<KeyedLimiter> create(const Limit& limit, Options options);
  static Result<KeyedLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock, Options options);
  static Result<KeyedLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock);

  // With the states that save() wrote to `path`. A torn or foreign file is refused.
  static Result<KeyedLimiter> restore(const std::filesystem::path& path, const Limit& limit,
                                      std::shared_ptr<const Clock> clock, Options options);
  static Result<KeyedLimiter> restore(const std::filesystem::path& path, const Limit& limit, Options options);

  KeyedLimiter(KeyedLimiter&&) noexcept;
  KeyedLimiter& operator=(KeyedLimiter&&) noexcept;
  ~KeyedLimiter();

  // Admits and charges, or denies and changes nothing.
  Decision check(std::string_view key, Cost cost = Cost{1});

  // The same as checking each in order, at one instant, several times faster for many keys.
  // Decides as many as both spans hold.
  void check(std::span<const Request> requests, std::span<Decision> decisions);

  // The same as check(), for callers that need nothing but yes or no: quicker still.
  [[nodiscard]] bool admit(std::string_view key, Cost cost = Cost{1});
  void admit(std::span<const Request> requests, std::span<bool> admitted);

  // What check(key, cost) would answer; of a limit on what is held at once, what reserve(key, cost) would. Charges
  // nothing.
  [[nodiscard]] Decision peek(std::string_view key, Cost cost = Cost{1}) const;

  // Waits until admitted. Returns a denial at once if that would be after `deadline` or never, and
  // when a stop is requested. A caller with a turn to wait for (queue) returns at its turn.
  Decision acquire(std::string_view key, Cost cost, Instant deadline, std::stop_token stop = {});

  // For at most so long: 200ms, 5s. Without a length of time, for as long as it takes.
  template <class Rep, class Period>
  Decision acquire(std::string_view key, Cost cost, std::chrono::duration<Rep, Period> at_most,
                   std::stop_token stop = {}) {
    return acquire_within(key, cost, to_duration(at_most), std::move(stop));
  }
  Decision acquire(std::string_view key, Cost cost = Cost{1}, std::stop_token stop = {}) {
    return acquire(key, cost, Instant::max(), std::move(stop));
  }
  // Until a point in time of any other clock, as far away as that clock says now.
  template <class AnyClock, class Length>
  Decision acquire(std::string_view key, Cost cost, std::chrono::time_point<AnyClock, Length> deadline,
                   std::stop_token stop = {}) {
    return acquire_within(key, cost, duration_until(deadline), std::move(stop));
  }

  // As check(), and if it admits, the charge can be corrected until the receipt ends: zero is as long as the limit says
  // (see Receipt). A reserve under an `id` that is open is the same one: it is admitted, charges nothing, and gives the
  // same receipt. At most 1,024 are open for a key: then a reserve is charged and has no receipt (not_kept), and one of
  // a limit on what is held at once is denied.
  Reservation reserve(std::string_view key, Cost cost = Cost{1}, Duration lasts = Duration::zero(),
                      std::string_view id = {});

  // Corrects what was reserved to what it turned out to cost, and ends the receipt. Once: a settle that is repeated
  // changes nothing (ended). Never denied: what is less is given back as far as it still counts (of a bucket, what has
  // not flowed in again since; of a queue, only the newest turn), what is more is charged now, into a debt of at most
  // one capacity. Of a limit on what is held at once, any settle ends the hold.
  ReceiptAnswer settle(const Receipt& receipt, Cost actual);

  // Settles with nothing: all of it is given back that still counts.
  ReceiptAnswer release(const Receipt& receipt) { return settle(receipt, Cost{0}); }

  // The receipt ends so long from now, and never earlier than it did.
  ReceiptAnswer extend(const Receipt& receipt, Duration lasts = Duration::zero());

  // Charges what was used already. Never denied, and into a debt of at most one capacity. Under an `id` it counts once
  // in an hour. At most 1,024 of these are remembered for a key: beyond that a report is charged, and would be charged
  // again if it is repeated (not_kept).
  ReceiptAnswer report(std::string_view key, Cost cost, std::string_view id = {});

  // As if never seen, its receipts too. False if the key shares a state with others for want of memory: that stays as
  // it is.
  bool reset(std::string_view key);

  [[nodiscard]] Usage usage() const noexcept;

  // Writes all states and open receipts to `path`, replacing it whole (mode 0600: the file holds the hash key).
  Result<void> save(const std::filesystem::path& path) const;

 private:
  Decision acquire_within(std::string_view key, Cost cost, Duration at_most, std::stop_token stop);

  struct Body;
  explicit KeyedLimiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
