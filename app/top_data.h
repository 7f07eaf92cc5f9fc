// The data of `weir top`, read from the responses of the admin listener (docs/decisions/0020). Texts are not escaped
// for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::app {

struct TrafficCounts {
  std::uint64_t decisions = 0;
  std::uint64_t denied = 0;
  std::uint64_t shadow_denied = 0;

  TrafficCounts& operator+=(const TrafficCounts& more) noexcept;
  friend bool operator==(const TrafficCounts&, const TrafficCounts&) = default;
};

struct DeniedConsumer {
  std::string limit;
  std::string consumer;  // the hash of the consumer
  std::uint64_t count = 0;
};

struct TopLimit {
  struct Route {
    std::string route;
    TrafficCounts counts;
  };
  struct Candidate {
    std::uint64_t agreed = 0;
    std::uint64_t newly_denied = 0;
    std::uint64_t newly_admitted = 0;
  };
  struct Spike {
    std::string since;
    double rate = 0;  // decisions per second now
    double past = 0;  // maximum rate in the hour before
  };

  std::string name;
  std::string words;
  bool is_shadow = false;
  TrafficCounts minute;
  std::vector<TrafficCounts> recent;  // per second, oldest first
  bool has_whole_minute =
      false;  // `recent` covers a minute; the server records the seconds of only a few hundred limits
  std::vector<std::pair<std::string, std::uint64_t>> total;
  std::vector<Route> by_route;
  std::vector<std::uint64_t> headroom;  // decisions by remaining share, from none to all
  std::uint64_t consumers = 0;
  std::uint64_t bytes = 0;
  std::uint64_t budget = 0;
  std::uint64_t overflowed = 0;
  std::optional<Candidate> candidate;
  std::optional<Spike> spike;
  std::vector<DeniedConsumer> top_denied;

  // Denials of the last minute. A limit in shadow mode has none: it would have denied `would_deny`.
  [[nodiscard]] std::uint64_t denied() const noexcept { return minute.denied; }
  [[nodiscard]] std::uint64_t would_deny() const noexcept { return minute.shadow_denied; }
  // The share of its decisions that the limit denied, or in shadow mode would have denied.
  [[nodiscard]] double share() const noexcept;
};

struct TopEvent {
  std::uint64_t id = 0;
  std::string at;
  std::string kind;
  std::string level;
  std::string message;
};

// The last second, and current gauges.
struct TopNow {
  std::string at{};
  double seconds = 1;
  std::uint64_t requests = 0;
  std::uint64_t evaluated = 0;        // requests that limits were asked about
  std::uint64_t denied_requests = 0;  // a part of them
  TrafficCounts counts{};
  std::optional<double> p50{};
  std::optional<double> p99{};
  std::uint64_t connections = 0;
  std::uint64_t used = 0;
  std::uint64_t budget = 0;
  std::uint64_t resident = 0;
  std::string store{};  // local, closed, half_open, open
};

struct TopStore {
  std::string topology{};
  std::string unavailable_since{};
  std::string last_error{};
  std::uint64_t servers = 0;
  std::uint64_t connected = 0;
  std::uint64_t nodes = 0;
  std::uint64_t differing = 0;  // nodes with a different policy
  std::optional<double> p50{};
  std::optional<double> p99{};
};

struct TopData {
  std::string address;  // the server's address
  std::string problem;  // why there is no new data; empty: data is arriving
  std::string version;
  std::string policy;
  std::string reload_error;  // error of the last reload; empty: it succeeded
  TopNow now;
  std::vector<TrafficCounts> minute;  // counts of all limits per second, oldest first
  std::vector<TopLimit> limits;       // in the order of the policy
  std::uint64_t more_limits = 0;      // number of limits that the server left out
  std::vector<DeniedConsumer> denied;
  std::vector<TopEvent> events;  // newest first
  std::optional<TopStore> store;
  std::optional<TopLimit> detail;  // the limit whose details are shown
};

inline constexpr std::size_t seconds_shown = 60;
inline constexpr std::size_t max_events = 100;

// Each reads the response of one endpoint into its part of `data`. Returns false if it is not JSON.
[[nodiscard]] bool read_status(std::string_view text, TopData& data);
[[nodiscard]] bool read_history(std::string_view text, TopData& data);
[[nodiscard]] bool read_limits(std::string_view text, TopData& data);
[[nodiscard]] bool read_limit(std::string_view text, TopData& data);  // sets `detail`
[[nodiscard]] bool read_denied(std::string_view text, TopData& data);
[[nodiscard]] bool read_events(std::string_view text, TopData& data);
[[nodiscard]] bool read_cluster(std::string_view text, TopData& data);
// Reads a message of the stream. A second that is not newer than the last one is ignored.
[[nodiscard]] bool read_second(std::string_view text, TopData& data);

}  // namespace weir::app
