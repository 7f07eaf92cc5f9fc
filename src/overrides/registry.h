// The set of all records in memory, and the newest changes. Not thread-safe.
//
// A consumer of a limit has at most one override and any number of grants; an identity has at most one block. Records
// are numbered in this process: matching refers to them by number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "match/exceptions.h"
#include "overrides/record.h"
#include "weir/time.h"

namespace weir::overrides {

class Registry {
 public:
  static constexpr std::size_t max_history = 1'000;

  using Number = match::ExceptionNumber;
  struct Entry {
    Number number = 0;
    const Record* record = nullptr;  // null: none
  };

  // Changes must be applied in the order of their versions.
  void apply(const Change& change);

  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] bool empty() const noexcept { return records_.empty(); }
  [[nodiscard]] std::size_t count(Kind kind) const noexcept { return counts_[static_cast<std::size_t>(kind)]; }

  [[nodiscard]] Entry find(Kind kind, std::string_view id) const;
  [[nodiscard]] const Record* find(Number number) const;
  // Returns a consumer's override (without grants) or, if `limit` is empty, an identity's block.
  [[nodiscard]] Entry find_for(Kind kind, std::string_view limit, std::string_view target) const;
  [[nodiscard]] std::vector<Entry> grants_for(std::string_view limit, std::string_view target) const;

  // In the order of their ids. A page begins after `cursor`.
  struct Query {
    Kind kind = Kind::limit_override;
    std::string limit{};   // empty: all
    std::string target{};  // empty: all
    std::string cursor{};
    std::size_t max = 100;
  };
  struct Page {
    std::vector<Entry> entries;
    std::string next;  // the cursor of the next page; empty: this is the last
  };
  [[nodiscard]] Page list(const Query& query) const;

  template <class Work>
  void for_each(Work work) const {
    for (const auto& [number, record] : records_) work(Entry{number, &record});
  }

  // The records that have expired by `now`. Fast if there are none.
  [[nodiscard]] std::vector<Entry> expired(Instant now) const;

  // The newest changes, the oldest first.
  [[nodiscard]] const std::deque<Change>& history() const noexcept { return history_; }

  // The changes that the log needs to restore this set and the history.
  [[nodiscard]] std::vector<Change> essential_changes() const;

 private:
  void insert(const Record& record);
  void erase(Number number);

  std::unordered_map<Number, Record> records_;
  std::map<std::string, Number, std::less<>> by_id_;        // by kind and id
  std::unordered_multimap<std::string, Number> by_target_;  // by kind, limit and target
  std::size_t counts_[2] = {};
  std::deque<Change> history_;
  std::uint64_t version_ = 0;
  Number last_number_ = 0;
  mutable Instant next_expiry_ = Instant::max();  // no record expires before
};

}  // namespace weir::overrides
