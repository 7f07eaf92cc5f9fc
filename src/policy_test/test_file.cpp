#include "policy_test/test_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "policy/route_template.h"
#include "policy_test/request_text.h"
#include "text/address.h"
#include "text/date.h"
#include "text/yaml/document.h"
#include "text/yaml/map_reader.h"
#include "text/yaml/scalar.h"

namespace weir::policy_test {
namespace {

using text::Form;
using text::in_quotes;
using text::MapReader;
using text::Node;
using text::Problems;

Result<std::string> parse_text(std::string_view text) {
  return std::string(text);
}

// Unlike text::parse_duration, accepts zero, and microseconds, in which Weir counts.
Result<Duration> parse_time(std::string_view text) {
  if (text == "0" || text == "0s") return Duration::zero();
  if (text.ends_with("us")) {
    const auto micros = text::parse_whole(text.substr(0, text.size() - 2));
    if (micros) return Duration{static_cast<std::int64_t>(*micros)};
  }
  return text::parse_duration(text);
}

Result<std::optional<Duration>> parse_wait(std::string_view text) {
  if (text == "never") return std::optional<Duration>();
  const auto wait = parse_time(text);
  if (!wait) return failure(in_quotes(text), "not a wait: write 30s, 200ms or never");
  return std::optional<Duration>(*wait);
}

Result<Reason> parse_reason(std::string_view text) {
  std::vector<std::string> names;
  for (auto reason = Reason::uncovered; reason < Reason::no_memory;
       reason = static_cast<Reason>(static_cast<unsigned>(reason) + 1)) {
    if (name_of(reason) == text) return reason;
    names.emplace_back(name_of(reason));
  }
  return failure(in_quotes(text), "unknown reason" + text::did_you_mean(text, names));
}

Result<std::string> parse_address(std::string_view text) {
  if (text.find(repetition_mark) == std::string_view::npos && !text::Address::parse_endpoint(text)) {
    return failure(in_quotes(text), "not an address: write 192.0.2.7 or 2001:db8::7");
  }
  return std::string(text);
}

Result<RequestLine> parse_request(std::string_view text) {
  auto line = parse_request_line(text);
  if (!line) return failure(in_quotes(text), "not a method and a path: write POST /login");
  return *std::move(line);
}

Result<Instant> parse_start(std::string_view text) {
  const auto stamp = text::parse_rfc3339(text);
  if (!stamp) return failure(in_quotes(text), "not a time: write 2026-01-31T23:59:00Z");
  return stamp->at;
}

// --- expectations

std::optional<std::vector<Written<std::string>>> read_names(MapReader& map, std::string_view field) {
  const Node* const node = map.find(field);
  if (node == nullptr) return {};
  std::vector<Written<std::string>> names;
  if (node->is_scalar()) {
    names.push_back({node->text, node->at});
    return names;
  }
  if (!node->is_sequence()) {
    map.problems().error(node->at, "{} must be a name or a list of names", field);
    return {};
  }
  for (const Node& item : node->items) {
    if (const std::string* name = text::single_value(item, field, Form::text, map.problems())) {
      names.push_back({*name, item.at});
    }
  }
  return names;
}

std::vector<HeaderExpectation> read_header_expectations(MapReader& map) {
  std::vector<HeaderExpectation> headers;
  const Node* const node = map.find("headers");
  if (node == nullptr) return headers;
  if (!node->is_map()) {
    map.problems().error(node->at, "headers must be a map: write { Retry-After: 60 }");
    return headers;
  }
  for (const text::Member& member : node->members) {
    if (member.value.is_null() || (member.value.is_scalar() && !member.value.quoted && member.value.text == "absent")) {
      headers.push_back({member.key.at, member.key.value, {}});
    } else if (const auto* value = text::single_value(member.value, member.key.value, Form::text, map.problems())) {
      headers.push_back({member.key.at, member.key.value, *value});
    }
  }
  return headers;
}

std::optional<Expectation::Verdict> verdict_word(std::string_view word) noexcept {
  if (word == "admitted") return Expectation::Verdict::admitted;
  if (word == "denied") return Expectation::Verdict::denied;
  return {};
}

Expectation read_expectation_map(const Node& node, Problems& problems) {
  MapReader map(node, "expect", problems);
  Expectation expect;
  expect.at = node.at;
  if (const auto verdict = map.one_of("verdict", {"admitted", "denied"})) {
    expect.verdict = static_cast<Expectation::Verdict>(verdict->value);
  }
  expect.admitted = map.whole("admitted");
  expect.denied = map.whole("denied");
  expect.denied_by = map.value("denied_by", Form::text, parse_text);
  expect.limit = map.value("limit", Form::text, parse_text);
  expect.reason = map.value("reason", Form::text, parse_reason);
  expect.status = map.whole("status", {100, 599});
  expect.retry_after = map.value("retry_after", Form::text, parse_wait);
  expect.remaining = map.whole("remaining");
  expect.delay = map.value("delay", Form::text, parse_time);
  expect.covered_by = read_names(map, "covered_by");
  expect.would_deny = read_names(map, "would_deny");
  expect.headers = read_header_expectations(map);
  static const std::vector<std::string> results{"unanswered",      "done",  "repeated",
                                                "id_not_recorded", "ended", "unknown"};
  if (const auto result = map.one_of("result", results)) {
    expect.result = Written<std::string>{results[result->value], result->at};
  }
  map.means("allowed", "admitted");
  map.means("limited_by", "denied_by");
  map.finish();
  return expect;
}

std::optional<Expectation> read_expectation(const Node& node, Problems& problems) {
  if (node.is_map()) return read_expectation_map(node, problems);
  const auto verdict = node.is_scalar() ? verdict_word(node.text) : std::nullopt;
  if (!verdict) {
    problems.error(node.at, "expect must be admitted, denied or a map of expectations, like { denied_by: LIMIT }");
    return {};
  }
  Expectation expect;
  expect.at = node.at;
  expect.verdict = verdict;
  return expect;
}

// --- requests

void read_headers(MapReader& map, RequestSpec& request) {
  const Node* const node = map.find("headers");
  if (node == nullptr) return;
  if (!node->is_map()) {
    map.problems().error(node->at, "headers must be a map: write { X-Login-Name: alice }");
    return;
  }
  for (const text::Member& member : node->members) {
    const auto name = text::parse_header_name(member.key.value);
    if (!name) {
      text::report(name.error(), "headers", member.key.at, map.problems());
      continue;
    }
    const auto* value = text::single_value(member.value, member.key.value, Form::text, map.problems());
    if (value == nullptr) continue;
    const auto same = [&](const auto& header) { return base::lower(header.first) == *name; };
    std::erase_if(request.headers, same);  // a step's header replaces that of its test
    request.headers.emplace_back(member.key.value, *value);
  }
}

// Reads the fields that describe a caller, which tests and steps have. `request` has the values of the test.
void read_caller(MapReader& map, RequestSpec& request) {
  if (auto ip = map.value("ip", Form::text, parse_address)) request.ip = std::move(ip->value);
  if (auto user = map.value("user", Form::text, parse_text)) request.user = std::move(user->value);
  if (auto key = map.value("api_key", Form::text, parse_text)) request.api_key = std::move(key->value);
  if (auto tier = map.value("tier", Form::text, text::parse_name)) request.tier = std::move(tier->value);
  if (const auto cost = map.whole("cost")) request.cost = cost->value;
  if (const auto wait = map.value("max_wait", Form::text, parse_time)) request.max_wait = wait->value;
  read_headers(map, request);
}

constexpr std::array<std::string_view, 7> action_names{"request", "reserve", "report", "settle",
                                                       "release", "extend",  "store"};

// The field that says what a step does. Reports a step with none or several.
struct FoundAction {
  Step::Action action;
  const Node* node;
};
std::optional<FoundAction> find_action(MapReader& map, const Node& step) {
  std::optional<FoundAction> found;
  for (std::size_t i = 0; i < action_names.size(); ++i) {
    const Node* const node = map.find(action_names[i]);
    if (node == nullptr) continue;
    if (found) {
      map.problems().error(node->at, "a step has one action, but this one has both `{}` and `{}`: write two steps",
                           action_names[static_cast<std::size_t>(found->action)], action_names[i]);
      return {};
    }
    found = FoundAction{static_cast<Step::Action>(i), node};
  }
  if (!found && step.is_map()) {
    map.problems().error(step.at,
                         "step has no action: write request, reserve, report, settle, release, extend or store");
  }
  return found;
}

void read_asking_step(MapReader& map, const Node& node, Step& step) {
  const std::string_view field = action_names[static_cast<std::size_t>(step.action)];
  if (auto line = text::read_value(node, field, Form::text, parse_request, map.problems())) {
    step.request.method = std::move(line->value.method);
    step.request.path = std::move(line->value.path);
  }
  read_caller(map, step.request);
  if (const auto times = map.whole("times", {1, max_times})) step.times = times->value;
  if (const auto every = map.value("every", Form::text, parse_time)) step.every = every->value;
  if (step.action != Step::Action::reserve) return;
  if (auto as = map.value("as", Form::text, text::parse_name)) step.receipt = std::move(as->value);
}

void read_receipt_step(MapReader& map, const Node& node, const std::vector<std::string>& receipts, Step& step) {
  const std::string_view field = action_names[static_cast<std::size_t>(step.action)];
  const auto name = text::read_value(node, field, Form::text, text::parse_name, map.problems());
  if (!name) return;
  step.receipt = name->value;
  if (std::ranges::find(receipts, step.receipt) == receipts.end()) {
    map.problems().error(node.at, "{} {}: unknown receipt{}; a reserve names it with `as`", field,
                         in_quotes(step.receipt), text::did_you_mean(step.receipt, receipts));
  }
  if (step.action != Step::Action::settle) return;
  if (const auto actual = map.whole("actual")) step.actual = actual->value;
  if (!step.actual) map.problems().error(node.at, "settle: missing `actual`, the cost to settle; or use release");
}

void read_store_step(MapReader& map, const Node& node, Step& step) {
  const bool available = node.is_scalar() && node.text == "available";
  if (!available && !(node.is_scalar() && node.text == "unavailable")) {
    map.problems().error(node.at, "store must be unavailable or available");
  }
  step.store_is_available = available;
}

std::optional<Step> read_step(const Node& node, const RequestSpec& caller, std::vector<std::string>& receipts,
                              Problems& problems) {
  MapReader map(node, "a step", problems);
  if (!map.is_map()) return {};
  Step step;
  step.position = node.at;
  step.request = caller;
  if (const auto at = map.value("at", Form::text, parse_time)) step.at = at->value;
  if (const auto after = map.value("after", Form::text, parse_time)) step.after = after->value;
  if (step.at && step.after) problems.error(node.at, "at and after exclude each other: at counts from the start");
  if (const auto found = find_action(map, node)) {
    step.action = found->action;
    if (step.asks()) {
      read_asking_step(map, *found->node, step);
    } else if (step.action == Step::Action::store) {
      read_store_step(map, *found->node, step);
    } else {
      read_receipt_step(map, *found->node, receipts, step);
    }
  }
  if (!step.receipt.empty() && step.action == Step::Action::reserve) receipts.push_back(step.receipt);
  if (const Node* expect = map.find("expect")) step.expect = read_expectation(*expect, problems);
  map.finish();
  return step;
}

// --- tests

void check_order(const Scenario& scenario, Problems& problems) {
  Duration now{};
  for (const Step& step : scenario.steps) {
    if (step.at && *step.at < now) {
      problems.error(step.position, "at lies before the end of the previous step: time does not run backwards");
      return;
    }
    now = step.at.value_or(now + step.after.value_or(Duration::zero()));
    now += step.every * static_cast<std::int64_t>(step.times - 1);
    if (now > Limit::max_duration) {
      problems.error(step.position, "a test lasts ten years at most");
      return;
    }
  }
}

std::optional<Scenario> read_scenario(const Node& node, Problems& problems) {
  MapReader map(node, "a test", problems);
  if (!map.is_map()) return {};
  Scenario scenario;
  if (map.require("name") != nullptr) {
    if (auto name = map.value("name", Form::text, parse_text)) scenario.name = *std::move(name);
  }
  if (const auto start = map.value("start", Form::text, parse_start)) scenario.start = start->value;
  RequestSpec caller;
  read_caller(map, caller);
  const Node* const steps = map.require("steps", "steps: [{ request: GET /, expect: admitted }]");
  map.finish();
  const auto* items = steps == nullptr ? nullptr : text::items_of(*steps, "steps", problems);
  if (items == nullptr) return {};
  if (items->size() > max_steps) {
    problems.error(steps->at, "too many steps: {}, at most {}", items->size(), max_steps);
    return {};
  }
  std::vector<std::string> receipts;
  for (const Node& item : *items) {
    if (auto step = read_step(item, caller, receipts, problems)) scenario.steps.push_back(*std::move(step));
  }
  if (std::ranges::none_of(scenario.steps, [](const Step& step) { return step.expect.has_value(); })) {
    problems.error(node.at, "test {} expects nothing: add expect to a step", in_quotes(scenario.name.value));
  }
  check_order(scenario, problems);
  return scenario;
}

std::optional<BoundSpec> read_bound(const Node& node, Problems& problems) {
  MapReader map(node, "a bound", problems);
  if (!map.is_map()) return {};
  std::optional<BoundSpec> bound;
  if (map.require("at_most", "at_most: 20 per 1min for POST /login by one ip") != nullptr) {
    if (auto read = map.value("at_most", Form::text, parse_bound)) {
      bound = std::move(read->value);
      bound->at = read->at;
    }
  }
  const auto cost = map.whole("cost", {1, text::max_number});
  if (bound && cost) bound->cost = cost->value;
  map.finish();
  return bound;
}

void read_policies(MapReader& map, const std::string& path, TestFile& file) {
  const Node* const node = map.find("policy");
  if (node == nullptr) {
    const std::string policy = default_policy(path);
    if (policy.empty()) {
      map.problems().error({}, "policy is missing: write policy: FILE, or name this file NAME{}", test_suffix);
    } else {
      file.policies.push_back({policy.substr(policy.rfind('/') + 1), {}});
    }
    return;
  }
  if (auto policies = read_names(map, "policy")) file.policies = *std::move(policies);
}

template <class Read, class To>
void read_list(MapReader& map, std::string_view field, Read read, To& to) {
  const Node* const node = map.find(field);
  if (node == nullptr) return;
  const auto* items = text::items_of(*node, field, map.problems());
  if (items == nullptr) return;
  if (items->size() > max_tests) {
    map.problems().error(node->at, "too many {}: {}, at most {}", field, items->size(), max_tests);
    return;
  }
  for (const Node& item : *items) {
    if (auto one = read(item, map.problems())) to.push_back(*std::move(one));
  }
}

void check_names(const TestFile& file, Problems& problems) {
  std::vector<std::string_view> names;
  for (const Scenario& scenario : file.scenarios) {
    const std::string_view name = scenario.name.value;
    if (std::ranges::find(names, name) != names.end()) {
      problems.error(scenario.name.at, "duplicate test {}", in_quotes(name));
    }
    names.push_back(name);
  }
}

TestFile read_root(const Node& root, const std::string& path, Problems& problems) {
  MapReader map(root, "a test file", problems);
  TestFile file;
  file.path = path;
  if (!map.is_map()) return file;
  const auto version = map.whole("version");
  if (map.require("version", "version: 1") != nullptr && version && version->value != 1) {
    problems.error(version->at, "version {}: unknown; write version: 1", version->value);
  }
  read_policies(map, path, file);
  if (const auto nodes = map.whole("nodes", {1, 4096})) file.nodes = nodes->value;
  read_list(map, "tests", read_scenario, file.scenarios);
  read_list(map, "bounds", read_bound, file.bounds);
  map.means("scenarios", "tests");
  map.finish();
  if (file.scenarios.empty() && file.bounds.empty() && !problems.any_error()) {
    problems.error(root.at, "test file is empty: write tests or bounds");
  }
  check_names(file, problems);
  return file;
}

}  // namespace

bool Scenario::uses_outage() const noexcept {
  return std::ranges::any_of(steps, [](const Step& step) { return step.action == Step::Action::store; });
}

std::string default_policy(const std::string& test_path) {
  const std::string_view path = test_path;
  if (!path.ends_with(test_suffix) || path.size() == test_suffix.size()) return {};
  return std::string(path.substr(0, path.size() - test_suffix.size())) + ".yaml";
}

LoadedTests read_tests(std::string_view text, const std::string& path) {
  Problems problems(path);
  LoadedTests loaded;
  if (const auto root = text::parse_yaml(text, problems)) loaded.file = read_root(*root, path, problems);
  if (problems.any_error()) loaded.file.reset();
  loaded.problems = problems.sorted();
  return loaded;
}

LoadedTests load_tests(const std::filesystem::path& path) {
  const auto text = text::read_text_file(path);
  if (text) return read_tests(*text, path.string());
  Problems problems(path.string());
  problems.error({}, text.error().what);
  return {{}, problems.sorted()};
}

}  // namespace weir::policy_test
