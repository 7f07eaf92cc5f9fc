// Parses any text as a policy in one of the three formats: it is rejected with a position in the text, or it is a
// deterministic ruleset whose limits can admit what they charge.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/load.h"

namespace {

using namespace weir::policy;

constexpr std::size_t max_input_size = 64 << 10;  // time is linear in it: yaml-cpp reads about 10 MB per second
constexpr std::size_t max_message_size = 4096;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

void check(const Problem& problem, std::ptrdiff_t lines) {
  require(problem.at.line >= 1 && problem.at.line <= lines, "a problem is in a line of the text");
  require(problem.at.column >= 1, "a problem is in a column");
  require(!problem.message.empty() && problem.message.size() <= max_message_size, "a message is not too long");
  require(std::none_of(problem.message.begin(), problem.message.end(), is_control), "a message is one line");
}

void check(const CompiledLimit& limit, const Tiers& tiers) {
  require(!limit.name.empty(), "a limit has a name");
  require(limit.live.by_tier.size() == tiers.names.size(), "a limit has numbers for every tier");
  require(limit.live.banned.empty() || limit.live.banned.size() == tiers.names.size(), "a ban is one of a tier");
  for (std::size_t tier = 0; tier < tiers.names.size(); ++tier) {
    require(!limit.live.bans(tier) || !limit.live.by_tier[tier], "who is banned has no numbers");
  }
  for (const auto& numbers : limit.live.by_tier) {
    if (!numbers) continue;
    require(limit.cost.fixed.units() <= numbers->capacity(), "a cost can be admitted");
    for (const RouteCost& cost : limit.cost.by_route) {
      require(cost.cost.units() <= numbers->capacity(), "the cost of a route can be admitted");
    }
  }
  require(!limit.candidate || limit.candidate->by_tier.size() == tiers.names.size(), "a candidate has them too");
  require(limit.by_descriptor() || !limit.consumer_key.alternatives.empty(), "a limit counts by something");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > max_input_size) return 0;
  const std::string text(data, data + size);
  const Loaded loaded = load_text(text, "fuzz");
  const bool any_error = std::any_of(loaded.problems.begin(), loaded.problems.end(),
                                     [](const Problem& problem) { return problem.severity == Severity::error; });
  require(any_error == (loaded.ruleset == nullptr), "a policy is refused if and only if there is an error");
  for (const Problem& problem : loaded.problems) check(problem, std::count(text.begin(), text.end(), '\n') + 1);
  if (loaded.ruleset == nullptr) return 0;
  for (const CompiledLimit& limit : loaded.ruleset->limits) check(limit, loaded.ruleset->tiers);
  require(loaded.ruleset->digest.size() == 64, "a ruleset has a digest");
  require(load_text(text + "\n", "again").ruleset->digest == loaded.ruleset->digest, "a digest names the meaning");
  return 0;
}
