// The part of Service that makes records effective in the engine.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/bindings.h"
#include "overrides/service.h"

namespace weir::overrides {
namespace {

using match::Exceptions;
using match::ReplacementTable;

// The override of a consumer and its grants, resolved.
struct ConsumerEntries {
  std::optional<ReplacementTable::Entry> own;
  std::optional<ReplacementTable::Entry> grants;
};

Result<ConsumerEntries> resolve_consumer(const policy::Ruleset& ruleset, std::uint32_t limit,
                                         const Registry::Entry& own, std::span<const Registry::Entry> grants,
                                         ReplacementCache& cache) {
  ConsumerEntries entries;
  const Terms* const terms = own.record == nullptr ? nullptr : &own.record->terms;
  if (terms != nullptr) {
    auto made = cache.get(ruleset, limit, terms, 0);
    if (!made) return tl::unexpected(made.error());
    entries.own = ReplacementTable::Entry{std::move(*made), own.record->expires_at, own.number};
  }
  std::uint64_t granted = 0;
  Instant expires_at = Instant::max();
  for (const Registry::Entry& grant : grants) {
    granted += grant.record->terms.add;
    expires_at = std::min(expires_at, grant.record->expires_at);
  }
  if (granted == 0) return entries;
  auto made = cache.get(ruleset, limit, terms, granted);
  if (!made) return tl::unexpected(made.error());
  entries.grants = ReplacementTable::Entry{std::move(*made), expires_at, grants.back().number};
  return entries;
}

void set_or_erase(ReplacementTable& table, std::string_view key, const std::optional<ReplacementTable::Entry>& entry) {
  if (entry) {
    table.set(key, *entry);
  } else {
    table.erase(key);
  }
}

void enter(Exceptions& exceptions, const Target& target, const ConsumerEntries& entries) {
  Exceptions::OfLimit& tables = exceptions.make(target.limit);
  set_or_erase(tables.overrides, target.key, entries.own);
  set_or_erase(tables.grants, target.key, entries.grants);
  exceptions.trim(target.limit);
}

}  // namespace

void Service::activate(const Record& record) {
  if (record.kind == Kind::limit_override) return activate_consumer(record);
  const Registry::Entry entry = registry_.find(Kind::block, record.id);
  const auto resolved = resolve_block(record, entry.number);
  if (!resolved) return;
  engine_.change_exceptions([&](Exceptions& exceptions) {
    if (entry.record != nullptr) {
      exceptions.blocks().set(resolved->identity, resolved->block);
    } else {
      exceptions.blocks().erase(resolved->identity);
    }
  });
}

void Service::activate_consumer(const Record& record) {
  const auto bindings = engine_.bindings();
  const auto target = find_target(bindings->matcher(), record);
  if (!target) return;  // removed or expired under another policy
  const Registry::Entry own = registry_.find_for(Kind::limit_override, record.limit, record.target);
  const auto grants = registry_.grants_for(record.limit, record.target);
  const auto entries = resolve_consumer(bindings->ruleset(), target->limit, own, grants, cache_);
  if (!entries) return;
  const auto fits = [&](const std::optional<ReplacementTable::Entry>& entry) {
    return !entry || bindings->holds(target->limit, *entry->replacement);
  };
  if (fits(entries->own) && fits(entries->grants)) {
    engine_.change_exceptions([&](Exceptions& exceptions) { enter(exceptions, *target, *entries); });
    return clamp_usage(*target);
  }
  // The states move to wider cells, as for a policy with these numbers.
  // It fails only if the memory budget does not allow wider cells: then nothing changes.
  if (reload()) clamp_usage(*target);
}

// Brings a bucket's usage within the time to fill of the numbers that apply from now on, as a reload does: the consumer
// waits no longer than these numbers imply. On a shared store each decision does this.
void Service::clamp_usage(const Target& target) {
  const auto bindings = engine_.bindings();
  if (bindings->shared_keys() != nullptr) return;
  const Instant now = clock_.now();
  const match::ExceptionsAt exceptions = bindings->exceptions_at(now);
  const Exceptions::OfLimit* const tables = exceptions.table == nullptr ? nullptr : exceptions.table->of(target.limit);
  const match::AppliedReplacement applied =
      tables == nullptr ? match::AppliedReplacement{} : Exceptions::find(*tables, target.key, now);
  std::shared_ptr<const match::Replacement> numbers;
  if (applied.replacement != nullptr) {
    numbers = *applied.replacement;
  } else if (auto own = cache_.get(bindings->ruleset(), target.limit, nullptr, 0)) {
    numbers = std::move(*own);
  }
  for (const match::Replacement::Tier& tier : numbers ? numbers->tiers : std::vector<match::Replacement::Tier>()) {
    const bool is_bucket = tier.numbers && tier.numbers->algorithm() < Algorithm::leaky_bucket_queue;
    const store::States* const states = engine::states_of(bindings->limits()[target.limit].live, tier.states_tier);
    if (!is_bucket || states == nullptr) continue;
    table::Table& table = *states->table;
    // A charge that is full now has nothing left to refund, so only the bound is applied.
    table.refund(tier.rule, table.hash(target.key), Cost{1}, {.at = now, .full_at = now}, now);
    return;
  }
}

// Makes new bindings for the current policy.
Result<void> Service::reload() {
  const auto ruleset = engine_.bindings()->matcher().shared_ruleset();
  auto prepared = prepare(ruleset);
  if (!prepared) return tl::unexpected(prepared.error());
  auto taken = engine_.reload(ruleset, clock_, std::move(prepared->exceptions));
  if (taken) take(std::move(*prepared));
  return taken;
}

Result<Service::Prepared> Service::prepare(std::shared_ptr<const policy::Ruleset> ruleset) const {
  Prepared prepared{.exceptions = std::make_unique<Exceptions>(), .inactive = {}};
  const auto matcher = match::Matcher::create(ruleset);
  if (!matcher) return tl::unexpected(matcher.error());
  ReplacementCache cache;
  registry_.for_each([&](const Registry::Entry& entry) {
    const Record& record = *entry.record;
    if (record.kind == Kind::block) {
      const auto resolved = resolve_block(record, entry.number);
      if (resolved) prepared.exceptions->blocks().set(resolved->identity, resolved->block);
      return;
    }
    const auto fail = [&](const Error& error) { prepared.inactive.emplace(entry.number, error.message()); };
    const auto target = find_target(**matcher, record);
    if (!target) return fail(target.error());
    const Registry::Entry own = registry_.find_for(Kind::limit_override, record.limit, record.target);
    const auto entries =
        resolve_consumer(*ruleset, target->limit, own, registry_.grants_for(record.limit, record.target), cache);
    if (!entries) return fail(entries.error());
    const auto& strongest = entries->grants ? entries->grants : entries->own;
    if (const auto trusted = check_trust(*ruleset, *target, *strongest->replacement); !trusted) {
      return fail(trusted.error());
    }
    enter(*prepared.exceptions, *target, *entries);
  });
  return prepared;
}

void Service::take(Prepared prepared) {
  cache_ = {};
  const std::lock_guard guard(mutex_);
  inactive_ = std::move(prepared.inactive);
}

}  // namespace weir::overrides
