// Types of the policy language that occur in policies both as written (spec.h) and as compiled (ruleset.h).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/route_template.h"
#include "text/address.h"
#include "text/yaml/problem.h"
#include "weir/time.h"

namespace weir::policy {

using text::Address;
using text::AddressRange;
using text::in_quotes;
using text::Mark;
using text::Problem;
using text::Problems;
using text::Severity;
using text::Written;

// The algorithms that a policy names. A leaky bucket may have a queue, depending on its numbers.
enum class PolicyAlgorithm : std::uint8_t {
  token_bucket,
  gcra,
  leaky_bucket,
  fixed_window,
  sliding_window_log,
  sliding_window_counter,
  concurrency,
};

inline constexpr std::array all_algorithms{
    PolicyAlgorithm::token_bucket,       PolicyAlgorithm::gcra,
    PolicyAlgorithm::leaky_bucket,       PolicyAlgorithm::fixed_window,
    PolicyAlgorithm::sliding_window_log, PolicyAlgorithm::sliding_window_counter,
    PolicyAlgorithm::concurrency,
};
// A synonym of sliding_window_counter.
inline constexpr std::string_view short_counter_name = "sliding_window";

[[nodiscard]] std::string_view name_of(PolicyAlgorithm algorithm) noexcept;
[[nodiscard]] constexpr bool is_window(PolicyAlgorithm algorithm) noexcept {
  return algorithm >= PolicyAlgorithm::fixed_window && algorithm <= PolicyAlgorithm::sliding_window_counter;
}

enum class Missing : std::uint8_t { skip, share, deny };
enum class Mode : std::uint8_t { enforce, shadow };
enum class OnStoreFailure : std::uint8_t { local, open, closed };
enum class Consistency : std::uint8_t { exact, leased, approximate };
// How a cost that is known only after the request is charged: by a report, or by settling a reservation.
enum class Usage : std::uint8_t { reported, reserved };

[[nodiscard]] std::string_view name_of(Missing missing) noexcept;
[[nodiscard]] std::string_view name_of(Mode mode) noexcept;
[[nodiscard]] std::string_view name_of(OnStoreFailure choice) noexcept;
[[nodiscard]] std::string_view name_of(Consistency consistency) noexcept;
[[nodiscard]] std::string_view name_of(Usage usage) noexcept;

// The consistency between nodes that share a limit. consistency.h computes its effect.
struct ConsistencyChoice {
  Consistency kind = Consistency::exact;
  Duration lease = std::chrono::seconds{1};        // leased: how long a node holds a slice
  Duration sync = std::chrono::milliseconds{100};  // approximate: the interval between exchanges

  friend bool operator==(const ConsistencyChoice&, const ConsistencyChoice&) = default;
};

// The first `count` denials of a consumer in any period of `per` are admitted with a warning.
struct WarnFirst {
  std::uint64_t count = 0;
  Duration per{};

  friend bool operator==(const WarnFirst&, const WarnFirst&) = default;
};

// A consumer denied `after` times in any period of `within` is denied outright for `block`.
struct Penalty {
  std::uint64_t after = 0;
  Duration within{};
  Duration block{};

  friend bool operator==(const Penalty&, const Penalty&) = default;
};

// A condition on the caller of a request.
//
// A condition is true, false or unknown. It is unknown if it depends on something that a client may have forged: an
// address that the forwarding headers contradict, or a duplicated identity header. A limit applies unless its condition
// is false, so that neither a condition nor its negation lifts a limit for such a request.
struct When {
  enum class Kind : std::uint8_t {
    always,
    authenticated,
    anonymous,
    ip_in,
    ip_not_in,
    identified_by,  // has a value of `identity`
    identity_in,    // the value of `identity` is one of `values`
    all,
    any,
    negation,  // `not`, of the only one of `conditions`; of identified_by and identity_in only, see negated()
  };

  Kind kind = Kind::always;
  std::vector<AddressRange> ranges{};  // ip_in, ip_not_in
  std::string identity{};              // identified_by, identity_in
  std::vector<std::string> values{};   // identity_in: sorted
  std::vector<When> conditions{};      // all, any: at least two; negation: one

  friend bool operator==(const When&, const When&) = default;
};

inline constexpr std::size_t max_conditions = 64;  // of one `when`, at all depths
inline constexpr std::size_t max_condition_depth = 8;

// Returns the condition that is true where `when` is false. A negation is moved inwards as far as possible, so that
// conditions of equal meaning are mostly equal.
[[nodiscard]] When negated(When when);

struct KeyPart {
  enum class Kind : std::uint8_t { user, api_key, ip, global, route, header, identity };

  Kind kind = Kind::global;
  std::string name;  // of the header, in lower case, or of the identity; empty for other kinds

  friend bool operator==(const KeyPart&, const KeyPart&) = default;
};

// `user`, `ip`; for a header the prefix `header:`; for an identity, which is written as its name, empty.
[[nodiscard]] std::string_view name_of(KeyPart::Kind kind) noexcept;

// The key is the first alternative whose parts are all present. [user, ip+route] is [[user], [ip, route]].
struct ConsumerKey {
  std::vector<std::vector<KeyPart>> alternatives;

  friend bool operator==(const ConsumerKey&, const ConsumerKey&) = default;
};

// Formats keys as a policy writes them: `user`, `header:x-login-name`, `[user, ip+route]`, `anonymous`.
[[nodiscard]] std::string text_of(const KeyPart& part);
[[nodiscard]] std::string text_of(const ConsumerKey& key);
[[nodiscard]] std::string text_of(const When& when);

// An identity beside user and api_key: `organization: { header: X-Org-Id }`.
struct NamedIdentity {
  std::string name;
  std::string header;    // lower case
  bool verified = true;  // read from trusted proxies only; false: any client can choose the value

  friend bool operator==(const NamedIdentity&, const NamedIdentity&) = default;
};

inline constexpr std::size_t max_named_identities = 16;
inline constexpr std::size_t max_identity_name_length = 32;

// The headers that identify a caller, and the proxies that are trusted. Header names are in lower case.
struct Identity {
  std::vector<AddressRange> trusted_proxies;  // by default loopback
  std::string user_header = "x-user-id";
  std::string api_key_header = "x-api-key";
  bool api_key_verified = false;  // the trusted proxy verifies the key, which is then read from trusted proxies only
  std::optional<std::string> address_header;  // the only header that names the client's address, if set
  unsigned ipv6_prefix = 64;
  std::vector<NamedIdentity> named;  // in file order

  [[nodiscard]] static Identity defaults();

  // Returns nullptr if the policy has no identity of this name.
  [[nodiscard]] const NamedIdentity* find(std::string_view name) const noexcept;
  // True for `user`, `api_key` and the names of `named`.
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  // True if no client can choose the value of this identity: it comes from a trusted proxy, or from the program itself.
  [[nodiscard]] bool is_verified(std::string_view name) const noexcept;

  friend bool operator==(const Identity&, const Identity&) = default;
};

// The values of one identity.
struct IdentityValues {
  std::string identity;             // `user`, `api_key` or a named identity; always verified
  std::vector<std::string> values;  // sorted

  friend bool operator==(const IdentityValues&, const IdentityValues&) = default;
};

// The requests that no limit covers: `exempt` at the root of a policy. One of these is enough.
struct Exemptions {
  std::vector<AddressRange> addresses;
  std::vector<IdentityValues> identities;
  std::vector<RouteTemplate> routes;

  [[nodiscard]] bool empty() const noexcept { return addresses.empty() && identities.empty() && routes.empty(); }
};

// A value of a descriptor's `metadata`: any tree that google.protobuf.Struct can represent.
struct MetadataValue {
  enum class Kind : std::uint8_t { null, truth, number, text, list, map };

  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;  // finite
  std::string text;
  std::vector<MetadataValue> items;  // elements of a list, or values of a map
  std::vector<std::string> names;    // keys of a map, one for each of items, without duplicates

  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};

// The fields of a descriptor of envoyproxy/ratelimit that compile() copies.
struct DescriptorFields {
  std::string key;
  bool unlimited = false;
  bool shadow_mode = false;
  bool share_threshold = false;           // all values that match a wildcard share one counter
  bool quota_mode = false;                // denies only together with all other quota descriptors of its request
  std::string name;                       // the name in its rate_limit
  std::optional<MetadataValue> metadata;  // a map, returned with admitted requests
  std::vector<std::string> replaces;      // names of the limits that it replaces
};

}  // namespace weir::policy
