#include "simulate/simulate.h"

#include <algorithm>
#include <utility>

#include "simulate/display_text.h"
#include "simulate/replay.h"

namespace weir::simulate {
namespace {

constexpr std::uint64_t lines_between_progress = 100'000;

// Whether a consumer is known by a header that combined logs have at the end of a line.
bool needs_tail(const policy::Ruleset& ruleset) {
  const auto is_in_tail = [](const policy::KeyPart& part) {
    return part.kind == policy::KeyPart::Kind::header && (part.header == "user-agent" || part.header == "referer");
  };
  return std::ranges::any_of(ruleset.limits, [&](const policy::CompiledLimit& limit) {
    return std::ranges::any_of(limit.consumer_key.alternatives,
                               [&](const auto& parts) { return std::ranges::any_of(parts, is_in_tail); });
  });
}

Result<std::unique_ptr<PolicyRun>> run_of(const std::shared_ptr<const policy::Ruleset>& ruleset,
                                          const SimulateOptions& options) {
  if (!ruleset) return std::unique_ptr<PolicyRun>{};
  return PolicyRun::create(ruleset, {
                                        .engine = {options.memory_budget, options.hash_key},
                                        .names = options.names,
                                        .hashed_name = options.hashed_name,
                                        .most_consumers = options.most_consumers,
                                    });
}

// Excerpts of lines name people as keys do, so they are shown as keys are.
FaultTally::Example shown(FaultTally::Example example, Names names) {
  if (names == Names::hashed) example.excerpt.clear();
  return example;
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
  for (const FaultTally::Example& example : reader.faults().examples()) {
    if (report.examples.size() < FaultTally::most_examples) report.examples.push_back(shown(example, names));
  }
  if (const auto& error = reader.source().error()) report.problems.push_back(display_text(error->message()));
}

// Reads one log to its end, and says from time to time how far it is.
class Progressing {
 public:
  Progressing(const OnProgress& on_progress, SimulateProgress& progress) noexcept
      : on_progress_(on_progress), progress_(progress) {}

  void read(LogReader& reader, LineOrder& order, Replay& replay) {
    while (const LogEntry* entry = reader.next()) {
      order.push(*entry);
      while (const LogEntry* next = order.pop()) replay.add(*next);
      if (++progress_.entries % lines_between_progress == 0) tell(reader);
    }
    tell(reader);
  }

 private:
  void tell(const LogReader& reader) {
    if (!on_progress_) return;
    const Progress read = reader.source().progress();
    progress_.consumed = read.consumed;
    progress_.total = read.total;
    on_progress_(progress_);
  }

  const OnProgress& on_progress_;
  SimulateProgress& progress_;
};

}  // namespace

Result<Report> simulate(const SimulateOptions& options, const OnProgress& on_progress) {
  if (!options.policy) return failure("policy", "there is none to simulate");
  auto policy = run_of(options.policy, options);
  if (!policy) return tl::unexpected(policy.error());
  auto candidate = run_of(options.candidate, options);
  if (!candidate) return tl::unexpected(candidate.error());

  LogOptions log = options.log;
  if (needs_tail(*options.policy) || (options.candidate && needs_tail(*options.candidate))) log.tail = Tail::as_headers;
  Replay replay(std::move(*policy), std::move(*candidate));
  LineOrder order(options.order, options.whole_seconds);
  LogReport log_report;
  SimulateProgress progress;
  for (; progress.log < options.logs.size(); ++progress.log) {
    const std::string& path = options.logs[progress.log];
    auto reader = LogReader::open(path, log);
    if (!reader) return tl::unexpected(reader.error());
    Progressing(on_progress, progress).read(*reader, order, replay);
    add_to(log_report, *reader, path, options.names);
  }
  order.finish();
  while (const LogEntry* entry = order.pop()) replay.add(*entry);

  Report report = replay.finish();
  log_report.whole_second_entries = report.log.whole_second_entries;
  log_report.late = order.late();
  log_report.out_of_order = order.out_of_order();
  log_report.left_early = order.left_early();
  log_report.whole_seconds = options.whole_seconds;
  report.log = std::move(log_report);
  report.policy.name = options.policy_name;
  if (report.candidate) report.candidate->name = options.candidate_name;
  report.shows_keys = options.names == Names::shown;
  return report;
}

}  // namespace weir::simulate
