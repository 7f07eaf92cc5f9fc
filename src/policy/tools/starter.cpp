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

constexpr std::size_t max_listed = 200;  // operations in the comment on top

constexpr std::string_view opening =
    R"(# A first policy for Weir: who is limited, on what, and how. Made by `weir init`; yours to change.
#
#   weir lint policy.yaml                                              is it sound?
#   weir explain policy.yaml --request 'POST /login' --ip 192.0.2.7    what holds for this request?
#   weir simulate policy.yaml --log access.log                         what would it have done yesterday?
)";

constexpr std::string_view identity = R"(
version: 1

identity:
  # Only these are believed about users, plans and the client's address: list your load balancers and gateways.
  trusted_proxies: [127.0.0.0/8, '::1']
  user:    { header: X-User-Id }
  api_key: { header: X-Api-Key }       # anybody can make one up: add `verified: true` if a trusted proxy checks them
  ip:      { ipv6_prefix: 64 }         # one IPv6 customer has at least a /64

# Plans with numbers of their own (`tier_overrides` in a limit):
# tiers:
#   from: { header: X-Plan }
#   default: free

limits:
)";

constexpr std::string_view sign_in_comment =
    "  # Guessing passwords: few tries per address, counted exactly, and only for those not signed in yet.\n";
constexpr std::string_view sign_in_limit = R"(    when: anonymous
    consumer_key: ip
    algorithm: sliding_window_log
    rate: 10/min

  # A flood of addresses cannot hide from a limit by account. It needs a header with the account's name, set by a
  # proxy or by your login page:
  # - name: sign-in-by-account
  #   routes: [POST /login]
  #   consumer_key: header:X-Login-Name
  #   algorithm: sliding_window_counter
  #   rate: 20/h
)";

constexpr std::string_view no_sign_in = R"(  # No operation looks like a sign-in. If there is one:
  # - name: sign-in-by-ip
  #   routes: [POST /login]
  #   when: anonymous
  #   consumer_key: ip
  #   algorithm: sliding_window_log
  #   rate: 10/min
)";

constexpr std::string_view by_consumer = R"(
  # Everything, by whoever asks: the user, else the address. Five a second, sixty at once.
  - name: by-consumer
    consumer_key: [user, ip]           # with verified keys: [user, api_key, ip]
    algorithm: token_bucket
    rate: 300/min
    burst: 60
    # tier_overrides:
    #   pro:      { rate: 3000/min, burst: 300 }
    #   internal: unlimited
    # Before changing numbers or the algorithm, evaluate the change beside the live limit; nothing of it is enforced:
    # candidate:
    #   algorithm: sliding_window_counter
    #   rate: 300/min
)";

constexpr std::string_view everyone = R"(
  # What the service can take from all together. Remove `mode: shadow` once the metrics show that it fits.
  - name: everyone
    mode: shadow
    consumer_key: global
    algorithm: gcra
    rate: 60000/min
    burst: 2000
)";

// What a path or an operationId says that an operation does, word by word: `author` is not `auth`.
constexpr std::array<std::string_view, 18> sign_in_words{
    "login", "logon", "signin", "sign in", "signup",   "sign up", "register", "auth", "authenticate",
    "oauth", "token", "tokens", "session", "sessions", "otp",     "mfa",      "2fa",  "password"};
constexpr std::array<std::string_view, 15> heavy_words{"export", "exports", "report",   "reports", "search",
                                                       "upload", "uploads", "import",   "imports", "bulk",
                                                       "batch",  "render",  "generate", "sync",    "backup"};

struct Found {
  RouteTemplate route;
  std::string text;   // as a policy writes it
  std::string words;  // of its path and its id, in lower case, a space before and after each
  std::string id;
};

// A name from the document could end a comment or a quote: without what is not printable it cannot.
std::string plain(std::string_view text) {
  std::string safe(text.substr(0, 80));
  std::ranges::replace_if(safe, [](char c) { return !base::is_printable(c); }, '?');
  return safe;
}

// `startExport` and `/start-export/` are " start export ".
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
  std::string text = "#\n# The operations that the document has:\n";
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

// As comments: how much is right, only the measured cost can say.
std::string heavy(const std::vector<const Found*>& operations) {
  if (operations.empty()) return "";
  return "\n  # These look like more work than others. If they are:\n  # - name: heavy\n  #   routes:\n" +
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
