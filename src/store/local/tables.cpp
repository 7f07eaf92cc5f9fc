#include "store/local/tables.h"

#include <algorithm>
#include <set>
#include <utility>

#include "table/snapshot.h"

namespace weir::store {
namespace {

bool holds_all(const table::Table& table, std::span<const core::Rule> rules) noexcept {
  return std::ranges::all_of(rules, [&](const core::Rule& rule) { return table.holds(rule); });
}

// A table is laid out for one rule. Tries the layout of each rule until one can store the states of all rules.
Result<std::shared_ptr<table::Table>> create_table(const RequiredState& wanted, std::size_t bytes,
                                                   table::HashKey hash_key) {
  for (const core::Rule& rule : wanted.rules) {
    auto table = table::Table::create(rule, bytes, hash_key);
    if (!table) {
      return failure("memory_budget", "limit '" + wanted.id.limit + "': " + table.error().what +
                                          "; raise the budget, or have fewer limits share it");
    }
    if (holds_all(**table, wanted.rules)) return std::shared_ptr<table::Table>(std::move(*table));
  }
  return failure("limit '" + wanted.id.limit + "'", "numbers out of range for any table");
}

bool is_shorter(const core::Rule& rule, const core::Rule& other) noexcept {
  return core::time_to_fill(rule) < core::time_to_fill(other);
}

// Returns the rule with the longest time to fill, which clamps restored arrival times the least. A saved state does not
// record its consumer's tier, so any of the rules may apply to it.
const core::Rule& slowest_to_fill(std::span<const core::Rule> rules) noexcept {
  return *std::ranges::max_element(rules, is_shorter);
}

// Creates a table with the saved states or, if they cannot be restored, an empty one.
Result<std::shared_ptr<table::Table>> begin_table(const RequiredState& wanted, std::size_t bytes,
                                                  table::HashKey hash_key, SavedStates* saved) {
  auto table = create_table(wanted, bytes, hash_key);
  if (!table || saved == nullptr) return table;
  if (saved->read_into(**table, state_name(wanted.id), slowest_to_fill(wanted.rules))) return table;
  table->reset();
  return create_table(wanted, bytes, hash_key);
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::create(std::span<const RequiredState> wanted, const Options& options,
                                               const Tables* previous, SavedStates* saved) {
  auto tables = std::make_unique<Tables>();
  tables->share_ = options.memory_budget / std::max<std::size_t>(1, wanted.size());
  for (const RequiredState& want : wanted) {
    const Entry* before = previous == nullptr ? nullptr : previous->predecessor_of(want.id, wanted);
    Entry& entry = tables->tables_[want.id];
    entry.rules = want.rules;
    if (before != nullptr && holds_all(*before->table, want.rules)) {
      entry.table = before->table;
    } else {
      auto table = begin_table(want, tables->share_, options.hash_key, saved);
      if (!table) return tl::unexpected(table.error());
      entry.table = std::move(*table);
      if (before != nullptr)
        tables->moves_.push_back({before->table, before->rules[0], entry.table.get(), want.rules[0]});
    }
    if (before == nullptr || want.id.purpose == Purpose::block) continue;
    const core::Rule& longest = slowest_to_fill(want.rules);
    if (is_shorter(longest, slowest_to_fill(before->rules))) {
      tables->shortened_.push_back({entry.table.get(), longest});
    }
  }
  return tables;
}

const Tables::Entry* Tables::predecessor_of(const StateId& id, std::span<const RequiredState> wanted) const {
  if (const auto same = tables_.find(id); same != tables_.end()) return &same->second;
  if (id.purpose != Purpose::live) return nullptr;
  StateId as_candidate = id;
  as_candidate.purpose = Purpose::candidate;
  if (std::ranges::find(wanted, as_candidate, &RequiredState::id) != wanted.end())
    return nullptr;  // the limit still has a candidate, which keeps its states
  const auto promoted = tables_.find(as_candidate);
  return promoted == tables_.end() ? nullptr : &promoted->second;
}

table::Table* Tables::find(const StateId& id) const noexcept {
  const auto found = tables_.find(id);
  return found == tables_.end() ? nullptr : found->second.table.get();
}

void Tables::move_states(Instant now) {
  for (const Move& move : moves_) table::move_states(*move.from, move.from_rule, *move.to, move.to_rule, now);
  moves_.clear();
}

void Tables::carry_over(const Clock& clock) {
  for (const Shortened& shortened : shortened_) shortened.table->carry_over(shortened.longest, clock);
  shortened_.clear();
}

void Tables::apply_budget() noexcept {
  for (auto& [id, entry] : tables_) entry.table->resize_budget(share_);
}

Result<void> Tables::save(const SnapshotFolder& folder, Instant now) const {
  if (auto prepared = folder.prepare(); !prepared) return prepared;
  std::set<std::string> names;
  for (const auto& [id, entry] : tables_) {
    const std::string name = state_name(id);
    if (auto saved = table::save(*entry.table, entry.rules[0], folder.file(name), now); !saved) return saved;
    names.insert(name);
  }
  folder.keep_only(state_name_prefix, names);
  return {};
}

std::vector<Tables::Figures> Tables::figures(Instant now) const {
  std::vector<Figures> figures;
  for (const auto& [id, entry] : tables_) {
    const table::Table& table = *entry.table;
    figures.push_back({.id = id,
                       .bytes = table.bytes_used(),
                       .budget = table.budget(),
                       .overflowed = table.overflowed(),
                       .entries = table.estimated_entries(now)});
  }
  return figures;
}

std::size_t Tables::bytes_used() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [id, entry] : tables_) bytes += entry.table->bytes_used();
  return bytes;
}

std::uint64_t Tables::overflowed() const noexcept {
  std::uint64_t count = 0;
  for (const auto& [id, entry] : tables_) count += entry.table->overflowed();
  return count;
}

}  // namespace weir::store
