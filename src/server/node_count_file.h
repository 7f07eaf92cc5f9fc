// The number of nodes that shared the store when they were last counted, in a file of the state directory: a node that
// restarts while the store is unavailable goes on with the share that it had.
//
// A smaller count is written only when it has lasted: nodes that are restarted one after the other would each take the
// others for gone, and all of them together more than the limit.
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

  // How long a smaller count must last.
  static constexpr std::chrono::minutes until_smaller{5};

  // Reads the file. An empty directory: there is none, and nothing is written.
  explicit NodeCountFile(const std::filesystem::path& state_directory);

  // The count in the file; none: no file, or no number in it.
  [[nodiscard]] std::optional<std::uint32_t> saved() const noexcept { return saved_; }

  // The nodes are so many now. Writes where that has changed.
  [[nodiscard]] Result<void> keep(std::uint32_t nodes, SteadyTime now);

 private:
  [[nodiscard]] Result<void> write(std::uint32_t nodes);

  std::filesystem::path path_;  // empty: none
  std::optional<std::uint32_t> saved_;
  std::optional<SteadyTime> smaller_since_;  // the count, than the one in the file
};

}  // namespace weir::server
