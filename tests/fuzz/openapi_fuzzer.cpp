// Parses any bytes as an OpenAPI document: the limits of an accepted document cover something, and only what the
// document describes, and the generated policy loads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_set>

#include "policy/load.h"
#include "policy/read/openapi/operations.h"
#include "policy/read/openapi/reader.h"
#include "policy/tools/starter.h"

namespace {

using namespace weir::policy;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

void check_limit(const LimitSpec& limit, const std::unordered_set<std::string>& known) {
  const std::string& name = limit.name.value;
  require(!name.empty() && std::all_of(name.begin(), name.end(), is_printable));
  require(!limit.routes.empty());
  std::unordered_set<std::string> seen;
  for (const auto& route : limit.routes) {
    const std::string key = match_key(route.value);
    require(known.contains(key) && seen.insert(key).second);
    const auto again = parse_route(route.value.text());
    require(again && same_route(*again, route.value));
  }
}

void check_document(const std::string& text) {
  Problems problems("fuzz");
  const auto root = weir::text::parse_yaml(text, problems);
  if (!root) return;
  const auto policy = openapi::read(*root, problems);
  if (!policy || problems.any_error()) return;
  std::unordered_set<std::string> known;
  for (const RouteTemplate& route : policy->labels) require(known.insert(match_key(route)).second);
  for (const LimitSpec& limit : policy->limits) check_limit(limit, known);
}

void check_starter(const std::string& text) {
  Problems problems("fuzz");
  const auto starter = starter_policy(text, problems);
  require(starter.has_value() || problems.any_error());
  if (starter) require(load_text(*starter, "policy.yaml").problems.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  check_document(input);
  check_starter(input);
  const Loaded loaded = load_text(input, "fuzz");
  require(loaded.ruleset || !loaded.problems.empty());
  return 0;
}
