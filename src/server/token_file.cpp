#include "server/token_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

namespace weir::server {
namespace {

constexpr std::size_t shortest = 16;
constexpr std::size_t longest = 1024;
constexpr mode_t too_open = S_IWGRP | S_IRWXO;  // a group may read it: that is how services are given secrets

bool is_visible(char c) noexcept {
  return c > ' ' && c < 0x7f;
}

tl::unexpected<Error> unreadable(const std::filesystem::path& path) {
  return failure(path.string(), "cannot be read: " + std::generic_category().message(errno));
}

// The file as it is, but for the end of its line, as far as it is of interest. `what` is in messages: `a token`.
Result<std::string> read_secret(const std::filesystem::path& path, std::string_view what) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  struct stat status {};
  if (file == nullptr || fstat(fileno(file.get()), &status) != 0) return unreadable(path);
  if ((status.st_mode & too_open) != 0) {
    return failure(path.string(), fmt::format("{} that others can read or change (mode {:04o}): chmod 600 {}", what,
                                              status.st_mode & 07777U, path.string()));
  }
  std::string text(longest + 3, '\0');  // with room for the end of its line, and to see that it is too long
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(path);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

Result<std::string> read_token(const std::filesystem::path& path) {
  auto text = read_secret(path, "a token");
  if (!text) return text;
  if (text->size() < shortest || text->size() > longest || !std::all_of(text->begin(), text->end(), is_visible)) {
    return failure(path.string(), fmt::format("not a token: one line of {} to {} visible characters, without spaces; "
                                              "openssl rand -hex 32 makes a good one",
                                              shortest, longest));
  }
  return text;
}

Result<std::string> read_password(const std::filesystem::path& path) {
  auto text = read_secret(path, "a password");
  if (!text) return text;
  const bool one_line = text->find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos;
  if (text->empty() || text->size() > longest || !one_line) {
    return failure(path.string(), fmt::format("not a password: one line of 1 to {} bytes", longest));
  }
  return text;
}

}  // namespace weir::server
