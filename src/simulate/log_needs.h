// Finds properties of requests (user, API key, tier, headers) that the limits of a policy need and no line of a log
// has. Without them a replay does not reflect the original requests. Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/ruleset.h"
#include "simulate/log_entry.h"

namespace weir::simulate {

// A property that no line of a log has.
struct LogGap {
  std::string what;                 // `tier`, `user`, `api_key` or `header:NAME`
  std::vector<std::string> limits;  // the limits that need it
};

class LogNeeds {
 public:
  // Adds the needs of a policy.
  void add(const policy::Ruleset& ruleset);

  // Removes the needs that the entry satisfies.
  void see(const LogEntry& entry) noexcept {
    if (!open_.empty()) look(entry);
  }

  // Returns the needs that no entry satisfied.
  [[nodiscard]] std::vector<LogGap> gaps() const;

 private:
  enum class Kind : std::uint8_t { tier, user, api_key, header };

  struct Need {
    Kind kind;
    std::string header;  // lower case; for an api_key, the header that may carry it
    std::vector<std::string> limits;
  };

  void need(Kind kind, const std::string& header, const std::string& limit);
  void look(const LogEntry& entry) noexcept;
  [[nodiscard]] static bool is_in(const LogEntry& entry, const Need& need) noexcept;

  std::vector<Need> open_;
};

}  // namespace weir::simulate
