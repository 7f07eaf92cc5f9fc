#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/environment.h"
#include "app/exit_code.h"
#include "app/files.h"
#include "app/load_policy.h"
#include "app/options.h"
#include "app/progress_bar.h"
#include "app/terminal.h"
#include "observe/consumer_names.h"
#include "observe/hash_key_file.h"
#include "policy/scalar.h"
#include "server/config.h"
#include "simulate/report_html.h"
#include "simulate/report_json.h"
#include "simulate/report_text.h"
#include "simulate/simulate.h"

namespace weir::app {
namespace {

using simulate::LogFormat;
using simulate::WholeSeconds;

enum class Format { text, json };

constexpr std::array<Word<Format>, 2> formats{{{"text", Format::text}, {"json", Format::json}}};
constexpr std::array<Word<std::optional<LogFormat>>, 2> log_formats{
    {{"combined", LogFormat::combined}, {"json", LogFormat::json}}};
constexpr std::array<Word<WholeSeconds>, 2> whole_seconds{
    {{"spread", WholeSeconds::spread}, {"stacked", WholeSeconds::stacked}}};

constexpr auto footer =
    "Replays a log on virtual time: what the policy would have admitted and denied, whom it would have\n"
    "hit hardest, what other numbers would do; with --candidate, what another policy would change.\n"
    "Nothing is enforced. Reads nginx's and Apache's combined logs and JSON lines, plain or gzip; - is the\n"
    "standard input.\n"
    "\n"
    "JSON lines of common servers are understood. For others, --field says where they keep what: time, ip,\n"
    "user, api_key, tier, method, target, request, status or header:NAME, as in time=ts.\n"
    "\n"
    "A log that tells whole seconds only leaves open what came when within them: spread evenly, a burst\n"
    "may be hidden; stacked on the second's start, there are more than there were.\n"
    "\n"
    "Examples:\n"
    "  weir simulate policy.yaml --log access.log --report report.html\n"
    "  weir simulate policy.yaml --candidate policy-next.yaml --log access.log.*.gz\n"
    "\n"
    "Exit codes: 0 all went well, 1 a policy does not load, or a log cannot be read to its end,\n"
    "2 the command line is wrong.";

struct Options {
  std::string file;
  std::vector<std::string> logs;
  std::string candidate;
  std::string report;
  bool shows_keys = false;
  std::string key_file;
  std::vector<std::string> fields;
  std::optional<LogFormat> log_format;
  std::string reorder = "5s";
  WholeSeconds whole_seconds = WholeSeconds::spread;
  Format format = Format::text;
};

std::string check_reorder(const std::string& text) {
  if (text == "0" || text == "0s") return {};
  const auto duration = policy::parse_duration(text);
  return duration ? "" : duration.error().message();
}

std::string check_field(const std::string& text) {
  const auto fields = simulate::FieldMap::with(std::vector{text});
  return fields ? "" : fields.error().message();
}

Result<simulate::Report> replay(const simulate::SimulateOptions& options) {
  ProgressBar bar("replaying");
  return simulate::simulate(options, [&](const simulate::SimulateProgress& progress) {
    bar.show({progress.log + 1, options.logs.size()}, progress.consumed, progress.total);
  });
}

// What was wrong with the log, but for lines that it did not understand: the report counts those.
int complain_about_log(const simulate::Report& report) {
  int code = ok;
  for (const std::string& problem : report.log.problems) code = give_up(problem);
  return code;
}

// The key of the log, so that consumers are called what the log and `weir hash` call them. Where there is none yet,
// one for this run.
Result<table::HashKey> hash_key(const std::string& file) {
  std::filesystem::path path = file;
  if (path.empty()) {
    const auto config = server_config("");
    const auto found = hash_key_file_by(config ? *config : server::default_config(environment()));
    if (found) path = *found;
  }
  std::error_code ignored;
  const bool is_there = !path.empty() && std::filesystem::exists(path, ignored);
  if (!is_there && !file.empty())
    return failure(file, "there is no key in this file; weir serve makes one at its start");
  return is_there ? observe::open_hash_key(path.string()) : table::HashKey::random();
}

int run(const Options& options) {
  simulate::SimulateOptions wanted;
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
  wanted.policy_name = options.file;
  wanted.candidate_name = options.candidate;
  wanted.logs = options.logs;
  wanted.log.format = options.log_format;
  auto fields = simulate::FieldMap::with(options.fields);
  if (!fields) return give_up(fields.error().message());
  wanted.log.fields = *std::move(fields);
  wanted.order.span = policy::parse_duration(options.reorder).value_or(Duration::zero());
  wanted.whole_seconds = options.whole_seconds;
  wanted.names = options.shows_keys ? simulate::Names::shown : simulate::Names::hashed;

  const auto report = replay(wanted);
  if (!report) return give_up(report.error().message());
  if (!options.report.empty()) {
    const auto written = write_file(options.report, simulate::report_html(*report), Existing::replaced);
    if (!written) return give_up(written.error().message());
  }
  const auto colour = Paint(stdout).is_on() ? simulate::Colour::on : simulate::Colour::off;
  print(options.format == Format::json ? simulate::report_json(*report) : simulate::report_text(*report, colour));
  return complain_about_log(*report);
}

CLI::Validator rule(std::string (*check)(const std::string&)) {
  return {[check](std::string& text) { return check(text); }, ""};
}

}  // namespace

Command simulate_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("simulate", "Replay an access log under a policy, or under two");
  line->footer(footer);
  add_file(*line, "FILE", options->file, "The policy; best before --log, which takes all that follows")->required();
  add_files(*line, "--log", options->logs, "Access logs, the oldest first; required")->required();
  add_file(*line, "--candidate", options->candidate, "Another policy, to be compared with it");
  add_file(*line, "--report", options->report, "Write a page with charts, replaced whole");
  add_choice(*line, "--format", options->format, formats, "What to print (default: text)");
  line->add_flag("--show-keys", options->shows_keys, "Name the consumers; otherwise they are hashed");
  add_file(*line, "--key-file", options->key_file, "The key of the hashes (default: log.key in the state directory)");
  add_choice(*line, "--log-format", options->log_format, log_formats, "What the log is (default: what it looks like)");
  add_texts(*line, "--field", options->fields, "FIELD=PATH", "Where a JSON line has what; may be repeated")
      ->check(rule(check_field));
  add_text(*line, "--reorder", options->reorder, "TIME", "How late a line may come (default: 5s)")
      ->check(rule(check_reorder));
  add_choice(*line, "--whole-seconds", options->whole_seconds, whole_seconds,
             "Where within a second requests come (default: spread)");
  return {line, [options] { return run(*options); }};
}

}  // namespace weir::app
