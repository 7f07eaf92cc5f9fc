// Stores the last counted number of nodes in the state directory, so that a node that restarts while the store is
// unavailable keeps its share.
//
// A smaller count is written only after it has lasted for a while. Otherwise a rolling restart would shrink the count,
// and the shares of all nodes together would exceed the limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "weir/result.h"

namespace weir::server {

class NodeCountFile {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // How long a smaller count must last before it is written.
  static constexpr std::chrono::minutes until_smaller{5};

  // Reads the file. With an empty path nothing is read or written.
  explicit NodeCountFile(const std::filesystem::path& state_directory);

  // The count in the file, if it has a valid one.
  [[nodiscard]] std::optional<std::uint32_t> saved() const noexcept { return saved_; }

  // Accepts the current count, and writes the file if needed.
  [[nodiscard]] Result<void> update(std::uint32_t nodes, SteadyTime now);

 private:
  [[nodiscard]] Result<void> write(std::uint32_t nodes);

  std::filesystem::path path_;  // empty: none
  std::optional<std::uint32_t> saved_;
  std::optional<SteadyTime> smaller_since_;  // since when the count is below saved_
};

}  // namespace weir::server
