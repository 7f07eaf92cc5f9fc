#include "app/descriptor_report.h"

#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/terminal.h"
#include "policy/words.h"
#include "simulate/json_writer.h"

namespace weir::app {
namespace {

const policy::CompiledLimit* limit_of(const ExplainedDescriptor& explained) {
  const bool has_limit = explained.found != nullptr && explained.found->limit.has_value();
  return has_limit ? &explained.ruleset.limits[*explained.found->limit] : nullptr;
}

std::string numbers_of(const policy::CompiledLimit& limit) {
  return limit.live.bans(0) ? "banned: always over" : policy::numbers_text(limit.live, 0);
}

std::vector<std::string> notes_on(const policy::Descriptor& descriptor) {
  std::vector<std::string> notes;
  if (descriptor.shadow_mode) notes.emplace_back("shadow: counted, never denies");
  if (descriptor.share_threshold) notes.emplace_back("share_threshold: values that match the pattern share a counter");
  if (descriptor.quota_mode) notes.emplace_back("quota_mode: over only if all quota descriptors of a request are");
  if (!descriptor.replaces.empty()) notes.push_back(fmt::format("replaces {}", fmt::join(descriptor.replaces, ", ")));
  return notes;
}

}  // namespace

std::string descriptor_text(const ExplainedDescriptor& explained) {
  std::string text = fmt::format("{}, {}\n\n", printable(explained.name.domain),
                                 printable(engine::describe_descriptor(explained.name.entries)));
  if (explained.found == nullptr) return text + "No limit covers it: it " + printable(explained.why_not) + "\n";
  const policy::CompiledLimit* const limit = limit_of(explained);
  if (limit == nullptr) return text + "It is unlimited.\n";
  text += fmt::format("Covered by {}: {}, {}\n", printable(limit->name), numbers_of(*limit), name_of(limit->algorithm));
  for (const std::string& note : notes_on(*explained.found)) text += "  " + printable(note) + "\n";
  return text;
}

std::string descriptor_json(const ExplainedDescriptor& explained) {
  simulate::JsonWriter json;
  json.begin_object();
  json.field("domain", explained.name.domain);
  json.begin_array("descriptor");
  for (const engine::DescriptorEntry& entry : explained.name.entries) {
    json.begin_object();
    json.field("key", entry.key);
    json.field("value", entry.value);
    json.end_object();
  }
  json.end_array();
  const policy::CompiledLimit* const limit = limit_of(explained);
  json.field("covered", explained.found != nullptr);
  if (limit != nullptr) {
    json.field("limit", limit->name);
    json.field("numbers", numbers_of(*limit));
    json.field("algorithm", name_of(limit->algorithm));
  } else {
    for (const auto* name : {"limit", "numbers", "algorithm"}) json.null(name);
  }
  json.field("unlimited", explained.found != nullptr && explained.found->unlimited);
  json.field("shadow", explained.found != nullptr && explained.found->shadow_mode);
  if (explained.found == nullptr) {
    json.field("why_not", explained.why_not);
  } else {
    json.null("why_not");
  }
  json.end_object();
  return json.take();
}

}  // namespace weir::app
