// Whether files have changed since they were last looked at: by what the system says of them, links followed, so that
// it does not matter how a file was replaced. A directory changes with any of the files in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weir::server {

class FileWatch {
 public:
  explicit FileWatch(std::vector<std::filesystem::path> files) : files_(std::move(files)), seen_(look()) {}

  // True once after a change. A file that is not there now is not a change: it may be in the middle of being replaced.
  [[nodiscard]] bool changed();

 private:
  [[nodiscard]] std::string look() const;

  std::vector<std::filesystem::path> files_;
  std::string seen_;  // what identifies the files' contents
};

}  // namespace weir::server
