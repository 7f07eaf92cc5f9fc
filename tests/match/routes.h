// Helpers that build a route tree from text and match requests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "match/route_tree.h"

namespace weir::match {

inline policy::RouteTemplate route(std::string_view text) {
  auto parsed = policy::parse_route(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message();
  return parsed ? *parsed : policy::RouteTemplate{};
}

using RoutesOfLimit = std::vector<std::string>;

// Limits are numbered in the order in which they are given.
class Routes {
 public:
  Routes(std::initializer_list<RoutesOfLimit> limits) : Routes(std::span(limits.begin(), limits.size())) {}
  explicit Routes(std::span<const RoutesOfLimit> limits)
      : entries_(entries_of(limits)), tree_(RouteTree::build(entries_)), matches_(tree_) {}

  const Matches& match(std::string_view method, std::string_view target) {
    tree_.match(method, reader_.read(target), matches_);
    return matches_;
  }

  // The limits that cover a request, each with the texts of its routes: `other` if none can be named.
  std::map<std::uint32_t, std::vector<std::string>> covering(std::string_view method, std::string_view target) {
    std::map<std::uint32_t, std::vector<std::string>> covering;
    for (const RouteMatch& found : match(method, target).all()) covering[found.limit].push_back(text_of(found.route));
    return covering;
  }

  std::set<std::uint32_t> limits(std::string_view method, std::string_view target) {
    std::set<std::uint32_t> limits;
    for (const RouteMatch& found : match(method, target).all()) limits.insert(found.limit);
    return limits;
  }

  std::string label(std::string_view method, std::string_view target) { return text_of(match(method, target).label()); }

  [[nodiscard]] const std::vector<RouteEntry>& entries() const noexcept { return entries_; }

 private:
  static std::vector<RouteEntry> entries_of(std::span<const RoutesOfLimit> limits) {
    std::vector<RouteEntry> entries;
    for (std::uint32_t limit = 0; limit < limits.size(); ++limit) {
      for (const std::string& text : limits[limit]) entries.push_back({route(text), limit});
    }
    return entries;
  }

  [[nodiscard]] std::string text_of(std::uint32_t index) const {
    return index == no_route ? "other" : entries_.at(index).route.text();
  }

  std::vector<RouteEntry> entries_;
  RouteTree tree_;
  Matches matches_;
  PathReader reader_;
};

}  // namespace weir::match
