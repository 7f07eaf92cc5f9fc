#include "app/explanation_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "engine/outage_share.h"
#include "match/explain.h"
#include "policy/consistency.h"
#include "policy/words.h"
#include "text/json_writer.h"

namespace weir::app {
namespace {

using match::LimitExplanation;
using policy::CompiledLimit;
using text::JsonWriter;

const CompiledLimit& limit_of(const ExplainedQuery& explained, const LimitExplanation& part) {
  return explained.ruleset.limits[part.limit];
}

std::string caller_text(const ExplainedQuery& explained) {
  const match::Caller& caller = explained.explanation.caller;
  const std::string address = caller.address ? caller.address->text() : "unknown";
  std::vector<std::string> words;
  if (!caller.trusted) {
    words.push_back(address + ", which is not a trusted proxy");
  } else if (address == explained.query.ip) {
    words.push_back(address + ", a trusted proxy (no forwarded address)");
  } else {
    words.push_back(fmt::format("{}, forwarded by trusted proxy {}", address, explained.query.ip));
  }
  if (!caller.user.empty()) words.push_back("user " + printable(caller.user));
  if (!caller.api_key.empty()) words.push_back("api_key " + printable(caller.api_key));
  for (const auto& [name, value] : explained.explanation.identities) words.push_back(name + " " + printable(value));
  words.emplace_back(caller.authenticated ? "authenticated" : "anonymous");
  words.push_back("tier " + explained.explanation.tier +
                  (caller.unknown_tier ? " (the requested tier is unknown)" : ""));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string_view exact_text(policy::WhyExact why) {
  switch (why) {
    case policy::WhyExact::shadow:
      return "a limit in shadow mode has no slices";
    case policy::WhyExact::queue:
      return "a queue has no slices";
    case policy::WhyExact::log:
      return "a log has no slices";
    case policy::WhyExact::calendar:
      return "a calendar window has no slices";
    case policy::WhyExact::small:
      return "the limit is too small for slices";
    case policy::WhyExact::brief:
      return "its window, or the time to fill, is shorter than 10 times the minimum sync";
    case policy::WhyExact::no_allowance:
      return "the limit is below 4 per node";
    case policy::WhyExact::written:
    case policy::WhyExact::not_exact:
      break;
  }
  return "";
}

// Formats the number of nodes and its source: `64 nodes by default`.
std::string nodes_text(const NodeCount& nodes) {
  return fmt::format("{} {}", counted(nodes.nodes, "node"), printable(nodes.origin));
}

std::string approximate_text(const Limit& numbers, Duration sync, const NodeCount& nodes) {
  const policy::ApproximateBound bound = policy::approximate_bound(numbers, nodes.nodes);
  const std::string parts =
      fmt::format("{} + {} x {}", numbers.capacity(), counted(nodes.nodes, "node"), bound.allowance);
  const std::string per = policy::duration_text(std::chrono::ceil<std::chrono::milliseconds>(bound.per));
  std::string most;
  if (numbers.algorithm() == Algorithm::fixed_window) {
    most = fmt::format("at most {} in a window (limit {})", bound.max_admitted, parts);
  } else if (numbers.algorithm() == Algorithm::sliding_window_counter) {
    most = fmt::format("its estimate is at most {} (1.25 x limit {})", bound.max_admitted, numbers.capacity());
  } else {
    most = fmt::format("at most {0} at once (burst {1}), and {0} more in each {2}", bound.max_admitted, parts, per);
  }
  return fmt::format("approximate: {}, exchanged every {}; {}", most, policy::duration_text(sync), nodes_text(nodes));
}

// Describes the limit's effective consistency. Empty if the policy says exact.
std::string consistency_text(const CompiledLimit& limit, const Limit& numbers, const NodeCount& nodes) {
  const auto [kind, why] = policy::effective_consistency(limit, numbers, nodes.nodes);
  switch (kind) {
    case policy::Consistency::leased:
      return fmt::format("leased: never exceeded; slices of up to {} units for {}", policy::largest_slice(numbers),
                         policy::duration_text(limit.consistency.lease));
    case policy::Consistency::approximate:
      return approximate_text(numbers, policy::effective_sync(limit, numbers), nodes);
    case policy::Consistency::exact:
      break;
  }
  if (why == policy::WhyExact::written) return "";
  const std::string by = why == policy::WhyExact::no_allowance ? ", " + nodes_text(nodes) : "";
  return fmt::format("{}, but decided exactly: {}{}", name_of(limit.consistency.kind), exact_text(why), by);
}

// True if there is a shared store or the limit sets a fallback for one.
bool has_outage_note(const CompiledLimit& limit, const NodeCount& nodes) {
  return nodes.is_shared || limit.local_share || limit.on_store_failure != policy::OnStoreFailure::local;
}

// Returns further notes on a limit that covers the request.
std::vector<std::string> notes_on(const ExplainedQuery& explained, const LimitExplanation& part) {
  const CompiledLimit& limit = limit_of(explained, part);
  std::vector<std::string> notes;
  const std::size_t tier = explained.explanation.caller.tier;
  if (limit.mode == policy::Mode::shadow) notes.emplace_back("shadow: counted, never denies");
  if (part.numbers) {
    std::string consistency = consistency_text(limit, *part.numbers, explained.nodes);
    if (!consistency.empty()) notes.push_back(std::move(consistency));
    if (has_outage_note(limit, explained.nodes)) {
      notes.push_back("store unavailable: " + engine::outage_text(limit, *part.numbers, tier, explained.nodes.nodes));
    }
  }
  if (limit.algorithm == policy::PolicyAlgorithm::concurrency) {
    notes.emplace_back("held until released or its lease expires; without a receipt it is denied");
  }
  if (limit.usage == policy::Usage::reported)
    notes.emplace_back("usage is reported afterwards: requests in flight do not count");
  if (limit.usage == policy::Usage::reserved) notes.emplace_back("usage is reserved and settled later");
  if (limit.max_reserve) notes.push_back(fmt::format("one reservation takes at most {}", *limit.max_reserve));
  if (limit.candidate) {
    const auto algorithm = name_of(limit.candidate_algorithm.value_or(limit.algorithm));
    notes.push_back(
        fmt::format("candidate, not enforced: {}, {}", policy::numbers_text(*limit.candidate, tier), algorithm));
  }
  if (limit.warn_first) {
    notes.push_back(fmt::format("the first {} denials in {} are warnings only", limit.warn_first->count,
                                policy::duration_text(limit.warn_first->per)));
  }
  if (limit.penalty) {
    notes.push_back(fmt::format("{} denials within {} block for {}", limit.penalty->after,
                                policy::duration_text(limit.penalty->within),
                                policy::duration_text(limit.penalty->block)));
  }
  return notes;
}

constexpr std::size_t column_count = 5;
using Row = std::array<std::string, column_count>;

Row row_of(const ExplainedQuery& explained, const LimitExplanation& part) {
  const CompiledLimit& limit = limit_of(explained, part);
  return {printable(limit.name), policy::numbers_text(limit.live, explained.explanation.caller.tier),
          std::string(name_of(limit.algorithm)), printable(part.consumer), std::to_string(part.cost.units())};
}

std::string aligned(const Row& row, const std::array<std::size_t, column_count>& widths) {
  std::string line = " ";
  for (std::size_t i = 0; i + 1 < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
  return line + " " + row.back();
}

struct Named {
  std::string limit;
  std::string text;
};

// Lists limits under a title. Returns an empty text if there are none.
std::string listed(std::string_view title, const std::vector<Named>& all) {
  if (all.empty()) return {};
  std::size_t width = 0;
  for (const Named& each : all) width = std::max(width, each.limit.size());
  std::string text = fmt::format("\n{}:\n", title);
  for (const Named& each : all) text += fmt::format("  {:<{}}  {}\n", each.limit, width, each.text);
  return text;
}

std::vector<Named> bans_in(const ExplainedQuery& explained) {
  std::vector<Named> bans;
  for (const LimitExplanation& part : explained.explanation.limits) {
    const CompiledLimit& limit = limit_of(explained, part);
    const std::string_view watched = limit.mode == policy::Mode::shadow ? "; shadow: never denies" : "";
    if (part.bans) bans.push_back({printable(limit.name), fmt::format("{}{}", policy::banned_text, watched)});
  }
  return bans;
}

std::string covered_text(const ExplainedQuery& explained, const Paint& paint) {
  std::vector<Row> rows = {{"limit", "numbers", "algorithm", "consumer", "cost"}};
  std::vector<std::vector<std::string>> notes(1);
  for (const LimitExplanation& part : explained.explanation.limits) {
    if (!part.covers) continue;
    rows.push_back(row_of(explained, part));
    notes.push_back(notes_on(explained, part));
  }
  if (rows.size() == 1) return bans_in(explained).empty() ? "No limit covers it.\n" : "No other limit covers it.\n";
  std::array<std::size_t, column_count> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = fmt::format("Covered by {}{}:\n", counted(rows.size() - 1, "limit"),
                                 rows.size() > 2 ? ", evaluated together" : "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string line = aligned(rows[i], widths);
    text += (i == 0 ? paint.faint(line) : line) + "\n";
    for (const std::string& note : notes[i]) text += fmt::format("  {:<{}}  {}\n", "", widths[0], paint.faint(note));
  }
  return text;
}

std::string uncovered_text(const ExplainedQuery& explained) {
  std::vector<Named> others;
  for (const LimitExplanation& part : explained.explanation.limits) {
    if (part.covers || part.bans) continue;
    others.push_back({printable(limit_of(explained, part).name), printable(part.why_not)});
  }
  return listed("Not covered by", others);
}

const policy::CompiledLimit* limit_of(const ExplainedDescriptor& explained) {
  const bool has_limit = explained.found != nullptr && explained.found->limit.has_value();
  return has_limit ? &explained.ruleset.limits[*explained.found->limit] : nullptr;
}

std::string numbers_of(const policy::CompiledLimit& limit) {
  return limit.live.bans(0) ? "banned: always over" : policy::numbers_text(limit.live, 0);
}

struct DescriptorOutcome {
  bool admitted = true;  // false: denied regardless of usage
  std::string text;
};

// Returns the outcome as far as the policy alone decides it, in the terms of Envoy's rate limit service.
DescriptorOutcome outcome_of(const ExplainedDescriptor& explained) {
  const policy::CompiledLimit* const limit = limit_of(explained);
  if (explained.found == nullptr) return {true, "Admitted (OK): no limit covers it"};
  if (limit == nullptr) return {true, "Admitted (OK): it is unlimited"};
  if (explained.found->shadow_mode) return {true, fmt::format("Admitted (OK): {} is in shadow mode", limit->name)};
  if (limit->live.bans(0)) return {false, fmt::format("Denied (OVER_LIMIT): {} bans every request", limit->name)};
  return {true, fmt::format("Admitted (OK) unless {} is exceeded (OVER_LIMIT)", limit->name)};
}

std::vector<std::string> notes_on(const policy::Descriptor& descriptor) {
  std::vector<std::string> notes;
  if (descriptor.shadow_mode) notes.emplace_back("shadow: counted, never denies");
  if (descriptor.share_threshold) notes.emplace_back("share_threshold: values that match the pattern share a counter");
  if (descriptor.quota_mode)
    notes.emplace_back("quota_mode: a request is over the limit only if all of its quota descriptors are");
  if (!descriptor.replaces.empty()) notes.push_back(fmt::format("replaces {}", fmt::join(descriptor.replaces, ", ")));
  return notes;
}

}  // namespace

std::string explanation_text(const ExplainedQuery& explained, const Paint& paint) {
  const std::string request = fmt::format("{} {}", explained.query.method, explained.query.path);
  const match::ExplainedOutcome& outcome = explained.explanation.outcome;
  const std::string verdict = printable(outcome.text);
  std::string text = (outcome.admitted ? paint.green(verdict) : paint.red(verdict)) + "\n";
  text += paint.bold(printable(request)) + "\n";
  text += fmt::format("  route   {}\n", printable(explained.explanation.route));
  text += fmt::format("  caller  {}\n", caller_text(explained));
  if (const auto& ignored = explained.explanation.ignored_headers; !ignored.empty()) {
    const std::string names = printable(fmt::format("{}", fmt::join(ignored, ", ")));
    text += fmt::format("  ignored {}\n", paint.yellow(names + ": the sender is not a trusted proxy"));
  }
  return text + listed("Banned by", bans_in(explained)) + "\n" + covered_text(explained, paint) +
         uncovered_text(explained);
}

std::string explanation_json(const ExplainedQuery& explained) {
  return match::explanation_json({explained.ruleset, explained.query, explained.explanation, explained.nodes.nodes},
                                 JsonWriter::Layout::indented);
}

std::string descriptor_text(const ExplainedDescriptor& explained) {
  std::string text = printable(outcome_of(explained).text) + "\n";
  text += fmt::format("{}, {}\n\n", printable(explained.name.domain),
                      printable(match::describe_descriptor(explained.name.entries)));
  if (explained.found == nullptr) return text + "No limit covers it: it " + printable(explained.why_not) + "\n";
  const policy::CompiledLimit* const limit = limit_of(explained);
  if (limit == nullptr) return text + "It is unlimited.\n";
  text += fmt::format("Covered by {}: {}, {}\n", printable(limit->name), numbers_of(*limit), name_of(limit->algorithm));
  for (const std::string& note : notes_on(*explained.found)) text += "  " + printable(note) + "\n";
  return text;
}

std::string descriptor_json(const ExplainedDescriptor& explained) {
  text::JsonWriter json(JsonWriter::Layout::indented);
  json.begin_object();
  const DescriptorOutcome outcome = outcome_of(explained);
  json.object("outcome", "admitted", outcome.admitted, "text", outcome.text);
  json.field("domain", explained.name.domain);
  json.list("descriptor", explained.name.entries,
            [&](const auto& entry) { json.object({}, "key", entry.key, "value", entry.value); });
  const policy::CompiledLimit* const limit = limit_of(explained);
  json.field("covered", explained.found != nullptr);
  if (limit != nullptr) {
    json.fields("limit", limit->name, "numbers", numbers_of(*limit), "algorithm", name_of(limit->algorithm));
  } else {
    for (const auto* name : {"limit", "numbers", "algorithm"}) json.null(name);
  }
  json.fields("unlimited", explained.found != nullptr && explained.found->unlimited, "shadow",
              explained.found != nullptr && explained.found->shadow_mode);
  json.field_or_null("why_not", explained.why_not);
  json.end_object();
  return json.take();
}

}  // namespace weir::app
