#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "policy/coverage.h"
#include "policy/lint/rules.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

using Kind = KeyPart::Kind;

// Headers in which proxies pass on the path as it was sent.
constexpr std::array<std::string_view, 14> path_headers{
    ":path",           "request-uri",     "x-envoy-original-path", "x-forwarded-path",
    "x-forwarded-uri", "x-forwarded-url", "x-original-path",       "x-original-uri",
    "x-original-url",  "x-path",          "x-request-path",        "x-request-uri",
    "x-rewrite-url",   "x-uri",
};

// What descriptors call it.
constexpr std::array<std::string_view, 6> path_keys{"path", ":path", "uri", "url", "request_path", "request_uri"};

template <std::size_t N>
bool is_among(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool contains(const std::vector<KeyPart>& parts, Kind kind) {
  return std::any_of(parts.begin(), parts.end(), [&](const KeyPart& part) { return part.kind == kind; });
}

// Counted by address, and by nothing that says who is calling.
bool is_by_ip_alone(const ConsumerKey& key) {
  return !key.alternatives.empty() &&
         std::all_of(key.alternatives.begin(), key.alternatives.end(), [](const std::vector<KeyPart>& parts) {
           return contains(parts, Kind::ip) && std::all_of(parts.begin(), parts.end(), is_always_there);
         });
}

bool knows_callers(const CompiledLimit& limit, const Identity& identity) {
  if (limit.when.kind == When::Kind::anonymous) return false;
  return has_part(limit.consumer_key, Kind::user) ||
         (identity.api_key_verified && has_part(limit.consumer_key, Kind::api_key));
}

// Another limit that knows who is calling on a route of this one.
struct Informed {
  const CompiledLimit* limit = nullptr;  // nullptr: there is none
  std::string route;
};

Informed informed_on(const Subject& subject, const RouteTemplate& route) {
  const auto* found = subject.index.find_overlapping(route, [&](const RouteIndex::Entry& entry) {
    return entry.limit != nullptr && entry.limit != &subject.limit &&
           knows_callers(*entry.limit, subject.ruleset.identity);
  });
  if (found == nullptr) return {};
  const RouteTemplate& narrow = covers(route, found->route) ? found->route : route;
  return {found->limit, narrow == RouteIndex::every_request() ? "every request" : narrow.text()};
}

Informed informed(const Subject& subject) {
  if (subject.limit.routes.empty()) return informed_on(subject, RouteIndex::every_request());
  for (const RouteTemplate& route : subject.limit.routes) {
    if (Informed found = informed_on(subject, route); found.limit != nullptr) return found;
  }
  return {};
}

// A part of the key for which the client can send what it likes; nullptr if there is none.
// An api_key that nobody verifies is one of these, unless more is known of who sends it.
const KeyPart* chosen_part(const std::vector<KeyPart>& parts, const Identity& identity) {
  const auto header = std::find_if(parts.begin(), parts.end(), [](const KeyPart& p) { return p.kind == Kind::header; });
  if (header != parts.end()) return &*header;
  if (identity.api_key_verified || contains(parts, Kind::user) || contains(parts, Kind::ip)) return nullptr;
  const auto key = std::find_if(parts.begin(), parts.end(), [](const KeyPart& p) { return p.kind == Kind::api_key; });
  return key != parts.end() ? &*key : nullptr;
}

// Whether a caller with nothing but a made-up api_key is counted by its address somewhere, on all these routes.
bool is_counted_by_ip(const Subject& subject) {
  const auto by_ip = [&](const RouteIndex::Entry& entry) {
    const CompiledLimit* other = entry.limit;
    if (other == nullptr || other == &subject.limit || other->mode == Mode::shadow) return false;
    const bool applies = includes(other->when, subject.limit.when) || other->when.kind == When::Kind::anonymous;
    const std::vector<KeyPart>* key = key_of(Caller{.user = false, .api_key = true}, other->consumer_key);
    return applies && key != nullptr && contains(*key, Kind::ip);
  };
  const auto& routes = subject.limit.routes;
  if (routes.empty()) return subject.index.find_covering(RouteIndex::every_request(), by_ip) != nullptr;
  return std::all_of(routes.begin(), routes.end(),
                     [&](const RouteTemplate& route) { return subject.index.find_covering(route, by_ip) != nullptr; });
}

void warn_of_header(const Subject& subject, const KeyPart& part, Problems& problems) {
  const Identity& identity = subject.ruleset.identity;
  const std::string_view advice =
      part.header == identity.user_header      ? "count by user, which is believed from trusted proxies only"
      : part.header == identity.api_key_header ? "count by api_key"
      : part.header == "x-forwarded-for"       ? "count by ip, which reads it from trusted proxies only"
                                               : "have a limit by ip or user beside it";
  problems.warning(place_of_key(subject.written),
                   fmt::format("'{}' counts by {}, which any client can choose: who changes it with every request is "
                               "never limited; {}",
                               subject.limit.name, text_of(part), advice));
}

void warn_of_api_key(const Subject& subject, Problems& problems) {
  problems.warning(place_of_key(subject.written),
                   fmt::format("'{}' counts by api_key, which nobody verifies: who makes up another with every request "
                               "is never limited; set 'verified: true' in {}.api_key if the proxy checks keys, "
                               "or have a limit by ip beside it",
                               subject.limit.name, subject.policy.names.identity));
}

}  // namespace

Mark place_of_key(const LimitSpec& written) {
  return written.consumer_key ? written.consumer_key->at : written.at;
}

void ip_alone(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (!is_by_ip_alone(limit.consumer_key) || limit.when.kind == When::Kind::anonymous) return;
  if (limit.when.kind == When::Kind::authenticated) {
    problems.warning(place_of_key(subject.written),
                     fmt::format("'{}' counts by ip alone although it is known who is calling: all behind one address "
                                 "share a counter; count by user",
                                 limit.name));
    return;
  }
  const Informed other = informed(subject);
  if (other.limit == nullptr) return;
  problems.warning(place_of_key(subject.written),
                   fmt::format("'{}' counts by ip alone on {}, where '{}' knows who is calling: all behind one address "
                               "share a counter; add 'when: anonymous', or count by [user, ip]",
                               limit.name, other.route, other.limit->name));
}

void chosen_key(const Subject& subject, Problems& problems) {
  for (const std::vector<KeyPart>& parts : subject.limit.consumer_key.alternatives) {
    const KeyPart* part = chosen_part(parts, subject.ruleset.identity);
    if (part == nullptr) continue;
    if (part->kind == Kind::header) {
      if (!is_among(part->header, path_headers)) warn_of_header(subject, *part, problems);
    } else if (subject.limit.when.kind != When::Kind::authenticated && !is_counted_by_ip(subject)) {
      warn_of_api_key(subject, problems);
    }
  }
}

void penalty_on_chosen_key(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (!limit.penalty || !subject.written.penalty) return;
  for (const std::vector<KeyPart>& parts : limit.consumer_key.alternatives) {
    const KeyPart* part = chosen_part(parts, subject.ruleset.identity);
    const bool is_shared = !contains(parts, Kind::user) && !contains(parts, Kind::ip);  // between strangers
    if (part == nullptr || !is_shared) continue;
    problems.warning(subject.written.penalty->at,
                     fmt::format("'{}' has a penalty on {}, which any client can send: who sends somebody else's locks "
                                 "them out for {}; put the penalty on a limit by ip or user",
                                 limit.name, text_of(*part), duration_text(limit.penalty->block)));
    return;
  }
}

void raw_path(const Subject& subject, Problems& problems) {
  for (const std::vector<KeyPart>& parts : subject.limit.consumer_key.alternatives) {
    for (const KeyPart& part : parts) {
      if (part.kind != Kind::header || !is_among(part.header, path_headers)) continue;
      problems.warning(place_of_key(subject.written),
                       fmt::format("'{}' counts by {}, a raw path: every id and every spelling in it has a counter of "
                                   "its own; count by route, which is the template",
                                   subject.limit.name, text_of(part)));
    }
  }
}

void raw_path(const DescriptorSpec& descriptor, Problems& problems) {
  const bool is_limited = descriptor.rate_limit || !descriptor.descriptors.empty();
  if (!descriptor.value && is_limited && is_among(descriptor.key, path_keys)) {
    problems.warning(descriptor.at, fmt::format("descriptor '{}' has no value, so every raw path has a counter of its "
                                                "own; give the paths as values, or send a route's name instead",
                                                descriptor.key));
  }
  for (const DescriptorSpec& below : descriptor.descriptors) raw_path(below, problems);
}

void unlabelled(const DescriptorSpec& descriptor, Problems& problems) {
  if (descriptor.value_to_metric) {
    problems.warning(
        *descriptor.value_to_metric,
        fmt::format("value_to_metric of descriptor '{}' changes nothing: no value that a client can choose "
                    "becomes a label of a metric; give the values that matter as descriptors",
                    descriptor.key));
  }
  for (const DescriptorSpec& below : descriptor.descriptors) unlabelled(below, problems);
}

}  // namespace weir::policy::lint_rules
