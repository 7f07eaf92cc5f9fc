#include "policy/ruleset.h"

#include <algorithm>

namespace weir::policy {

std::optional<std::uint32_t> Tiers::find(std::string_view name) const noexcept {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<std::uint32_t>(found - names.begin());
}

}  // namespace weir::policy
