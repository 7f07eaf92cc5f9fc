#include "policy/problem.h"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

namespace weir::policy {

std::string Problem::text() const {
  return fmt::format("{}:{}:{}: {}", file, at.line, at.column, message);
}

void Problems::add(Severity severity, Mark at, std::string message) {
  std::size_t& count = severity == Severity::error ? errors_ : warnings_;
  if (count++ < most) list_.push_back({severity, file_, at, std::move(message)});
}

std::vector<Problem> Problems::sorted() const {
  std::vector<Problem> sorted = list_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) { return a.at < b.at; });
  // What is used through an alias is wrong once, however often it is used.
  const auto same = [](const Problem& a, const Problem& b) {
    return a.at == b.at && a.severity == b.severity && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  const auto say_rest = [&](Severity severity, std::size_t count, std::string_view what) {
    if (count <= most) return;
    const Mark last = sorted.back().at;
    sorted.push_back({severity, file_, last, fmt::format("and {} more {}", count - most, what)});
  };
  say_rest(Severity::error, errors_, "mistakes");
  say_rest(Severity::warning, warnings_, "warnings");
  return sorted;
}

}  // namespace weir::policy
