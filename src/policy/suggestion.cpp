#include "policy/suggestion.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace weir::policy {
namespace {

constexpr std::size_t longest = 64;  // beyond it nobody mistyped a word of ours, and comparing takes its time

// Levenshtein's distance, row by row; a swap of two neighbours counts as one edit more than it should.
std::size_t edits_between(std::string_view from, std::string_view to) {
  std::array<std::size_t, longest + 1> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[to.size()];
}

}  // namespace

std::optional<std::string> closest(std::string_view word, std::span<const std::string> known) {
  std::optional<std::string> found;
  if (word.size() > longest) return found;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    if (candidate.size() > longest) continue;
    const std::size_t edits = edits_between(word, candidate);
    if (edits >= fewest || edits >= candidate.size()) continue;
    fewest = edits;
    found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const auto near = closest(word, known);
  return near ? ", did you mean '" + *near + "'?" : "";
}

}  // namespace weir::policy
