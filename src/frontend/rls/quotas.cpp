#include "frontend/rls/quotas.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>

namespace weir::frontend {
namespace {

constexpr std::uint64_t most_nodes = 10'000;
constexpr Duration between_looks = std::chrono::seconds(10);

// The same states at the same costs: only numbers differ.
bool is_like(const QuotaTerms& one, const QuotaTerms& other) {
  const auto is_same = [](const QuotaTerms::Limit& a, const QuotaTerms::Limit& b) {
    return a.state == b.state && a.cost == b.cost;
  };
  return !one.limits.empty() && std::ranges::equal(one.limits, other.limits, is_same);
}

}  // namespace

void Quotas::set_nodes(std::uint64_t nodes, Instant now) {
  const std::lock_guard guard(mutex_);
  nodes_ = std::clamp<std::uint64_t>(nodes, 1, most_nodes);
  for (auto& [name, state] : states_) state.assigner->change(own_part(state.whole), now);
}

std::unique_ptr<QuotaStream> Quotas::open() {
  const std::lock_guard guard(mutex_);
  if (figures_.streams >= bounds_.streams) return nullptr;
  ++figures_.streams;
  return std::unique_ptr<QuotaStream>(new QuotaStream(*this));
}

Quotas::Figures Quotas::figures() const {
  const std::lock_guard guard(mutex_);
  Figures figures = figures_;
  figures.states = states_.size();
  return figures;
}

QuotaAssigner::Numbers Quotas::own_part(const QuotaAssigner::Numbers& whole) const noexcept {
  return {whole.burst / nodes_, {whole.rate.count, whole.rate.per * static_cast<Duration::rep>(nodes_)}};
}

std::shared_ptr<QuotaAssigner> Quotas::assigner(const QuotaTerms::Limit& limit, Instant now) {
  const auto found = states_.find(limit.state);
  if (found != states_.end()) {
    State& state = found->second;
    if (state.whole != limit.numbers) state.assigner->change(own_part(limit.numbers), now);
    state.whole = limit.numbers;
    return state.assigner;
  }
  if (states_.size() >= bounds_.states) return nullptr;
  auto made = std::make_shared<QuotaAssigner>(own_part(limit.numbers), now);
  states_.emplace(limit.state, State{limit.numbers, made});
  return made;
}

std::unique_ptr<QuotaBucket> Quotas::new_bucket(const QuotaTerms& terms, Instant now) {
  if (terms.limits.empty()) return std::make_unique<QuotaBucket>(terms.admits, times_, now);
  std::vector<QuotaBucket::Part> parts;
  for (const QuotaTerms::Limit& limit : terms.limits) {
    auto found = assigner(limit, now);
    if (!found) return nullptr;
    parts.push_back({std::move(found), limit.cost});
  }
  return std::make_unique<QuotaBucket>(parts, times_, now);
}

// A state that is not as new is kept: otherwise the next one to come would have a fresh burst.
void Quotas::forget_unused(Instant now) {
  if (now < looked_over_at_ + between_looks) return;
  looked_over_at_ = now;
  std::erase_if(states_, [&](const auto& entry) {
    const auto& assigner = entry.second.assigner;
    return assigner.use_count() == 1 && assigner->is_as_new(now);
  });
}

QuotaStream::~QuotaStream() {
  const std::lock_guard guard(quotas_.mutex_);
  --quotas_.figures_.streams;
  quotas_.figures_.buckets -= entries_.size();
  entries_.clear();
}

void QuotaStream::report(std::string_view id, std::uint64_t requests, const TermsOf& terms_of, Instant now) {
  const std::lock_guard guard(quotas_.mutex_);
  const Quotas::Bounds& bounds = quotas_.bounds_;
  Quotas::Figures& figures = quotas_.figures_;
  std::string name(id);
  auto found = entries_.find(name);
  if (found == entries_.end()) {
    const bool has_room =
        id.size() <= bounds.id_bytes && entries_.size() < bounds.buckets_of_stream && figures.buckets < bounds.buckets;
    Entry entry;
    if (has_room) {
      entry.terms = terms_of(id);
      entry.bucket = quotas_.new_bucket(entry.terms, now);
    }
    if (!entry.bucket) {
      ++figures.refused;
      return;
    }
    found = entries_.emplace(std::move(name), std::move(entry)).first;
    ++figures.buckets;
  }
  found->second.bucket->report(requests, now);
}

void QuotaStream::match_again(const TermsOf& terms_of, Instant now) {
  const std::lock_guard guard(quotas_.mutex_);
  for (auto& [id, entry] : entries_) {
    if (auto terms = terms_of(id); terms != entry.terms) change(entry, std::move(terms), now);
  }
}

void QuotaStream::change(Entry& entry, QuotaTerms terms, Instant now) {
  if (is_like(entry.terms, terms)) {
    for (const QuotaTerms::Limit& limit : terms.limits) static_cast<void>(quotas_.assigner(limit, now));
  } else if (auto bucket = quotas_.new_bucket(terms, now)) {
    entry.bucket = std::move(bucket);
  } else {  // no room for another limit: it is denied
    entry.bucket = std::make_unique<QuotaBucket>(false, quotas_.times_, now);
  }
  entry.terms = std::move(terms);
}

void QuotaStream::collect(Instant now, const std::function<void(std::string_view, const QuotaAction&)>& say) {
  const std::lock_guard guard(quotas_.mutex_);
  quotas_.forget_unused(now);
  Quotas::Figures& figures = quotas_.figures_;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto action = at->second.bucket->next(now);
    if (action) {
      say(at->first, *action);
      ++(action->is_new ? figures.assignments : figures.renewals);
    }
    if (action && action->kind == QuotaAction::Kind::abandon) {
      at = entries_.erase(at);
      --figures.buckets;
    } else {
      ++at;
    }
  }
}

}  // namespace weir::frontend
