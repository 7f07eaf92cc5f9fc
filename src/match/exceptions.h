// The exceptions that operators make at run time, in the form that matching looks up: other numbers for one consumer of
// a limit, and blocked identities. src/overrides has their records and makes these tables.
//
// Not thread-safe: the engine changes a table only while no evaluator matches (Engine::change_exceptions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/rule.h"
#include "match/caller.h"
#include "match/path.h"
#include "match/route_tree.h"
#include "policy/ruleset.h"
#include "text/address.h"
#include "weir/limit.h"
#include "weir/query.h"
#include "weir/time.h"

namespace weir::match {

// The numbers that replace those of a limit. Immutable, and shared by all overrides with the same numbers.
struct Replacement {
  enum class Kind : std::uint8_t { numbers, unlimited, banned };

  struct Tier {
    Kind kind = Kind::numbers;
    std::optional<Limit> numbers;   // set for Kind::numbers
    core::Rule rule;                // compiled from `numbers`; valid for Kind::numbers
    std::uint32_t states_tier = 0;  // the tier whose states are decided with `rule`
  };

  std::vector<Tier> tiers;  // one for each of Tiers::names
};

// Identifies the record of an exception; zero is none.
using ExceptionNumber = std::uint64_t;

// Consumer -> replacement, for one limit. One slot of 48 bytes per consumer, and the bytes of its key.
class ReplacementTable {
 public:
  struct Entry {
    std::shared_ptr<const Replacement> replacement;
    Instant expires_at{};
    ExceptionNumber number = 0;
  };

  // `key` is written by append_consumer().
  void set(std::string_view key, Entry entry);
  bool erase(std::string_view key);
  // Returns null if there is none. An expired entry is returned too.
  [[nodiscard]] const Entry* find(std::string_view key) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(Slot) + keys_.capacity(); }

  template <class Work>
  void for_each(Work work) const {
    for (const Slot& slot : slots_) {
      if (slot.state == Slot::State::used) work(slot.entry);
    }
  }

 private:
  struct Slot {
    enum class State : std::uint8_t { free, used, erased };

    std::uint32_t key_begin = 0;  // offset in keys_
    std::uint32_t hash = 0;
    std::uint32_t key_length = 0;
    State state = State::free;
    Entry entry;
  };

  [[nodiscard]] std::size_t home_of(std::uint64_t hash) const noexcept;
  [[nodiscard]] const Slot* locate(std::string_view key) const noexcept;
  void place(std::string_view key, std::uint64_t hash, Entry entry);
  void rebuild();

  std::vector<Slot> slots_;
  std::string keys_;
  std::size_t size_ = 0;
  std::size_t occupied_ = 0;  // slots that are used or erased
};

// An identity that a block names.
struct BlockedIdentity {
  enum class Kind : std::uint8_t { user, api_key, ip, header };

  Kind kind = Kind::user;
  std::string header{};        // lower case
  std::string value{};         // of a user, an API key or a header
  text::AddressRange range{};  // for Kind::ip

  // Parses `user=mallory`, `api_key=k-1`, `ip=192.0.2.0/24` or `header:x-app=scraper`.
  static Result<BlockedIdentity> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

struct Block {
  ExceptionNumber number = 0;
  Instant expires_at{};
  std::shared_ptr<const RouteTree> routes{};  // null: every route
};

// The request that a block is looked up for.
struct BlockQuery {
  const Query& query;
  const policy::Identity& identity;
  const Caller& caller;
  Instant now;
};

class Blocks {
 public:
  void set(const BlockedIdentity& identity, Block block);
  void erase(const BlockedIdentity& identity);
  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }

  // Returns null if the request is not blocked.
  [[nodiscard]] const Block* find(const BlockQuery& query, PathReader& paths, std::string& buffer) const;
  // The same for a consumer without a request, whose key is written by append_consumer(). Blocks of single routes do
  // not apply.
  [[nodiscard]] const Block* find(std::string_view consumer_key, Instant now, std::string& buffer) const;

 private:
  // The lengths of prefixes that blocks of addresses have.
  struct Prefix {
    text::Address::Family family;
    unsigned length;
    std::size_t blocks = 0;
  };

  [[nodiscard]] const Block* at(std::string_view key, Instant now) const;
  template <class Applies>
  [[nodiscard]] const Block* of_address(const text::Address& address, Instant now, std::string& buffer,
                                        const Applies& applies) const;
  template <class Applies>
  [[nodiscard]] const Block* any_of_addresses(Instant now, const Applies& applies) const;
  template <class Applies>
  [[nodiscard]] const Block* of_headers(const BlockQuery& query, std::string& buffer, const Applies& applies) const;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Block, Hash, std::equal_to<>> blocks_;  // by encoded identity
  std::vector<Prefix> prefixes_;
  std::vector<std::pair<std::string, std::size_t>> headers_;  // (name, number of blocks)
};

// A replacement that applies to a consumer at a time.
struct AppliedReplacement {
  const std::shared_ptr<const Replacement>* replacement = nullptr;  // null: none
  ExceptionNumber number = 0;
};

class Exceptions {
 public:
  // A grant precedes an override, whose numbers it includes. It ends with the current window.
  struct OfLimit {
    ReplacementTable overrides;
    ReplacementTable grants;
  };

  [[nodiscard]] bool empty() const noexcept { return limits_.empty() && blocks_.empty(); }
  // Null if the limit has no exceptions.
  [[nodiscard]] const OfLimit* of(std::uint32_t limit) const noexcept {
    return limit < limits_.size() ? limits_[limit].get() : nullptr;
  }
  [[nodiscard]] OfLimit& make(std::uint32_t limit);
  // Drops the tables of a limit if they are empty.
  void trim(std::uint32_t limit);
  [[nodiscard]] const Blocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] Blocks& blocks() noexcept { return blocks_; }

  [[nodiscard]] static AppliedReplacement find(const OfLimit& tables, std::string_view key, Instant now) noexcept;

 private:
  std::vector<std::unique_ptr<OfLimit>> limits_;  // by index in Ruleset::limits; empty if there are none
  Blocks blocks_;
};

// The exceptions to match with, at a time. A null table means none.
struct ExceptionsAt {
  const Exceptions* table = nullptr;
  Instant now{};
  bool applies_blocks = true;  // false for usage that is reported: the request was admitted before
};

}  // namespace weir::match
