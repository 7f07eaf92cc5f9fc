#include "server/secrets.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

namespace weir::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shortest_token = 16;
constexpr std::size_t longest_secret = 1024;
constexpr mode_t too_open = S_IWGRP | S_IRWXO;  // a group may read it: that is how services are given secrets

bool is_token_character(char c) noexcept {
  return c > ' ' && c < 0x7f;
}

tl::unexpected<Error> unreadable(const fs::path& path) {
  return failure(path.string(), "cannot be read: " + std::generic_category().message(errno));
}

// The file as it is, but for the end of its line, as far as it is of interest. `what` is in messages: `a token`.
Result<std::string> read_secret(const fs::path& path, std::string_view what) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  struct stat status {};
  if (file == nullptr || fstat(fileno(file.get()), &status) != 0) return unreadable(path);
  if ((status.st_mode & too_open) != 0) {
    return failure(path.string(), fmt::format("{} that others can read or change (mode {:04o}): chmod 600 {}", what,
                                              status.st_mode & 07777U, path.string()));
  }
  std::string text(longest_secret + 3, '\0');  // with room for the end of its line, and to see that it is too long
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(path);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Result<void> make_directory(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return {};
  const fs::path named = directory.has_filename() ? directory : directory.parent_path();  // without a slash behind it
  fs::create_directories(named.parent_path(), error);
  if (::mkdir(named.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return failure(directory.string(), "cannot be made: " + std::generic_category().message(errno) +
                                         "; name another in state.directory of weir.yaml");
}

Result<std::string> random_token() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return failure("admin token", "no randomness");
  constexpr std::string_view hex = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += hex[byte >> 4U];
    token += hex[byte & 0xFU];
  }
  return token;
}

// Written aside and linked into its place: whoever is first counts, and nobody reads half of it.
Result<void> write_once(const fs::path& path, const std::string& token) {
  const std::string aside = path.string() + ".new." + std::to_string(::getpid());
  const auto fails = [&](const char* what) {
    Error error{path.string(), std::string(what) + ": " + std::generic_category().message(errno)};
    ::unlink(aside.c_str());
    return Result<void>(tl::unexpected(std::move(error)));
  };
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return fails("cannot be written");
  const std::string line = token + "\n";
  const bool written =
      ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fsync(file) == 0;
  ::close(file);
  if (!written) return fails("cannot be written");
  if (::link(aside.c_str(), path.c_str()) != 0 && errno != EEXIST) return fails("cannot be put in its place");
  ::unlink(aside.c_str());
  return {};
}

}  // namespace

Result<std::string> read_token(const fs::path& path) {
  auto text = read_secret(path, "a token");
  if (!text) return text;
  if (text->size() < shortest_token || text->size() > longest_secret ||
      !std::all_of(text->begin(), text->end(), is_token_character)) {
    return failure(path.string(), fmt::format("not a token: one line of {} to {} visible characters, without spaces; "
                                              "openssl rand -hex 32 makes a good one",
                                              shortest_token, longest_secret));
  }
  return text;
}

Result<std::string> read_password(const fs::path& path) {
  auto text = read_secret(path, "a password");
  if (!text) return text;
  const bool one_line = text->find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos;
  if (text->empty() || text->size() > longest_secret || !one_line) {
    return failure(path.string(), fmt::format("not a password: one line of 1 to {} bytes", longest_secret));
  }
  return text;
}

Result<void> prepare_state_directory(const fs::path& state_directory) {
  if (auto made = make_directory(state_directory); !made) return made;
  std::error_code error;
  const bool is_prepared = fs::exists(state_directory / admin_token_file, error);
  if (is_prepared || ::access(state_directory.c_str(), W_OK | X_OK) == 0) return {};
  return failure(state_directory.string(), "cannot be written to: " + std::generic_category().message(errno) +
                                               "; name another in state.directory of weir.yaml");
}

Result<std::string> open_admin_token(const fs::path& state_directory) {
  if (const auto made = make_directory(state_directory); !made) return tl::unexpected(made.error());
  const fs::path path = state_directory / admin_token_file;
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto token = random_token();
    if (!token) return token;
    if (const auto written = write_once(path, *token); !written) return tl::unexpected(written.error());
  }
  return read_token(path);
}

}  // namespace weir::server
