#include "policy/routes_once.h"

namespace weir::policy {
namespace {

// Equal for those that same_route() takes for equal, and for no others: a literal's key has no slash in it, and
// after a slash that begins no literal comes a character that begins none.
std::string identity(const RouteTemplate& route) {
  std::string text = route.method.value_or("") + " ";
  for (const Segment& segment : route.segments) text += segment.is_literal() ? "/=" + segment.key : "/*";
  return route.trailing_wildcard ? text + "/**" : text;
}

}  // namespace

std::optional<Mark> RoutesOnce::add(const Written<RouteTemplate>& route) {
  const auto [seen, is_new] = seen_.try_emplace(identity(route.value), route.at);
  if (is_new) return {};
  return seen->second;
}

}  // namespace weir::policy
