// A temporary log file, and gzip compression.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace weir::simulate {

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string data(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input(text);  // zlib's input is not const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

class LogFile {
 public:
  explicit LogFile(std::string_view content, std::string_view name = "access.log") {
    std::string folder = (std::filesystem::temp_directory_path() / "weir-log-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = (folder_ / name).string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~LogFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

}  // namespace weir::simulate
