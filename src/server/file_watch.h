// Whether files have changed since they were last looked at: by what the system says of them, links followed, so that
// it does not matter how a file was replaced. A directory changes with any of the files in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weir::server {

class FileWatch {
 public:
  FileWatch() = default;
  explicit FileWatch(const std::vector<std::filesystem::path>& files) { add(files); }

  // Watched from now on.
  void add(const std::vector<std::filesystem::path>& files);

  // True once after a change. A file that is not there now has not changed: it may be in the middle of being replaced.
  [[nodiscard]] bool changed();

 private:
  struct Watched {
    std::filesystem::path file;
    std::string seen;  // what identifies its contents; empty: it was not there
  };

  std::vector<Watched> files_;
};

}  // namespace weir::server
