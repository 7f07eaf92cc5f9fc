#include "server/node_count_file.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "policy/consistency.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

constexpr auto file_name = "nodes";

std::optional<std::uint32_t> read_count(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t count = 0;
  if (!(file >> count) || count < 1 || count > policy::max_nodes) return std::nullopt;
  return static_cast<std::uint32_t>(count);
}

}  // namespace

NodeCountFile::NodeCountFile(const fs::path& state_directory)
    : path_(state_directory.empty() ? fs::path() : state_directory / file_name) {
  if (!path_.empty()) saved_ = read_count(path_);
}

Result<void> NodeCountFile::update(std::uint32_t nodes, SteadyTime now) {
  if (path_.empty()) return {};
  const bool is_smaller = saved_ && nodes < *saved_;
  if (!is_smaller || !smaller_since_) smaller_since_ = is_smaller ? std::optional(now) : std::nullopt;
  if (nodes == saved_ || (is_smaller && now - *smaller_since_ < until_smaller)) return {};
  saved_ = nodes;
  smaller_since_.reset();
  return write(nodes);
}

// Writes a temporary file and renames it, so that a reader never sees half of it.
Result<void> NodeCountFile::write(std::uint32_t nodes) {
  const fs::path aside = path_.string() + ".new." + std::to_string(::getpid());
  {
    std::ofstream file(aside, std::ios::trunc);
    file << nodes << '\n';
    file.flush();
    if (!file) return failure(path_.string(), "cannot be written: " + std::generic_category().message(errno));
  }
  std::error_code error;
  fs::rename(aside, path_, error);
  if (error) return failure(path_.string(), "cannot be renamed: " + error.message());
  return {};
}

}  // namespace weir::server
