#include "simulate/simulate.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "engine/engine.h"
#include "engine/evaluation_batch.h"
#include "engine/receipt.h"
#include "engine/verdict.h"
#include "simulate/estimate_run.h"
#include "simulate/report_words.h"
#include "text/address.h"
#include "weir/query.h"

namespace weir::simulate {
namespace {

using engine::Query;
using engine::Verdict;

constexpr std::uint64_t lines_between_progress = 100'000;

// Requests are decided in batches, so that states can be prefetched. The result is the same as deciding them one by
// one.
constexpr std::size_t replay_batch = LineOrder::max_lent;

// The duration of a request, if the log has it.
using Length = std::optional<Duration>;

// A policy with its engine and statistics. With concurrency limits, a request holds its units for its duration in the
// log, or else for the lease of the limit.
class PolicyRun {
 public:
  // Returns null if there is no ruleset.
  static Result<std::unique_ptr<PolicyRun>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                   const SimulateOptions& options) {
    if (!ruleset) return std::unique_ptr<PolicyRun>{};
    auto engine = engine::Engine::create(std::move(ruleset), {options.memory_budget, options.hash_key});
    if (!engine) return tl::unexpected(engine.error());
    return std::unique_ptr<PolicyRun>(new PolicyRun(std::move(*engine), options));
  }

  // The verdicts are valid until the next call.
  std::span<const Verdict> evaluate(std::span<const Query> queries, std::span<const Instant> times,
                                    std::span<const Length> lengths) {
    const std::span verdicts = std::span(verdicts_).first(queries.size());
    if (holding_) {
      hold(queries, times, lengths);
    } else {
      evaluator_->evaluate(queries, times, verdicts);
    }
    tally_.add(queries, verdicts, times);
    return verdicts;
  }

  [[nodiscard]] bool has_holds() const noexcept { return holding_ != nullptr; }

  [[nodiscard]] PolicyTally& tally() noexcept { return tally_; }
  [[nodiscard]] PolicyReport report(const Stretch& stretch) const { return tally_.report(*engine_, stretch); }

 private:
  PolicyRun(std::unique_ptr<engine::Engine> engine, const SimulateOptions& options)
      : engine_(std::move(engine)),
        bindings_(engine_->bindings()),
        evaluator_(engine_->new_evaluator()),
        tally_(*bindings_, options.names, options.hashed_name, options.max_consumers) {
    if (simulate::has_holds(bindings_->ruleset())) holding_ = evaluator_->new_batch();
  }

  void hold(std::span<const Query> queries, std::span<const Instant> times, std::span<const Length> lengths) {
    holding_->clear();
    for (std::size_t i = 0; i < queries.size(); ++i) {
      holding_->add(queries[i], {.action = engine::ReceiptRequest::Action::hold,
                                 .id = {1, ++held_},
                                 .lasts = lengths[i].value_or(Duration::zero())});
    }
    (void)holding_->submit(times);
    for (std::size_t i = 0; i < queries.size(); ++i) verdicts_[i] = holding_->verdict(i);
  }

  std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<const engine::Bindings> bindings_;
  std::unique_ptr<engine::Evaluator> evaluator_;
  engine::EvaluationBatchPtr holding_;  // null without concurrency limits
  std::uint64_t held_ = 0;
  PolicyTally tally_;
  std::array<Verdict, replay_batch> verdicts_;
};

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

// Replays the entries of a log, in order of time, under one or two policies.
class Replay {
 public:
  using Estimates = std::vector<std::unique_ptr<EstimateRun>>;

  // `candidate` and `nodes` may be null.
  Replay(std::unique_ptr<PolicyRun> policy, std::unique_ptr<PolicyRun> candidate, std::unique_ptr<Nodes> nodes,
         Estimates estimates) noexcept
      : policy_(std::move(policy)),
        candidate_(std::move(candidate)),
        nodes_(std::move(nodes)),
        estimates_(std::move(estimates)) {}

  // The entry must stay valid until `replay_batch` - 1 others have been added, as those of LineOrder do.
  void add(const LogEntry& entry);

  [[nodiscard]] bool has_too_many_states() const noexcept { return nodes_ && nodes_->has_too_many(); }
  [[nodiscard]] bool has_too_many_in_flight() const noexcept {
    return std::ranges::any_of(estimates_, &EstimateRun::has_too_many);
  }

  // Must be called after the last entry. Returns the report without its log part.
  [[nodiscard]] Report finish();

 private:
  void evaluate_batch();
  void compare(std::span<const Verdict> live, std::span<const Verdict> candidate);
  void write_rows();

  std::unique_ptr<PolicyRun> policy_;
  std::unique_ptr<PolicyRun> candidate_;
  std::unique_ptr<Nodes> nodes_;
  Estimates estimates_;

  std::array<Query, replay_batch> queries_;
  std::array<Instant, replay_batch> times_{};
  std::array<Length, replay_batch> lengths_{};
  std::array<std::vector<Header>, replay_batch> headers_;
  std::size_t count_ = 0;

  std::optional<Stretch> stretch_;
  RatePeak rate_;
  std::uint64_t whole_second_entries_ = 0;
  std::uint64_t without_cost_ = 0;
  std::uint64_t without_length_ = 0;
  Comparison comparison_;
};

void Replay::add(const LogEntry& entry) {
  std::vector<Header>& headers = headers_[count_];
  headers.assign(entry.headers.begin(), entry.headers.end());
  // The log is trusted, because it contains only what the server knew.
  Query& query = queries_[count_];
  query.method = entry.method;
  query.path = entry.target;
  query.ip = text::Address::parse_endpoint(entry.ip) ? entry.ip : std::string_view();  // a log may have host names
  query.headers = headers;
  query.user = entry.user;
  query.api_key = entry.api_key;
  query.tier = entry.tier;
  query.cost = entry.cost;
  query.wants_more_after = false;
  times_[count_] = entry.at;
  lengths_[count_] = entry.duration;
  if (!entry.cost) ++without_cost_;
  if (!entry.duration) ++without_length_;
  if (entry.grain == Grain::second) ++whole_second_entries_;
  if (!stretch_) stretch_ = Stretch{entry.at, entry.at};
  stretch_->last = entry.at;
  rate_.add(second_of(entry.at));
  if (++count_ == replay_batch) evaluate_batch();
}

void Replay::evaluate_batch() {
  const std::span queries = std::span(queries_).first(count_);
  const std::span times = std::span(times_).first(count_);
  const std::span lengths = std::span(lengths_).first(count_);
  const std::span<const Verdict> live = policy_->evaluate(queries, times, lengths);
  if (candidate_) compare(live, candidate_->evaluate(queries, times, lengths));
  for (const auto& estimate : estimates_) {
    for (std::size_t i = 0; i < count_; ++i) estimate->add(queries[i], times[i], lengths[i], live[i]);
  }
  if (nodes_) {
    for (std::size_t i = 0; i < count_; ++i) nodes_->add(queries[i], times[i], live[i]);
  }
  count_ = 0;
}

void Replay::compare(std::span<const Verdict> live, std::span<const Verdict> candidate) {
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i].admitted == candidate[i].admitted) {
      ++(live[i].admitted ? comparison_.both_admit : comparison_.both_deny);
    } else if (live[i].admitted) {
      ++comparison_.newly_denied;
      candidate_->tally().add_difference(queries_[i], candidate[i]);
    } else {
      ++comparison_.newly_admitted;
      policy_->tally().add_difference(queries_[i], live[i]);
    }
  }
}

void Replay::write_rows() {
  std::map<std::pair<std::string, std::string>, Comparison::Row> rows;
  const auto row_of = [&](const PolicyTally::Difference& difference) -> Comparison::Row& {
    Comparison::Row& row = rows[{difference.limit_name, difference.route}];
    row.limit = difference.limit_name;
    row.route = difference.route;
    return row;
  };
  for (const auto& difference : candidate_->tally().differences()) row_of(difference).newly_denied = difference.count;
  for (const auto& difference : policy_->tally().differences()) row_of(difference).newly_admitted = difference.count;
  for (auto& [key, row] : rows) comparison_.rows.push_back(std::move(row));
  std::ranges::stable_sort(comparison_.rows, std::ranges::greater{},
                           [](const Comparison::Row& row) { return row.newly_denied + row.newly_admitted; });
  comparison_.newly_denied_by = consumers_by_limit(candidate_->tally());
  comparison_.newly_admitted_by = consumers_by_limit(policy_->tally());
}

Report Replay::finish() {
  if (count_ > 0) evaluate_batch();
  const Stretch stretch = stretch_.value_or(Stretch{});
  Report report;
  report.first = stretch.first;
  report.last = stretch.last;
  report.pace = pace_of(rate_, stretch);
  report.log.whole_second_entries = whole_second_entries_;
  report.log.without_cost = without_cost_;
  if (policy_->has_holds() || (candidate_ && candidate_->has_holds())) report.log.held_for_lease = without_length_;
  if (!estimates_.empty()) report.log.settled_at_once = without_length_;
  report.policy = policy_->report(stretch);
  if (candidate_) {
    write_rows();
    report.candidate = candidate_->report(stretch);
    report.comparison = std::move(comparison_);
  }
  if (nodes_) report.nodes = nodes_->finish(stretch.seconds());
  for (const auto& estimate : estimates_) report.estimates.push_back(estimate->finish());
  return report;
}

// True if a consumer key uses a header at the end of combined lines.
bool needs_tail(const policy::Ruleset& ruleset) {
  const auto is_in_tail = [](const policy::KeyPart& part) {
    return part.kind == policy::KeyPart::Kind::header && (part.name == "user-agent" || part.name == "referer");
  };
  return std::ranges::any_of(ruleset.limits, [&](const policy::CompiledLimit& limit) {
    return std::ranges::any_of(limit.consumer_key.alternatives,
                               [&](const auto& parts) { return std::ranges::any_of(parts, is_in_tail); });
  });
}

void add_to(LogReport& report, const LogReader& reader, const std::string& path, Names names) {
  report.files.push_back(display_text(path));
  if (!report.format) report.format = reader.format();
  report.lines += reader.source().line_number();
  report.entries += reader.entries();
  report.not_understood += reader.faults().total();
  report.overlong_lines += reader.source().overlong_lines();
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    report.faults[kind] += reader.faults().count(static_cast<Fault>(kind));
  }
  for (FaultTally::Example example : reader.faults().examples()) {
    if (report.examples.size() == FaultTally::max_examples) break;
    if (names == Names::hashed) example.excerpt.clear();  // excerpts can identify clients
    report.examples.push_back(std::move(example));
  }
  if (const auto& error = reader.source().error()) report.problems.push_back(display_text(error->message()));
}

Result<std::unique_ptr<Nodes>> nodes_of(const SimulateOptions& options) {
  if (options.nodes.nodes == 0) return std::unique_ptr<Nodes>{};
  if (has_holds(*options.policy)) {
    return failure("nodes",
                   "concurrency limits cannot be simulated on several nodes, where they are always exact; remove "
                   "--nodes or these limits");
  }
  return Nodes::create(options.policy, options.nodes, options.memory_budget, options.max_consumers);
}

Result<Replay::Estimates> estimates_of(const SimulateOptions& options) {
  Replay::Estimates runs;
  if (options.estimates.empty()) return runs;
  if (options.estimates.size() > SimulateOptions::max_estimates) {
    return failure("estimates", std::to_string(options.estimates.size()) + " is too many; at most " +
                                    std::to_string(SimulateOptions::max_estimates));
  }
  std::vector<Estimate> all{Estimate{}};  // the default Estimate is `report`
  all.insert(all.end(), options.estimates.begin(), options.estimates.end());
  for (const Estimate& estimate : all) {
    auto run = EstimateRun::create(options.policy, estimate, options.memory_budget, options.hash_key);
    if (!run) return tl::unexpected(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

bool needs_durations(const SimulateOptions& options) {
  return !options.estimates.empty() || options.stamped == Stamped::end || has_holds(*options.policy) ||
         (options.candidate && has_holds(*options.candidate));
}

// Sets the tier of an entry without one from its user.
void set_tier(const TiersFile& tiers, LogEntry& entry, LogReport& report) noexcept {
  if (!entry.tier.empty() || entry.user.empty()) return;
  entry.tier = tiers.tier_of(entry.user);
  ++(entry.tier.empty() ? report.unlisted_users : report.tiers_from_file);
}

void move_to_start(LogEntry& entry) noexcept {
  if (!entry.duration) return;
  entry.at -= *entry.duration;
  entry.grain = Grain::finer;
}

// Adds the counts of the log readers, and the names of the logs.
Report complete(Report report, LogReport log, const SimulateOptions& options) {
  log.whole_second_entries = report.log.whole_second_entries;
  if (options.log.fields.has_cost()) log.without_cost = report.log.without_cost;
  log.held_for_lease = report.log.held_for_lease;
  log.settled_at_once = report.log.settled_at_once;
  report.log = std::move(log);
  report.policy.name = options.policy_name;
  if (report.candidate) report.candidate->name = options.candidate_name;
  report.shows_keys = options.names == Names::shown;
  return report;
}

}  // namespace

Result<Report> simulate(const SimulateOptions& options, const OnProgress& on_progress) {
  if (!options.policy) return failure("policy", "missing");
  auto policy = PolicyRun::create(options.policy, options);
  if (!policy) return tl::unexpected(policy.error());
  auto candidate = PolicyRun::create(options.candidate, options);
  if (!candidate) return tl::unexpected(candidate.error());
  auto nodes = nodes_of(options);
  if (!nodes) return tl::unexpected(nodes.error());
  auto estimates = estimates_of(options);
  if (!estimates) return tl::unexpected(estimates.error());

  LogOptions log = options.log;
  if (needs_tail(*options.policy) || (options.candidate && needs_tail(*options.candidate))) log.tail = Tail::as_headers;
  if (!needs_durations(options)) log.fields.skip_durations();
  Replay replay(std::move(*policy), std::move(*candidate), std::move(*nodes), std::move(*estimates));
  const auto add = [&](const LogEntry& entry) { replay.add(entry); };
  LineOrder order(options.order, options.whole_seconds);
  LogReport log_report;
  LogNeeds needs;
  needs.add(*options.policy);
  if (options.candidate) needs.add(*options.candidate);
  SimulateProgress progress;
  for (; progress.log < options.logs.size(); ++progress.log) {
    const std::string& path = options.logs[progress.log];
    auto reader = LogReader::open(path, log);
    if (!reader) return tl::unexpected(reader.error());
    const auto report_progress = [&] {
      const Progress read = reader->source().progress();
      progress.consumed = read.consumed;
      progress.total = read.total;
      if (on_progress) on_progress(progress);
    };
    while (LogEntry* entry = reader->next()) {
      if (options.stamped == Stamped::end) move_to_start(*entry);
      if (options.tiers) set_tier(*options.tiers, *entry, log_report);
      needs.see(*entry);
      order.push(*entry);
      drain(order, add);
      if (++progress.entries % lines_between_progress != 0) continue;
      report_progress();
      if (replay.has_too_many_states()) {
        return failure("nodes", "out of memory for the consumers of the log; use a part of it");
      }
      if (replay.has_too_many_in_flight()) {
        return failure("estimate", "more than " + std::to_string(EstimateRun::max_in_flight) +
                                       " requests are in flight at once; check the unit of --field duration");
      }
    }
    report_progress();
    add_to(log_report, *reader, path, options.names);
  }
  order.finish();
  drain(order, add);

  if (log_report.entries > 0) log_report.gaps = needs.gaps();
  log_report.default_tier = options.policy->tiers.names.front();
  log_report.late = order.late();
  log_report.out_of_order = order.out_of_order();
  log_report.left_early = order.left_early();
  log_report.whole_seconds = options.whole_seconds;
  return complete(replay.finish(), std::move(log_report), options);
}

}  // namespace weir::simulate
