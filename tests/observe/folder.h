// A temporary folder for a test's files, and a time.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "weir/time.h"

namespace weir::observe {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

constexpr Instant noon{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "weir_observe_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace weir::observe
