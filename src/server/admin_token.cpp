#include "server/admin_token.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "server/token_file.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

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
