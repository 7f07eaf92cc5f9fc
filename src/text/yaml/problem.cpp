#include "text/yaml/problem.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/core.h>

#include "base/ascii.h"
#include "text/utf8.h"

namespace weir::text {
namespace {

constexpr std::size_t max_quote_length = 60;
constexpr std::size_t max_word_length = 64;  // longer words are not typos of our words, and slow to compare

// Levenshtein distance, row by row; a transposition counts as two edits.
std::size_t edits_between(std::string_view from, std::string_view to) {
  std::array<std::size_t, max_word_length + 1> row{};
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

std::string Problem::named_message() const {
  return rule == no_rule ? message : fmt::format("{} [{}]", message, rule.name);
}

std::string Problem::text() const {
  return fmt::format("{}:{}:{}: {}", file, at.line, at.column, named_message());
}

void Problems::add(Severity severity, Mark at, Rule rule, std::string message) {
  if (const auto allowed = allowed_.find({at.line, rule}); severity == Severity::warning && allowed != allowed_.end()) {
    allowed->second.is_used = true;
    return;
  }
  std::size_t& count = severity == Severity::error ? errors_ : warnings_;
  if (count++ < max_listed) list_.push_back({severity, file_, at, std::move(message), rule});
}

std::vector<Allowance> Problems::unused_allowances() const {
  std::vector<Allowance> unused;
  for (const auto& [key, allowed] : allowed_) {
    if (!allowed.is_used) unused.push_back({key.first, key.second, allowed.at});
  }
  return unused;
}

std::vector<Problem> Problems::sorted() const {
  std::vector<Problem> sorted = list_;
  std::ranges::stable_sort(sorted, [](const Problem& a, const Problem& b) { return a.at < b.at; });
  // A value used through several aliases is reported once.
  const auto same = [](const Problem& a, const Problem& b) {
    return a.at == b.at && a.severity == b.severity && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  const auto report_rest = [&](Severity severity, std::size_t count, std::string_view what) {
    if (count <= max_listed) return;
    const Mark last = sorted.back().at;
    sorted.push_back({severity, file_, last, fmt::format("and {} more {}", count - max_listed, what)});
  };
  report_rest(Severity::error, errors_, "errors");
  report_rest(Severity::warning, warnings_, "warnings");
  return sorted;
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Must not cut in the middle of a multi-byte character.
    if (i >= max_quote_length && !continues_character(text[i])) return result + "...'";
    result += base::is_control(text[i]) ? '?' : text[i];
  }
  return result + "'";
}

std::optional<std::string> closest(std::string_view word, std::span<const std::string> known) {
  std::optional<std::string> found;
  if (word.size() > max_word_length) return found;
  const auto same = std::ranges::find_if(known, [&](const auto& one) { return base::equals_ignoring_case(one, word); });
  if (same != known.end()) return *same;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    if (candidate.size() > max_word_length) continue;
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

}  // namespace weir::text
