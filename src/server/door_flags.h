// What the command line says about doors: where each listens, or that it is off. Counts before weir.yaml; all else
// about a door (certificates, tokens, bounds) stays as weir.yaml has it.
#pragma once

#include <optional>
#include <string>

#include "server/config.h"
#include "weir/result.h"

namespace weir::server {

struct DoorFlags {
  std::optional<std::string> http{};  // an address, or `off`; none: as weir.yaml says
  std::optional<std::string> rls{};
  std::optional<std::string> resp{};
  std::optional<std::string> admin{};
  bool exposed = false;  // the doors that are placed here may be reached by others without certificate or token
};

// An error says which flag is wrong, by itself or beside what weir.yaml says.
[[nodiscard]] Result<void> apply(const DoorFlags& flags, Config& config);

}  // namespace weir::server
