#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/server_config.h"
#include "app/terminal.h"
#include "base/number.h"
#include "observe/consumer_names.h"
#include "policy/vocabulary.h"
#include "server/config.h"
#include "simulate/nodes.h"
#include "simulate/simulate.h"
#include "text/yaml/scalar.h"

namespace weir::app {
namespace {

using simulate::LogFormat;
using simulate::NodesOptions;
using simulate::Spread;
using simulate::Stamped;
using simulate::WholeSeconds;

constexpr std::array<Word<Format>, 2> simulate_formats{{{"text", Format::text}, {"json", Format::json}}};
constexpr std::array<Word<std::optional<LogFormat>>, 2> log_formats{
    {{"combined", LogFormat::combined}, {"json", LogFormat::json}}};
constexpr std::array<Word<WholeSeconds>, 2> whole_second_words{
    {{"spread", WholeSeconds::spread}, {"stacked", WholeSeconds::stacked}}};

constexpr std::array<Word<Stamped>, 2> stamped_words{{{"start", Stamped::start}, {"end", Stamped::end}}};

constexpr std::array<Word<Spread>, 2> spread_words{{{"round-robin", Spread::round_robin}, {"client", Spread::client}}};

constexpr auto simulate_footer =
    "Replays a log in virtual time. Shows what the policy would have admitted and denied, the most denied\n"
    "consumers, and the effect of other numbers; with --candidate, also the differences of another policy.\n"
    "Nothing is enforced. Reads combined logs of nginx and Apache and JSON lines, plain or gzip; - is the\n"
    "standard input.\n"
    "\n"
    "JSON lines of common servers are recognized. For others, --field maps fields: time, ip, user, api_key,\n"
    "tier, method, target, request, status or header:NAME, as in time=ts; cost, which replaces the default\n"
    "of 1 in limits that set no cost; and the duration of the request: duration in seconds, duration_ms,\n"
    "duration_us or duration_ns. A value with a unit, as in 20ms, is read in that unit.\n"
    "\n"
    "A limit with numbers for tiers needs the tier of each request, and a limit keyed by user needs its\n"
    "user. If no line has them, the report starts with a note. --tiers is a file with a line user,tier for\n"
    "each user, for lines that name a user but no tier; put a user with a comma in quotes.\n"
    "\n"
    "With --estimate the requests are also replayed as if costs were unknown until a request ends: each\n"
    "reserves the estimate and settles its cost after its duration, or at once if the log has none. max is\n"
    "the largest cost so far of the same route, 'p95 of 100' the 95th percentile of its last 100 costs, a\n"
    "number is constant. The report shows what each estimate wasted and overspent, compared with checking\n"
    "at cost 0 and reporting afterwards.\n"
    "\n"
    "If a log has whole seconds only, --whole-seconds sets when requests arrive within them: spread evenly,\n"
    "which may hide a burst, or stacked at the start of the second, which may add bursts.\n"
    "\n"
    "With --nodes the requests are also distributed over nodes that share the limits of FILE through one\n"
    "store. The report compares their decisions with one exact store, and counts messages to the store and\n"
    "decisions without a round trip. Nodes take turns, as with most load balancers; --spread client keeps a\n"
    "client on one node. Leases are those of the policy, by default 1s.\n"
    "\n"
    "Examples:\n"
    "  weir simulate policy.yaml --log access.log --report report.html\n"
    "  weir simulate policy.yaml --candidate policy-next.yaml --log access.log.*.gz\n"
    "  weir simulate policy.yaml --nodes 8 --consistency leased --log access.log\n"
    "  weir simulate policy.yaml --field cost=usage.total_tokens --field duration_ms=took \\\n"
    "    --estimate max --estimate 'p95 of 100' --estimate 4096 --log requests.jsonl\n"
    "\n"
    "Exit codes: 0 success, 1 a policy does not load, or a log is unreadable or has no readable line, 2\n"
    "usage error.";

struct SimulateCommand {
  std::string file;
  std::vector<std::string> logs;
  std::string candidate;
  std::string report;
  bool shows_keys = false;
  std::string key_file;
  std::vector<std::string> fields;
  std::optional<LogFormat> log_format;
  std::string tiers;
  std::string reorder = "5s";
  WholeSeconds whole_seconds = WholeSeconds::spread;
  Stamped stamped = Stamped::start;
  std::vector<std::string> estimates;
  Format format = Format::text;
  std::string nodes;
  Spread spread = Spread::round_robin;
  std::string round_trip = "1ms";
  std::optional<policy::Consistency> consistency;
};

Result<Duration> read_duration(const std::string& text) {
  if (text == "0" || text == "0s") return Duration::zero();
  return text::parse_duration(text);
}

std::string check_reorder(const std::string& text) {
  const auto duration = read_duration(text);
  return duration ? "" : duration.error().message();
}

std::optional<std::size_t> read_nodes(const std::string& text) {
  const auto nodes = base::parse_number<std::size_t>(text);
  return nodes && *nodes > 0 && *nodes <= NodesOptions::max_nodes ? nodes : std::nullopt;
}

std::string check_nodes(const std::string& text) {
  if (read_nodes(text)) return {};
  return fmt::format("`{}` is not a number of nodes, from 1 to {}", text, NodesOptions::max_nodes);
}

std::string check_round_trip(const std::string& text) {
  const Duration round_trip = read_duration(text).value_or(Duration::max());
  if (round_trip <= NodesOptions::max_round_trip) return {};
  return fmt::format("`{}` is not a time from 0 to 10s, like 1ms", text);
}

std::string check_field(const std::string& text) {
  const auto fields = simulate::FieldMap::with(std::vector{text});
  return fields ? "" : fields.error().message();
}

std::string check_estimate(const std::string& text) {
  const auto estimate = simulate::Estimate::read(text);
  return estimate ? "" : estimate.error().message();
}

// Validates combinations of options that are valid by themselves.
void check_estimates(const SimulateCommand& options) {
  if (options.estimates.empty()) return;
  const auto reject = [](const std::string& problem) {
    throw CLI::ParseError(problem, CLI::ExitCodes::ValidationError);
  };
  if (options.estimates.size() > simulate::SimulateOptions::max_estimates) {
    reject(fmt::format("--estimate: at most {} are allowed", simulate::SimulateOptions::max_estimates));
  }
  const auto fields = simulate::FieldMap::with(options.fields);
  if (fields && !fields->has_cost()) reject("--estimate: missing --field cost=PATH, the cost of a request");
}

// Shows progress on the standard error if that is a terminal. The destructor erases it.
class ProgressBar {
 public:
  ProgressBar() = default;
  ~ProgressBar() {
    if (is_drawn_) std::fputs("\r\x1b[K", stderr);
  }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws at most ten times per second. Without a total it only counts.
  void show(const simulate::SimulateProgress& progress, std::size_t logs) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_shown_ || now < next_) return;
    next_ = now + period;
    is_drawn_ = true;
    const std::string label = logs > 1 ? fmt::format("replaying {}/{}", progress.log + 1, logs) : "replaying";
    const auto done = static_cast<double>(progress.consumed);
    const auto total = static_cast<double>(progress.total.value_or(0));
    if (total > 0) {
      constexpr std::size_t width = 40;
      const double share = std::min(1.0, done / total);
      const std::string full(static_cast<std::size_t>(share * static_cast<double>(width)), '#');
      fmt::print(stderr, "\r{} [{:.<{}}] {:3.0f} %  {:.0f} MB\x1b[K", label, full, width, 100 * share, done / 1e6);
    } else {
      fmt::print(stderr, "\r{} {:.0f} MB\x1b[K", label, done / 1e6);
    }
  }

 private:
  static constexpr std::chrono::milliseconds period{100};

  bool is_shown_ = is_terminal(stderr);
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + period;
};

// Reports problems of the log. Unreadable lines are only counted in the report, unless all lines are unreadable.
int report_log_problems(const simulate::Report& report) {
  int code = ok;
  const simulate::LogReport& log = report.log;
  for (const std::string& problem : log.problems) code = give_up(problem);
  if (log.entries > 0) return code;
  if (log.lines == 0) return give_up("no request replayed: the log is empty");
  if (log.not_understood == 0) return give_up("no readable line in the log: all are too long");
  const auto most = std::ranges::max_element(log.faults) - log.faults.begin();
  return give_up(fmt::format("no readable line in the log: {}; check --log-format, or add a --field",
                             simulate::describe(static_cast<simulate::Fault>(most))));
}

// Reads the tiers of users, which one of the policies must define. Returns null without a file.
Result<std::shared_ptr<const simulate::TiersFile>> read_tiers(const std::string& path,
                                                              const simulate::SimulateOptions& wanted) {
  if (path.empty()) return nullptr;
  const auto text = read_file(path, simulate::TiersFile::max_bytes);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::string> known = wanted.policy->tiers.names;
  if (wanted.candidate) {
    for (const std::string& name : wanted.candidate->tiers.names) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  auto tiers = simulate::TiersFile::read(*text, path, known);
  if (!tiers) return tl::unexpected(tiers.error());
  return std::make_shared<const simulate::TiersFile>(*std::move(tiers));
}

// Returns the key of the server's log, so that hashes match the log and `weir hash`, or a random key if there is none
// yet.
Result<table::HashKey> hash_key(const std::string& file) {
  std::filesystem::path path = file;
  if (path.empty()) {
    const auto config = server_config("");
    const auto found = hash_key_file_by(config ? *config : server::default_config(environment()));
    if (found) path = *found;
  }
  std::error_code ignored;
  const bool exists = !path.empty() && std::filesystem::exists(path, ignored);
  if (!exists && !file.empty()) return failure(file, "missing key; weir serve creates it at its first start");
  return exists ? observe::open_hash_key(path.string()) : table::HashKey::random();
}

int replay(const SimulateCommand& options) {
  simulate::SimulateOptions wanted;
  auto fields = simulate::FieldMap::with(options.fields);
  if (!fields) return give_up(fields.error().message());
  for (const std::string& text : options.estimates) wanted.estimates.push_back(*simulate::Estimate::read(text));
  const auto key = hash_key(options.key_file);
  if (!key) return give_up(key.error().message());
  wanted.hash_key = *key;
  wanted.hashed_name = [names = observe::ConsumerNames(*key)](std::string_view consumer) {
    std::string name;
    names.append(name, consumer);
    return name;
  };
  wanted.policy = load_policy(options.file);
  if (!options.candidate.empty()) wanted.candidate = load_policy(options.candidate);
  if (!wanted.policy || (!options.candidate.empty() && !wanted.candidate)) return failed;
  auto tiers = read_tiers(options.tiers, wanted);
  if (!tiers) return give_up(tiers.error().message());
  wanted.tiers = *std::move(tiers);
  wanted.policy_name = options.file;
  wanted.candidate_name = options.candidate;
  wanted.logs = options.logs;
  wanted.log.format = options.log_format;
  wanted.log.fields = *std::move(fields);
  wanted.order.span = read_duration(options.reorder).value_or(Duration::zero());
  wanted.nodes = {.nodes = read_nodes(options.nodes).value_or(0),
                  .spread = options.spread,
                  .round_trip = read_duration(options.round_trip).value_or(Duration::zero()),
                  .consistency = options.consistency};
  wanted.whole_seconds = options.whole_seconds;
  wanted.stamped = options.stamped;
  wanted.names = options.shows_keys ? simulate::Names::shown : simulate::Names::hashed;

  const auto report = [&] {
    ProgressBar bar;
    return simulate::simulate(wanted, [&](const auto& progress) { bar.show(progress, wanted.logs.size()); });
  }();
  if (!report) return give_up(report.error().message());
  if (!options.report.empty()) {
    const auto written = write_file(options.report, simulate::report_html(*report), Existing::replaced);
    if (!written) return give_up(written.error().message());
  }
  const auto colour = Paint(stdout).is_on() ? simulate::Colour::on : simulate::Colour::off;
  print(options.format == Format::json ? simulate::report_json(*report) : simulate::report_text(*report, colour));
  return report_log_problems(*report);
}

}  // namespace

Command simulate_command(CLI::App& weir) {
  auto options = std::make_shared<SimulateCommand>();
  auto* line = weir.add_subcommand("simulate", "Replay an access log under a policy, or under two");
  line->footer(simulate_footer);
  add_file(*line, "FILE", options->file, "Policy; write it before --log, which takes all values that follow")
      ->required();
  add_files(*line, "--log", options->logs, "Access logs, oldest first; required")->required();
  add_file(*line, "--candidate", options->candidate, "Another policy to compare");
  add_file(*line, "--report", options->report, "Write an HTML page with charts to this file");
  add_choice(*line, "--format", options->format, simulate_formats, "Output format (default: text)");
  line->add_flag("--show-keys", options->shows_keys, "Show consumers in clear text instead of hashes");
  add_file(*line, "--key-file", options->key_file, "Key of the hashes (default: log.key in the state directory)");
  add_choice(*line, "--log-format", options->log_format, log_formats, "Format of the log (default: detected)");
  add_check(add_texts(*line, "--field", options->fields, "FIELD=PATH", "Maps a field of JSON lines; may be repeated"),
            check_field);
  add_file(*line, "--tiers", options->tiers, "Tier of each user, for lines without one: user,tier");
  add_check(add_text(*line, "--reorder", options->reorder, "TIME", "Maximum delay of a line (default: 5s)"),
            check_reorder);
  add_choice(*line, "--whole-seconds", options->whole_seconds, whole_second_words,
             "When requests arrive within a second (default: spread)");
  add_choice(*line, "--stamped", options->stamped, stamped_words,
             "Whether a line has the start or end of its request (default: start)");
  add_check(add_texts(*line, "--estimate", options->estimates, "ESTIMATE",
                      "Estimate to reserve: max, 4096 or 'p95 of 100'; may be repeated"),
            check_estimate);
  auto* nodes =
      add_text(*line, "--nodes", options->nodes, "N", "Number of nodes that share the limits through one store");
  add_check(nodes, check_nodes);
  static constexpr std::array kinds{policy::Consistency::exact, policy::Consistency::leased,
                                    policy::Consistency::approximate};
  std::vector<std::string> consistencies;
  for (const auto kind : kinds) consistencies.emplace_back(policy::name_of(kind));
  add_words(*line, "--consistency", std::move(consistencies), "Consistency of every limit (default: from the policy)",
            [options](std::size_t i) { options->consistency = kinds[i]; })
      ->needs(nodes);
  add_choice(*line, "--spread", options->spread, spread_words,
             "How requests are distributed over nodes (default: round-robin)")
      ->needs(nodes);
  auto* round_trip =
      add_text(*line, "--round-trip", options->round_trip, "TIME", "Round trip to the store (default: 1ms)");
  add_check(round_trip, check_round_trip);
  round_trip->needs(nodes);
  line->callback([options] {
    std::vector<std::string> inputs = options->logs;
    inputs.insert(inputs.end(), {options->file, options->candidate});
    check_standard_input(inputs);
    check_estimates(*options);
  });
  return {line, [options] { return replay(*options); }};
}

}  // namespace weir::app
