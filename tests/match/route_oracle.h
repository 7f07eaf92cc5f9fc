// Matches routes one by one: the oracle for the tree, without shared code.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "match/route_tree.h"

namespace weir::match {

// A segment as some server sees it. It has no key if no literal can equal it.
struct SeenSegment {
  std::optional<std::string> key;
};

inline bool oracle_matches(const policy::RouteTemplate& route, std::string_view method,
                           std::span<const SeenSegment> path) {
  const bool fits = !route.method || *route.method == method || (*route.method == "GET" && method == "HEAD");
  if (!fits || path.size() < route.segments.size()) return false;
  if (path.size() > route.segments.size() && !route.trailing_wildcard) return false;
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    if (route.segments[i].is_literal() && route.segments[i].key != path[i].key) return false;
  }
  return true;
}

// True if `a` is more specific than `b`, where both match one path.
inline bool oracle_precedes(const policy::RouteTemplate& a, const policy::RouteTemplate& b) {
  const std::size_t common = std::min(a.segments.size(), b.segments.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a.segments[i].is_literal() != b.segments[i].is_literal()) return a.segments[i].is_literal();
  }
  if (a.segments.size() != b.segments.size()) return a.segments.size() > b.segments.size();
  if (a.trailing_wildcard != b.trailing_wildcard) return b.trailing_wildcard;
  if (a.method.has_value() != b.method.has_value()) return a.method.has_value();
  return a.method == "HEAD" && b.method == "GET";
}

// Maps each limit to the index of its most specific matching route.
inline std::map<std::uint32_t, std::uint32_t> oracle_covering(std::span<const RouteEntry> entries,
                                                              std::string_view method,
                                                              std::span<const SeenSegment> path) {
  std::map<std::uint32_t, std::uint32_t> covering;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (!oracle_matches(entries[i].route, method, path)) continue;
    const auto [known, is_new] = covering.try_emplace(entries[i].limit, i);
    if (!is_new && oracle_precedes(entries[i].route, entries[known->second].route)) known->second = i;
  }
  return covering;
}

}  // namespace weir::match
