#include "simulate/replay.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir::simulate {
namespace {

using engine::Query;
using engine::Verdict;

std::span<const engine::Header> headers_of(const LogEntry& entry, std::vector<engine::Header>& headers) {
  headers.clear();
  for (const Header& header : entry.headers) headers.push_back({header.name, header.value});
  return headers;
}

// The log tells what the server knew, so it is believed as a program that asks would be.
void fill(Query& query, const LogEntry& entry, std::vector<engine::Header>& headers) {
  query.method = entry.method;
  query.target = entry.target;
  query.ip = entry.ip;
  query.headers = headers_of(entry, headers);
  query.user = entry.user;
  query.api_key = entry.api_key;
  query.tier = entry.tier;
}

std::vector<Comparison::OfLimit> consumers_by_limit(const PolicyTally& tally) {
  std::vector<Comparison::OfLimit> by_limit;
  std::optional<std::uint32_t> last;
  for (const PolicyTally::Difference& difference : tally.differences()) {
    if (last != difference.limit) {
      by_limit.push_back({difference.limit_name, tally.consumers_of_differences(difference.limit)});
    }
    last = difference.limit;
  }
  return by_limit;
}

}  // namespace

Result<std::unique_ptr<PolicyRun>> PolicyRun::create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                     const Options& options) {
  auto engine = engine::Engine::create(std::move(ruleset), options.engine);
  if (!engine) return tl::unexpected(engine.error());
  return std::unique_ptr<PolicyRun>(new PolicyRun(std::move(*engine), options));
}

PolicyRun::PolicyRun(std::unique_ptr<engine::Engine> engine, const Options& options)
    : engine_(std::move(engine)),
      plan_(engine_->plan()),
      judge_(engine_->new_judge()),
      tally_(*plan_, options.names, options.hashed_name, options.most_consumers) {}

std::span<const Verdict> PolicyRun::judge(std::span<const Query> queries, std::span<const Instant> times) {
  const std::span verdicts = std::span(verdicts_).first(queries.size());
  judge_->judge(queries, times, verdicts);
  tally_.add(queries, verdicts, times);
  return verdicts;
}

Replay::Replay(std::unique_ptr<PolicyRun> policy, std::unique_ptr<PolicyRun> candidate) noexcept
    : policy_(std::move(policy)), candidate_(std::move(candidate)) {}

void Replay::add(const LogEntry& entry) {
  fill(queries_[count_], entry, headers_[count_]);
  times_[count_] = entry.at;
  if (entry.grain == Grain::second) ++whole_second_entries_;
  if (!stretch_) stretch_ = Stretch{entry.at, entry.at};
  stretch_->last = entry.at;
  rate_.add(std::chrono::floor<std::chrono::seconds>(entry.at).time_since_epoch().count());
  if (++count_ == replay_batch) judge_batch();
}

void Replay::judge_batch() {
  const std::span queries = std::span(queries_).first(count_);
  const std::span times = std::span(times_).first(count_);
  const std::span<const Verdict> live = policy_->judge(queries, times);
  if (candidate_) compare(queries, live, candidate_->judge(queries, times));
  count_ = 0;
}

void Replay::compare(std::span<const Query> queries, std::span<const Verdict> live,
                     std::span<const Verdict> candidate) {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (live[i].admitted == candidate[i].admitted) {
      ++(live[i].admitted ? both_admit_ : both_deny_);
    } else if (live[i].admitted) {
      ++newly_denied_;
      candidate_->tally().add_difference(queries[i], candidate[i]);
    } else {
      ++newly_admitted_;
      policy_->tally().add_difference(queries[i], live[i]);
    }
  }
}

Comparison Replay::comparison() const {
  Comparison comparison;
  comparison.both_admit = both_admit_;
  comparison.both_deny = both_deny_;
  comparison.newly_denied = newly_denied_;
  comparison.newly_admitted = newly_admitted_;
  std::map<std::pair<std::string, std::string>, Comparison::Row> rows;
  const auto row_of = [&](const PolicyTally::Difference& difference) -> Comparison::Row& {
    Comparison::Row& row = rows[{difference.limit_name, difference.route}];
    row.limit = difference.limit_name;
    row.route = difference.route;
    return row;
  };
  for (const auto& difference : candidate_->tally().differences()) row_of(difference).newly_denied = difference.count;
  for (const auto& difference : policy_->tally().differences()) row_of(difference).newly_admitted = difference.count;
  for (auto& [key, row] : rows) comparison.rows.push_back(std::move(row));
  std::ranges::stable_sort(comparison.rows, std::ranges::greater{},
                           [](const Comparison::Row& row) { return row.newly_denied + row.newly_admitted; });
  comparison.newly_denied_by = consumers_by_limit(candidate_->tally());
  comparison.newly_admitted_by = consumers_by_limit(policy_->tally());
  return comparison;
}

Report Replay::finish() {
  if (count_ > 0) judge_batch();
  const Stretch stretch = stretch_.value_or(Stretch{});
  Report report;
  report.first = stretch.first;
  report.last = stretch.last;
  report.pace = pace_of(rate_, stretch);
  report.log.whole_second_entries = whole_second_entries_;
  report.policy = policy_->report(stretch);
  if (candidate_) {
    report.candidate = candidate_->report(stretch);
    report.comparison = comparison();
  }
  return report;
}

}  // namespace weir::simulate
