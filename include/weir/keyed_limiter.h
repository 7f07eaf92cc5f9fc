// One limit for each of many consumers, told apart by a key: a user, an address, an API key.
// Callable from any thread. Memory is bounded: consumers beyond the budget share overflow states, so
// a flood of fresh keys neither evicts a known consumer nor goes unlimited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/request.h"
#include "weir/result.h"

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

  static Result<KeyedLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock, Options options);
  static Result<KeyedLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock);

  // With the states that save() wrote to `path`. A torn or foreign file is refused.
  static Result<KeyedLimiter> restore(const std::filesystem::path& path, const Limit& limit,
                                      std::shared_ptr<const Clock> clock, Options options);

  KeyedLimiter(KeyedLimiter&&) noexcept;
  KeyedLimiter& operator=(KeyedLimiter&&) noexcept;
  ~KeyedLimiter();

  // Admits and charges, or denies and changes nothing.
  Decision check(std::string_view key, Cost cost = Cost{1});

  // The same as checking each in order, at one instant, several times faster for many keys.
  // Decides as many as both spans hold.
  void check(std::span<const Request> requests, std::span<Decision> decisions);

  // The same as check(), for who needs nothing but yes or no: quicker still.
  [[nodiscard]] bool admit(std::string_view key, Cost cost = Cost{1});
  void admit(std::span<const Request> requests, std::span<bool> admitted);

  // What check(key, cost) would answer. Charges nothing.
  [[nodiscard]] Decision peek(std::string_view key, Cost cost = Cost{1}) const;

  // Waits until admitted. Returns a denial at once if that would be after `deadline` or never, and
  // when a stop is requested. A caller with a turn to wait for (queue) returns at its turn.
  Decision acquire(std::string_view key, Cost cost, Instant deadline, std::stop_token stop = {});

  // Gives back `cost` of a charge.
  void refund(std::string_view key, Cost cost, const Decision& charge);

  // Corrects a charge of `reserved` to what it turned out to be. Never denied: what is more than was
  // reserved is charged now, into a debt of at most one capacity.
  void settle(std::string_view key, Cost reserved, Cost actual, const Decision& charge);

  // As if never seen.
  void reset(std::string_view key);

  [[nodiscard]] Usage usage() const noexcept;

  // Writes all states to `path`, replacing it whole (mode 0600: the file holds the hash key).
  Result<void> save(const std::filesystem::path& path) const;

 private:
  struct Body;
  explicit KeyedLimiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
