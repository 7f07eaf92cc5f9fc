#include "redis/leased_load.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "redis/weir_load.h"
#include "weir/clock.h"

namespace weir::bench {
namespace {

constexpr std::uint32_t zipf_users = 100'000;
constexpr double zipf_exponent = 1.1;
constexpr std::size_t zipf_draws = 1'000'000;

std::vector<std::uint32_t> zipf() {
  std::vector<double> sums(zipf_users);
  double sum = 0;
  for (std::uint32_t i = 0; i < zipf_users; ++i) sums[i] = sum += std::pow(i + 1, -zipf_exponent);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> below(0, sum);
  std::vector<std::uint32_t> drawn(zipf_draws);
  for (std::uint32_t& user : drawn) {
    user = static_cast<std::uint32_t>(std::ranges::lower_bound(sums, below(random)) - sums.begin());
    user = std::min(user, zipf_users - 1);
  }
  return drawn;
}

// Spreads keys like a table's hash.
table::KeyHash hash_of(std::uint32_t user) noexcept {
  std::uint64_t bits = (user + 1) * 0x9E37'79B9'7F4A'7C15U;
  bits ^= bits >> 29;
  return {bits * 0xBF58'476D'1CE4'E5B9U};
}

}  // namespace

LeasedLoad::Batch::Batch(LeasedLoad& its_load) : load(its_load), groups(batch_size) {
  for (store::Group& group : groups) {
    group.callback = this;
    group.checks.resize(1);
    group.checks[0].states = &load.states_;
    group.checks[0].rule = &load.states_.rule;
    pointers.push_back(&group);
  }
}

LeasedLoad::LeasedLoad(net::Loop& loop, store::Store& inner, Kind kind)
    : loop_(loop),
      kind_(kind),
      rule_(rule_of(of_many)),
      leased_(inner),
      store_(kind == Kind::local ? static_cast<store::Store&>(local_) : leased_),
      drawn_(zipf()) {
  states_.rule = rule_;
  if (kind == Kind::local) {
    table_ = table::Table::create(rule_, std::size_t{64} << 20, {1, 2}).value();
    states_.table = table_.get();
    return;
  }
  store::SliceTable::Options options{.rule = rule_, .capacity = of_many.burst, .holder = store::SliceHolder::random()};
  options.holder->nodes = 1;
  if (kind == Kind::approximate) {
    options.approximate = {limit_of(of_many), std::chrono::milliseconds(100)};
    options.max_keys = 2 * zipf_users;
  }
  slices_ = std::make_shared<store::SliceTable>(std::move(options));
  terms_.slices = slices_.get();
  states_.shared = &terms_;
}

void LeasedLoad::begin(Work work, std::size_t under_way) {
  work_ = work;
  ending_ = false;
  on_slices_ = decided_ = 0;
  batches_.clear();
  for (std::size_t i = 0; i < std::max<std::size_t>(1, under_way / batch_size); ++i) {
    batches_.emplace_back(*this);
    ++under_way_;
  }
  for (Batch& batch : batches_) submit(batch);
}

std::uint32_t LeasedLoad::next_user() noexcept {
  if (work_ == Work::hot_key) return 0;
  position_ = (position_ + 1) % drawn_.size();
  return drawn_[position_];
}

void LeasedLoad::submit(Batch& batch) {
  batch.waiting = batch_size + 1;
  const Instant now = kind_ == Kind::local ? WallClock().now() : Instant{};
  for (store::Group& group : batch.groups) {
    prepare(group);
    group.now = now;
  }
  store_.submit(batch.pointers);
  if (--batch.waiting == 0) submit_later(batch);
}

void LeasedLoad::prepare(store::Group& group) {
  const std::uint32_t user = next_user();
  store::Check& check = group.checks[0];
  check.hash = hash_of(user);
  check.path = store::Path::store;
  if (kind_ == Kind::local) return;
  check.key = kind_ == Kind::leased ? "weir:{leased:" : "weir:{approximate:";
  check.key += work_ == Work::hot_key ? "hot" : std::to_string(user);
  check.key += "}:gcra";
}

std::vector<double> LeasedLoad::times_of(std::size_t decisions) {
  Batch one(*this);
  ending_ = true;
  std::vector<double> times;
  for (std::size_t i = 0; i < decisions; ++i) {
    store::Group& group = one.groups[0];
    prepare(group);
    one.waiting = 2;
    const auto began = std::chrono::steady_clock::now();
    if (kind_ == Kind::local) group.now = WallClock().now();
    store_.submit(group);
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count());
  }
  return times;
}

// After the loop has polled for replies.
void LeasedLoad::submit_later(Batch& batch) {
  if (ending_) {
    --under_way_;
    return;
  }
  loop_.post([&] { submit(batch); });
}

void LeasedLoad::Batch::answered(store::Group& group) {
  ++load.answered_;
  ++load.decided_;
  if (group.checks[0].path != store::Path::store) ++load.on_slices_;
  const bool may_be_denied = load.kind_ == Kind::approximate;
  if (group.failure != store::Failure::none || (!group.admitted && !may_be_denied)) ++load.failed_;
  if (!group.admitted && may_be_denied) ++load.denied_;
  if (--waiting == 0) load.submit_later(*this);
}

double LeasedLoad::share_denied() const noexcept {
  return answered_ == 0 ? 0 : static_cast<double>(denied_) / static_cast<double>(answered_);
}

double LeasedLoad::share_without_trip() const noexcept {
  return decided_ == 0 ? 0 : static_cast<double>(on_slices_) / static_cast<double>(decided_);
}

}  // namespace weir::bench
