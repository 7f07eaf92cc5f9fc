#include "policy/tools/starter.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "policy/read/openapi/operations.h"
#include "policy/read/openapi/reader.h"
#include "policy/route_template.h"
#include "text/yaml/document.h"

namespace weir::policy {

namespace {

constexpr std::size_t max_listed = 200;  // maximum number of operations in the comment at the top

constexpr std::string_view opening =
    R"(# A first policy for Weir, made by `weir init`. Edit it to fit your service.
#
#   weir lint policy.yaml                                              check for mistakes
#   weir explain policy.yaml --request 'POST /login' --ip 192.0.2.7    show which limits apply to a request
#   weir simulate policy.yaml --log access.log                         replay a log against the policy
)";

constexpr std::string_view identity = R"(
version: 1

identity:
  # Users, plans and client addresses are read from these only: list your load balancers and gateways.
  trusted_proxies: [127.0.0.0/8, '::1']
  user:    { header: X-User-Id }
  api_key: { header: X-Api-Key }       # clients can make one up: add `verified: true` if a trusted proxy verifies keys
  ip:      { ipv6_prefix: 64 }         # one IPv6 customer has at least a /64

# Plans with their own numbers (`tier_overrides` in a limit):
# tiers:
#   from: { header: X-Plan }
#   default: free

limits:
)";

constexpr std::string_view sign_in_comment =
    "  # Against password guessing: few attempts per address, counted exactly, for callers who are not signed in.\n";
constexpr std::string_view sign_in_limit = R"(    when: anonymous
    consumer_key: ip
    algorithm: sliding_window_log
    rate: 10/min

  # An attacker with many addresses is still limited by account. This needs a header with the account's name, set by
  # a proxy or by your login page:
  # - name: sign-in-by-account
  #   routes: [POST /login]
  #   consumer_key: header:X-Login-Name
  #   algorithm: sliding_window_counter
  #   rate: 20/h
)";

constexpr std::string_view no_sign_in = R"(  # No operation looks like a sign-in. If there is one, limit it:
  # - name: sign-in-by-ip
  #   routes: [POST /login]
  #   when: anonymous
  #   consumer_key: ip
  #   algorithm: sliding_window_log
  #   rate: 10/min
)";

constexpr std::string_view by_consumer = R"(
  # Every request, by user or else by address: five per second, sixty at once.
  - name: by-consumer
    consumer_key: [user, ip]           # with verified keys: [user, api_key, ip]
    algorithm: token_bucket
    rate: 300/min
    burst: 60
    # tier_overrides:
    #   pro:      { rate: 3000/min, burst: 300 }
    #   internal: unlimited
    # Try other numbers or another algorithm alongside the live limit, without enforcing them:
    # candidate:
    #   algorithm: sliding_window_counter
    #   rate: 300/min
)";

constexpr std::string_view everyone = R"(
  # The capacity of the whole service. Remove `mode: shadow` once the metrics show that it fits.
  - name: everyone
    mode: shadow
    consumer_key: global
    algorithm: gcra
    rate: 60000/min
    burst: 2000
)";

// Words in a path or an operationId that suggest what an operation does. Whole words: `author` is not `auth`.
constexpr std::array<std::string_view, 18> sign_in_words{
    "login", "logon", "signin", "sign in", "signup",   "sign up", "register", "auth", "authenticate",
    "oauth", "token", "tokens", "session", "sessions", "otp",     "mfa",      "2fa",  "password"};
constexpr std::array<std::string_view, 15> heavy_words{"export", "exports", "report",   "reports", "search",
                                                       "upload", "uploads", "import",   "imports", "bulk",
                                                       "batch",  "render",  "generate", "sync",    "backup"};

struct Found {
  RouteTemplate route;
  std::string text;   // as a policy writes it
  std::string words;  // words of its path and its id, in lower case, surrounded by spaces
  std::string id;
};

// Replaces unprintable characters, with which a name from the document could end a comment or a quotation.
std::string plain(std::string_view text) {
  std::string safe(text.substr(0, 80));
  std::ranges::replace_if(safe, [](char c) { return !base::is_printable(c); }, '?');
  return safe;
}

// Splits a text into words: `startExport` and `/start-export/` become " start export ".
void add_words(std::string_view text, std::string& words) {
  bool after_small = false;
  for (const char c : text) {
    const bool capital = base::is_upper(c);
    const bool small = base::is_lower(c) || base::is_digit(c);
    if ((capital && after_small) || (!capital && !small)) words += ' ';
    if (capital || small) words += base::to_lower(c);
    after_small = small;
  }
  words += ' ';
}

Found found(RouteTemplate route, const openapi::Operation& operation) {
  Found result;
  result.words = " ";
  for (Segment& segment : route.segments) {
    if (segment.is_literal()) {
      add_words(segment.text, result.words);
    } else if (!std::ranges::all_of(segment.text, base::is_printable)) {
      segment.text.clear();
    }
  }
  if (operation.id) {
    result.id = plain(operation.id->value);
    add_words(result.id, result.words);
  }
  result.text = route.text();
  result.route = std::move(route);
  return result;
}

template <std::size_t N>
bool has_word(const Found& operation, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return operation.words.find(" " + std::string(word) + " ") != std::string::npos;
  });
}

bool is_sign_in(const Found& operation) {
  return operation.route.method == "POST" && has_word(operation, sign_in_words);
}

bool is_heavy(const Found& operation) {
  return !is_sign_in(operation) && has_word(operation, heavy_words);
}

std::string yaml_quoted(std::string_view text) {
  std::string yaml = "'";
  for (const char c : text) yaml += c == '\'' ? std::string("''") : std::string(1, c);
  return yaml + "'";
}

std::string route_list(const std::vector<const Found*>& operations, std::string_view indent) {
  std::string text;
  for (const Found* operation : operations)
    text.append(indent).append("- ").append(yaml_quoted(operation->text)) += '\n';
  return text;
}

template <class Wanted>
std::vector<const Found*> those(const std::vector<Found>& operations, Wanted wanted) {
  std::vector<const Found*> chosen;
  for (const Found& operation : operations) {
    if (wanted(operation)) chosen.push_back(&operation);
  }
  return chosen;
}

std::vector<Found> operations_of(const text::Node& root, Problems& problems) {
  openapi::References references(root, problems);
  std::vector<Found> operations;
  std::unordered_set<std::string> seen;
  for (const openapi::PathItem& item : openapi::read_paths(root, references, problems)) {
    for (const openapi::Operation& operation : item.operations) {
      for (const RouteTemplate& route : operation.routes) {
        if (seen.insert(match_key(route)).second) operations.push_back(found(route, operation));
      }
    }
  }
  return operations;
}

std::string listing(const std::vector<Found>& operations) {
  std::string text = "#\n# The operations of the document:\n";
  std::size_t left = max_listed;
  for (const Found& operation : operations) {
    if (left-- == 0) {
      text += "#   ... and " + std::to_string(operations.size() - max_listed) + " more\n";
      break;
    }
    text += "#   " + operation.text;
    if (!operation.id.empty()) text += "  (" + operation.id + ")";
    text += '\n';
  }
  return text;
}

std::string sign_in(const std::vector<const Found*>& operations) {
  std::string text(sign_in_comment);
  if (operations.empty()) return text.append(no_sign_in);
  text += "  - name: sign-in-by-ip\n    routes:\n" + route_list(operations, "      ");
  return text.append(sign_in_limit);
}

// Suggests limits as comments, since the right numbers depend on the measured cost.
std::string heavy(const std::vector<const Found*>& operations) {
  if (operations.empty()) return "";
  return "\n  # These operations look expensive. If they are, limit them:\n  # - name: heavy\n  #   routes:\n" +
         route_list(operations, "  #     ") +
         "  #   consumer_key: [user, ip]\n  #   algorithm: token_bucket\n  #   rate: 10/min\n  #   burst: 5\n";
}

}  // namespace

std::string starter_policy() {
  std::string text(opening);
  text.append(identity).append(sign_in_comment);
  text += "  - name: sign-in-by-ip\n    routes: [POST /login]\n";
  return text.append(sign_in_limit).append(by_consumer).append(everyone);
}

std::optional<std::string> starter_policy(std::string_view openapi, Problems& problems) {
  const auto root = text::parse_yaml(openapi, problems);
  if (!root || !openapi::is_supported(*root, problems)) return std::nullopt;
  const std::vector<Found> operations = operations_of(*root, problems);
  if (problems.any_error()) return std::nullopt;
  std::string text(opening);
  text += listing(operations);
  text.append(identity);
  text += sign_in(those(operations, is_sign_in));
  text.append(by_consumer);
  text += heavy(those(operations, is_heavy));
  return text.append(everyone);
}

}  // namespace weir::policy
