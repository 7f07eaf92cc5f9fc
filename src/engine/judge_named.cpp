// What a judge answers to questions by name.
#include <algorithm>
#include <utility>

#include "engine/judge.h"

namespace weir::engine {

Result<Verdict> Judge::judge(const NamedAsk& ask, Instant now) {
  Result<Verdict> verdict;
  judge({&ask, 1}, now, {&verdict, 1});
  return verdict;
}

void Judge::judge(std::span<const NamedAsk> asks, Instant now, std::span<Result<Verdict>> verdicts) {
  const std::lock_guard guard(busy_);
  if (witness_ != nullptr) witness_->begin();
  used_ = 0;
  for (std::size_t done = 0; done < asks.size(); done += ahead) {
    const std::size_t count = std::min(asks.size() - done, ahead);
    judge_piece(asks.subspan(done, count), now, verdicts.subspan(done, count));
  }
  std::size_t first = 0;
  for (Result<Verdict>& verdict : verdicts) {
    if (verdict) point_to_outcomes(*verdict, first);
  }
  if (witness_ != nullptr) witness_->judged_by_name(*this, asks, verdicts, now);
}

void Judge::judge_piece(std::span<const NamedAsk> asks, Instant now, std::span<Result<Verdict>> verdicts) {
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (auto found = named_finder_->find(asks[i], coverages_[i]); found) {
      verdicts[i] = Verdict{};
      coverages_[i].prefetch();
    } else {
      verdicts[i] = tl::unexpected(std::move(found.error()));
    }
  }
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (verdicts[i]) judge_found(coverages_[i], asks[i].peek, now, *verdicts[i]);
  }
}

Result<void> Judge::reset(const NamedAsk& ask, Instant now) {
  const std::lock_guard guard(busy_);
  const auto named = named_finder_->read(ask);
  if (!named) return tl::unexpected(named.error());
  return forget(plan_->limits()[named->limit], named->key, now);
}

Result<void> Judge::reset(const DescriptorName& name, Instant now) {
  const std::lock_guard guard(busy_);
  std::string key;
  const auto found = find_descriptor(plan_->ruleset(), name, key);
  if (!found) return tl::unexpected(found.error());
  return (*found)->limit ? forget(plan_->limits()[*(*found)->limit], key, now) : Result<void>();
}

Result<void> Judge::forget(const PlannedLimit& limit, std::string_view key, Instant now) {
  bool shares = false;
  const auto forget_one = [&](const std::optional<TableRule>& rule) {
    if (rule && !rule->table->reset(rule->rule, rule->table->hash(key), now)) shares = true;
  };
  std::ranges::for_each(limit.live, forget_one);
  std::ranges::for_each(limit.candidate, forget_one);
  forget_one(limit.warnings);
  forget_one(limit.denials);
  forget_one(limit.block);
  if (!shares) return {};
  return failure(
      "consumer",
      "shares a state with others for want of memory, and that was not reset: it would let them start afresh "
      "too; give state.memory more, and restart");
}

std::string_view Judge::consumer_of(const NamedAsk& ask) {
  const auto named = named_finder_->read(ask);
  return named ? named->key : std::string_view{};
}

}  // namespace weir::engine
