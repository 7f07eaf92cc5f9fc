// The words of the policy language that mean the same as written and as compiled.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/address.h"
#include "text/yaml/problem.h"
#include "weir/time.h"

namespace weir::policy {

// What all of this folder is written with.
using text::Address;
using text::AddressRange;
using text::in_quotes;
using text::Mark;
using text::Problem;
using text::Problems;
using text::Severity;
using text::Written;

// As the policy names them: a leaky bucket is a meter or a queue by its numbers.
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
// Another name of sliding_window_counter.
inline constexpr std::string_view short_counter_name = "sliding_window";

[[nodiscard]] std::string_view name_of(PolicyAlgorithm algorithm) noexcept;
[[nodiscard]] constexpr bool is_window(PolicyAlgorithm algorithm) noexcept {
  return algorithm >= PolicyAlgorithm::fixed_window && algorithm <= PolicyAlgorithm::sliding_window_counter;
}

enum class Missing : std::uint8_t { skip, share, deny };
enum class Mode : std::uint8_t { enforce, shadow };
enum class OnStoreFailure : std::uint8_t { local, open, closed };
enum class Consistency : std::uint8_t { exact, leased, approximate };
// How callers tell what a request cost, where that is known only when it is over: by a report then, or by a reservation
// that is settled.
enum class Usage : std::uint8_t { reported, reserved };

[[nodiscard]] std::string_view name_of(Missing missing) noexcept;
[[nodiscard]] std::string_view name_of(Mode mode) noexcept;
[[nodiscard]] std::string_view name_of(OnStoreFailure choice) noexcept;
[[nodiscard]] std::string_view name_of(Consistency consistency) noexcept;
[[nodiscard]] std::string_view name_of(Usage usage) noexcept;

// How exactly nodes that share a limit count together. What that comes to, consistency.h says.
struct ConsistencyChoice {
  Consistency kind = Consistency::exact;
  Duration lease = std::chrono::seconds{1};        // leased: how long a slice is held for a node
  Duration sync = std::chrono::milliseconds{100};  // approximate: from one exchange to the next

  friend bool operator==(const ConsistencyChoice&, const ConsistencyChoice&) = default;
};

// The first `count` denials of a consumer in any stretch of `per` are admitted with a warning.
struct WarnFirst {
  std::uint64_t count = 0;
  Duration per{};

  friend bool operator==(const WarnFirst&, const WarnFirst&) = default;
};

// A consumer denied `after` times in any stretch of `within` is denied outright for `block`.
struct Penalty {
  std::uint64_t after = 0;
  Duration within{};
  Duration block{};

  friend bool operator==(const Penalty&, const Penalty&) = default;
};

struct When {
  enum class Kind : std::uint8_t { always, authenticated, anonymous, ip_in, ip_not_in };

  Kind kind = Kind::always;
  std::vector<AddressRange> ranges;  // ip_in, ip_not_in

  friend bool operator==(const When&, const When&) = default;
};

struct KeyPart {
  enum class Kind : std::uint8_t { user, api_key, ip, global, route, header };

  Kind kind = Kind::global;
  std::string header;  // lower case

  friend bool operator==(const KeyPart&, const KeyPart&) = default;
};

// `user`, `ip`; of a header `header:`, which its name follows.
[[nodiscard]] std::string_view name_of(KeyPart::Kind kind) noexcept;

// Of the alternatives the first whose parts are all present is the key: [[user], [ip, route]] for [user, ip+route].
struct ConsumerKey {
  std::vector<std::vector<KeyPart>> alternatives;

  friend bool operator==(const ConsumerKey&, const ConsumerKey&) = default;
};

// Words as the policy writes them: `user`, `header:x-login-name`, `[user, ip+route]`, `anonymous`.
[[nodiscard]] std::string text_of(const KeyPart& part);
[[nodiscard]] std::string text_of(const ConsumerKey& key);
[[nodiscard]] std::string text_of(const When& when);

// Who is calling, and whom we believe about it. Header names are in lower case.
struct Identity {
  std::vector<AddressRange> trusted_proxies;  // by default loopback
  std::string user_header = "x-user-id";
  std::string api_key_header = "x-api-key";
  bool api_key_verified = false;              // by the trusted proxy: then from nobody else
  std::optional<std::string> address_header;  // the one header that names the client's address, where only one does
  unsigned ipv6_prefix = 64;

  [[nodiscard]] static Identity defaults();

  friend bool operator==(const Identity&, const Identity&) = default;
};

// What a descriptor's `metadata` holds: any tree of values that google.protobuf.Struct can carry.
struct MetadataValue {
  enum class Kind : std::uint8_t { null, truth, number, text, list, map };

  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;  // finite
  std::string text;
  std::vector<MetadataValue> items;  // of a list or a map
  std::vector<std::string> names;    // of a map: one for each of items, each once

  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};

// The fields of a descriptor of envoyproxy/ratelimit that need no compiling.
struct DescriptorFields {
  std::string key;
  bool unlimited = false;
  bool shadow_mode = false;
  bool share_threshold = false;           // all values that match a wildcard share one counter
  bool quota_mode = false;                // over only together with all other quota descriptors of its request
  std::string name;                       // of its rate_limit
  std::optional<MetadataValue> metadata;  // a map, for the answer to requests that it admits
  std::vector<std::string> replaces;      // names
};

}  // namespace weir::policy
