// What the limits of a policy need to know of a request, and whether a log says it: users, API keys, tiers and headers.
// A replay of a log that never does is of other requests than those that were made. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/ruleset.h"
#include "simulate/log_entry.h"

namespace weir::simulate {

// What no line of a log says.
struct LogGap {
  std::string what;                 // `tier`, `user`, `api_key` or `header:NAME`
  std::vector<std::string> limits;  // that need it
};

class LogNeeds {
 public:
  // The needs of one policy more.
  void add(const policy::Ruleset& ruleset);

  // What the entry says is needed no more.
  void see(const LogEntry& entry) noexcept {
    if (!open_.empty()) look(entry);
  }

  // What no entry has said.
  [[nodiscard]] std::vector<LogGap> gaps() const;

 private:
  enum class Kind : std::uint8_t { tier, user, api_key, header };

  struct Need {
    Kind kind;
    std::string header;  // lower case; of an api_key, the one in which it may be
    std::vector<std::string> limits;
  };

  void need(Kind kind, const std::string& header, const std::string& limit);
  void look(const LogEntry& entry) noexcept;
  [[nodiscard]] static bool is_in(const LogEntry& entry, const Need& need) noexcept;

  std::vector<Need> open_;
};

}  // namespace weir::simulate
