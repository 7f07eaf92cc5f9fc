#include "policy/coverage.h"

#include <algorithm>

namespace weir::policy {
namespace {

bool is_there(const KeyPart& part, Caller caller) noexcept {
  switch (part.kind) {
    case KeyPart::Kind::user:
      return caller.user;
    case KeyPart::Kind::api_key:
      return caller.api_key;
    case KeyPart::Kind::header:
      return false;
    case KeyPart::Kind::ip:
    case KeyPart::Kind::global:
    case KeyPart::Kind::route:
      break;
  }
  return true;
}

bool methods_overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  if (!a.method || !b.method || a.method == b.method) return true;
  return (a.method == "GET" && b.method == "HEAD") || (a.method == "HEAD" && b.method == "GET");
}

bool within(const AddressRange& narrow, const AddressRange& wide) noexcept {
  return narrow.prefix >= wide.prefix && wide.contains(narrow.network);
}

bool all_within(const std::vector<AddressRange>& narrow, const std::vector<AddressRange>& wide) noexcept {
  return std::all_of(narrow.begin(), narrow.end(), [&](const AddressRange& each) {
    return std::any_of(wide.begin(), wide.end(), [&](const AddressRange& other) { return within(each, other); });
  });
}

// Whether every part of `few` that tells consumers apart is among `many`.
bool is_subset(const std::vector<KeyPart>& few, const std::vector<KeyPart>& many) {
  return std::all_of(few.begin(), few.end(), [&](const KeyPart& part) {
    return part.kind == KeyPart::Kind::global || std::find(many.begin(), many.end(), part) != many.end();
  });
}

}  // namespace

bool is_authenticated(Caller caller, const Identity& identity) noexcept {
  return caller.user || (caller.api_key && identity.api_key_verified);
}

bool is_always_there(const KeyPart& part) noexcept {
  return is_there(part, Caller{});
}

bool is_never_missing(const ConsumerKey& key) noexcept {
  return key_of(Caller{}, key) != nullptr;
}

bool has_part(const ConsumerKey& key, KeyPart::Kind kind) noexcept {
  return std::any_of(key.alternatives.begin(), key.alternatives.end(), [&](const std::vector<KeyPart>& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](const KeyPart& part) { return part.kind == kind; });
  });
}

const std::vector<KeyPart>* key_of(Caller caller, const ConsumerKey& key) noexcept {
  const auto found =
      std::find_if(key.alternatives.begin(), key.alternatives.end(), [&](const std::vector<KeyPart>& parts) {
        return std::all_of(parts.begin(), parts.end(), [&](const KeyPart& part) { return is_there(part, caller); });
      });
  return found == key.alternatives.end() ? nullptr : &*found;
}

bool overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  if (!methods_overlap(a, b)) return false;
  const std::size_t common = std::min(a.segments.size(), b.segments.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Segment& ours = a.segments[i];
    const Segment& theirs = b.segments[i];
    if (ours.is_literal() && theirs.is_literal() && ours.key != theirs.key) return false;
  }
  return (a.segments.size() == common || b.trailing_wildcard) && (b.segments.size() == common || a.trailing_wildcard);
}

bool covers_route(const std::vector<RouteTemplate>& routes, const RouteTemplate& route) noexcept {
  return routes.empty() ||
         std::any_of(routes.begin(), routes.end(), [&](const RouteTemplate& wide) { return covers(wide, route); });
}

bool covers_routes(const std::vector<RouteTemplate>& wide, const std::vector<RouteTemplate>& narrow) {
  if (narrow.empty()) return covers_route(wide, RouteTemplate{.method = {}, .segments = {}, .trailing_wildcard = true});
  return std::all_of(narrow.begin(), narrow.end(),
                     [&](const RouteTemplate& route) { return covers_route(wide, route); });
}

bool includes(const When& a, const When& b) {
  if (a.kind == When::Kind::always || a == b) return true;
  if (a.kind != b.kind) return false;
  if (a.kind == When::Kind::ip_in) return all_within(b.ranges, a.ranges);
  return a.kind == When::Kind::ip_not_in && all_within(a.ranges, b.ranges);
}

bool at_least_as_coarse(Consumers a, Consumers b) {
  const bool b_denies_missing = b.missing == Missing::deny && !is_never_missing(b.key);
  if (a.key == b.key) return a.missing >= b.missing || is_never_missing(a.key);
  if (a.key.alternatives.size() != 1) return false;
  const std::vector<KeyPart>& parts = a.key.alternatives.front();
  if (is_subset(parts, {})) return !b_denies_missing;  // global
  if (b.key.alternatives.size() != 1 || !is_subset(parts, b.key.alternatives.front())) return false;
  return b.missing == Missing::skip || is_never_missing(b.key);
}

}  // namespace weir::policy
