#include "frontend/rls/quotas.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>

namespace weir::frontend {
namespace {

constexpr std::uint64_t max_nodes = 10'000;
constexpr Duration scan_interval = std::chrono::seconds(10);
// Changing the numbers of this many holders is cheap.
constexpr std::size_t few_holders = 64;

// True if the terms have the same states and costs; the numbers may differ.
bool is_like(const QuotaTerms& one, const QuotaTerms& other) {
  const auto is_same = [](const QuotaTerms::Limit& a, const QuotaTerms::Limit& b) {
    return a.state == b.state && a.cost == b.cost;
  };
  return !one.limits.empty() && std::ranges::equal(one.limits, other.limits, is_same);
}

}  // namespace

// Unlocks the mutex between batches. States created then already use the new number of nodes.
void Quotas::set_nodes(std::uint64_t nodes, Instant now) {
  std::unique_lock guard(mutex_);
  const std::uint64_t set = std::clamp<std::uint64_t>(nodes, 1, max_nodes);
  if (std::exchange(nodes_, set) == set) return;
  is_changing_nodes_ = true;
  std::size_t changed = 0;
  for (auto& state : states_) {
    apply_numbers(state, now);
    if (++changed % max_scanned != 0) continue;
    guard.unlock();
    guard.lock();
  }
  is_changing_nodes_ = false;
}

std::unique_ptr<QuotaStream> Quotas::open() {
  const std::lock_guard guard(mutex_);
  release_batch();
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
  const auto found = by_name_.find(limit.state);
  if (found != by_name_.end()) {
    const auto state = found->second;
    if (state->whole != limit.numbers) {
      state->whole = limit.numbers;
      renumber(state, now);
    }
    return state->assigner;
  }
  if (states_.size() >= bounds_.states) return nullptr;
  auto made = std::make_shared<QuotaAssigner>(own_part(limit.numbers), now);
  states_.push_back({limit.state, limit.numbers, made});
  by_name_.emplace(states_.back().name, std::prev(states_.end()));
  return made;
}

void Quotas::renumber(States::iterator state, Instant now) {
  if (state->assigner->holders() <= few_holders || now >= state->changed_at + min_change_interval) {
    apply_numbers(*state, now);
  } else if (!std::exchange(state->is_postponed, true)) {
    postponed_.push_back(state);
  }
}

void Quotas::apply_numbers(State& state, Instant now) {
  state.changed_at = now;
  ++figures_.changes;
  state.assigner->change(own_part(state.whole), now);
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

void Quotas::tidy(Instant now) {
  if (!postponed_.empty() && now >= postponed_.front()->changed_at + min_change_interval) {
    State& state = *postponed_.front();
    postponed_.pop_front();
    state.is_postponed = false;
    apply_numbers(state, now);
  }
  release_batch();
  forget_unused(now);
}

// Only pristine states are erased. Otherwise the next holder would get a new burst.
void Quotas::forget_unused(Instant now) {
  if (is_changing_nodes_) return;
  if (next_scanned_ == states_.end()) {
    if (now < scan_started_at_ + scan_interval) return;
    scan_started_at_ = now;
    next_scanned_ = states_.begin();
  }
  for (std::size_t i = 0; i < max_scanned && next_scanned_ != states_.end(); ++i) {
    const State& state = *next_scanned_;
    if (!state.is_postponed && state.assigner.use_count() == 1 && state.assigner->is_pristine(now)) {
      by_name_.erase(state.name);
      next_scanned_ = states_.erase(next_scanned_);
    } else {
      ++next_scanned_;
    }
  }
}

void Quotas::release_batch() {
  for (std::size_t i = 0; i < max_released && !ended_.empty(); ++i) {
    Entries& entries = ended_.front();
    entries.erase(entries.begin());
    --figures_.buckets;
    if (entries.empty()) ended_.pop_front();
  }
}

bool Quotas::release_some() {
  const std::lock_guard guard(mutex_);
  release_batch();
  return !ended_.empty();
}

QuotaStream::~QuotaStream() {
  const std::lock_guard guard(quotas_.mutex_);
  --quotas_.figures_.streams;
  if (!entries_.empty()) quotas_.ended_.push_back(std::move(entries_));
  quotas_.release_batch();
}

void QuotaStream::report(std::string_view id, std::uint64_t requests, const TermsOf& terms_of, Instant now) {
  auto found = entries_.find(id);
  if (found == entries_.end()) {
    found = add(id, terms_of, now);
    if (found == entries_.end()) return;
  }
  if (!std::exchange(found->second.is_reported, true)) reported_.push_back(found);
  const std::lock_guard guard(quotas_.mutex_);
  found->second.bucket->report(requests, now);
}

// Calls `terms_of` without the mutex.
Quotas::Entries::iterator QuotaStream::add(std::string_view id, const TermsOf& terms_of, Instant now) {
  const Quotas::Bounds& bounds = quotas_.bounds_;
  Quotas::Figures& figures = quotas_.figures_;
  {
    const std::lock_guard guard(quotas_.mutex_);
    if (figures.buckets >= bounds.buckets) quotas_.release_batch();
    const bool has_room =
        id.size() <= bounds.id_bytes && entries_.size() < bounds.buckets_of_stream && figures.buckets < bounds.buckets;
    if (!has_room) {
      ++figures.refused;
      return entries_.end();
    }
    ++figures.buckets;
  }
  Entry entry{.terms = terms_of(id), .bucket = nullptr, .matched_by = policy_};
  {
    const std::lock_guard guard(quotas_.mutex_);
    entry.bucket = quotas_.new_bucket(entry.terms, now);
    if (!entry.bucket) {
      ++figures.refused;
      --figures.buckets;
      return entries_.end();
    }
  }
  return entries_.emplace(id, std::move(entry)).first;
}

void QuotaStream::begin_round() {
  if (next_ == entries_.end()) next_ = entries_.begin();
}

std::size_t QuotaStream::collect(Instant now, const TermsOf& terms_of, const Send& send, std::size_t max_visits) {
  {
    const std::lock_guard guard(quotas_.mutex_);
    quotas_.tidy(now);
  }
  for (; max_visits > 0 && has_more(); --max_visits) visit(next_to_visit(), terms_of, send, now);
  return max_visits;
}

// Reported buckets come first, so that visiting a bucket of the round cannot erase one that is still in reported_.
Quotas::Entries::iterator QuotaStream::next_to_visit() {
  if (reported_.empty()) return next_++;
  const auto at = reported_.front();
  reported_.pop_front();
  at->second.is_reported = false;
  return at;
}

void QuotaStream::visit(Entries::iterator at, const TermsOf& terms_of, const Send& send, Instant now) {
  auto& [id, entry] = *at;
  if (entry.matched_by != policy_) match(id, entry, terms_of, now);
  std::optional<QuotaAction> action;
  {
    const std::lock_guard guard(quotas_.mutex_);
    action = entry.bucket->next(now);
    if (!action) return;
    Quotas::Figures& figures = quotas_.figures_;
    ++(action->is_new ? figures.assignments : figures.renewals);
    if (action->kind == QuotaAction::Kind::abandon) {
      entry.bucket.reset();
      --figures.buckets;
    }
  }
  send(id, *action);
  if (entry.bucket) return;
  if (next_ == at) ++next_;
  entries_.erase(at);
}

void QuotaStream::match(std::string_view id, Entry& entry, const TermsOf& terms_of, Instant now) {
  entry.matched_by = policy_;
  QuotaTerms terms = terms_of(id);
  if (terms == entry.terms) return;
  const std::lock_guard guard(quotas_.mutex_);
  if (is_like(entry.terms, terms)) {
    for (const QuotaTerms::Limit& limit : terms.limits) static_cast<void>(quotas_.assigner(limit, now));
  } else if (auto bucket = quotas_.new_bucket(terms, now)) {
    entry.bucket = std::move(bucket);
  } else {  // too many states: deny
    entry.bucket = std::make_unique<QuotaBucket>(false, quotas_.times_, now);
  }
  entry.terms = std::move(terms);
}

}  // namespace weir::frontend
