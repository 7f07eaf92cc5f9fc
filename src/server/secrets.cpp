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
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "base/ascii.h"
#include "base/hex.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t min_token_length = 16;
constexpr std::size_t max_secret_length = 1024;
constexpr std::size_t max_key_file_size = 65'536;
constexpr std::size_t max_receipt_keys = 16;
constexpr mode_t too_open =
    S_IWGRP | S_IRWXO;  // the group may read the file, since service managers share secrets that way

bool is_token_character(char c) noexcept {
  return c > ' ' && c < 0x7f;
}

tl::unexpected<Error> unreadable(const fs::path& path) {
  return failure(path.string(), "cannot be read: " + std::generic_category().message(errno));
}

// Returns the file without its final line break, at most max_length + 3 bytes of it.
Result<std::string> read_secret(const fs::path& path, std::size_t max_length = max_secret_length) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  struct stat status{};
  if (file == nullptr || fstat(fileno(file.get()), &status) != 0) return unreadable(path);
  if ((status.st_mode & too_open) != 0) {
    return failure(path.string(), fmt::format("accessible to other users (mode {:04o}); run chmod 600 {}",
                                              status.st_mode & 07777U, path.string()));
  }
  std::string text(max_length + 3, '\0');  // a line break, and one byte more to detect a file that is too long
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(path);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Result<void> make_directory(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return {};
  const fs::path named = directory.has_filename() ? directory : directory.parent_path();  // without a trailing slash
  fs::create_directories(named.parent_path(), error);
  if (::mkdir(named.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return failure(directory.string(),
                 "cannot be created: " + std::generic_category().message(errno) + "; set state.directory in weir.yaml");
}

// Returns 32 random bytes as hexadecimal digits, for a token or a key.
Result<std::string> random_token() {
  const auto bytes = new_receipt_key();
  if (!bytes) return tl::unexpected(bytes.error());
  return base::hex_text(*bytes);
}

// Writes a temporary file and links it: the first process wins, and readers never see half of it.
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
  if (::link(aside.c_str(), path.c_str()) != 0 && errno != EEXIST) return fails("cannot be linked");
  ::unlink(aside.c_str());
  return {};
}

std::optional<frontend::ReceiptKey> parse_receipt_key(std::string_view line) noexcept {
  frontend::ReceiptKey key{};
  if (line.size() != 2 * key.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const int byte = base::hex_byte(line[2 * i], line[2 * i + 1]);
    if (byte < 0) return std::nullopt;
    key[i] = static_cast<unsigned char>(byte);
  }
  return key;
}

// Returns the line without its comment and surrounding blanks.
std::string_view bare_line(std::string_view line) noexcept {
  return base::trimmed(line.substr(0, line.find('#')), " \t\r");
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = line.find_first_of(" \t");
    if (end != 0) words.push_back(line.substr(0, end));
    line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
  }
  return words;
}

Result<frontend::NamedToken> parse_named_token(const std::vector<std::string_view>& words) {
  using frontend::NamedToken;
  constexpr auto form = "expected NAME TOKEN ROLE, where ROLE is read or write";
  if (words.size() != 3) return failure("token", fmt::format("invalid line: {}", form));
  if (words[1].size() < min_token_length || words[1].size() > max_secret_length ||
      !std::ranges::all_of(words[1], is_token_character)) {
    return failure("token",
                   fmt::format("invalid token: expected {} to {} printable characters; create one with openssl "
                               "rand -hex 32",
                               min_token_length, max_secret_length));
  }
  if (words[2] != "read" && words[2] != "write") return failure("token", fmt::format("invalid role: {}", form));
  return NamedToken{std::string(words[0]), std::string(words[1]),
                    words[2] == "read" ? NamedToken::Role::read : NamedToken::Role::write};
}

}  // namespace

Result<std::string> read_token(const fs::path& path) {
  auto text = read_secret(path);
  if (!text) return text;
  if (text->size() < min_token_length || text->size() > max_secret_length ||
      !std::all_of(text->begin(), text->end(), is_token_character)) {
    return failure(path.string(),
                   fmt::format("invalid token: expected one line of {} to {} printable characters without "
                               "spaces; create one with openssl rand -hex 32",
                               min_token_length, max_secret_length));
  }
  return text;
}

Result<std::string> read_password(const fs::path& path) {
  auto text = read_secret(path);
  if (!text) return text;
  const bool one_line = text->find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos;
  if (text->empty() || text->size() > max_secret_length || !one_line) {
    return failure(path.string(),
                   fmt::format("invalid password: expected one line of 1 to {} bytes", max_secret_length));
  }
  return text;
}

Result<void> prepare_state_directory(const fs::path& state_directory) {
  if (auto made = make_directory(state_directory); !made) return made;
  std::error_code error;
  const bool is_prepared = fs::exists(state_directory / admin_token_file, error);
  if (is_prepared || ::access(state_directory.c_str(), W_OK | X_OK) == 0) return {};
  return failure(state_directory.string(), "cannot be written to: " + std::generic_category().message(errno) +
                                               "; set state.directory in weir.yaml");
}

Result<std::vector<frontend::NamedToken>> read_admin_tokens(const fs::path& path) {
  using frontend::NamedToken;
  const auto text = read_secret(path, max_key_file_size);
  if (!text) return tl::unexpected(text.error());
  std::vector<NamedToken> tokens;
  std::size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    ++number;
    const std::size_t end = rest.find('\n');
    const std::string_view line = bare_line(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.empty()) continue;
    const auto words = words_of(line);
    if (words.size() == 1 && tokens.empty() && base::trimmed(rest).empty()) {
      auto only = read_token(path);
      if (!only) return tl::unexpected(only.error());
      return std::vector{NamedToken{"admin", std::move(*only), NamedToken::Role::write}};
    }
    auto token = parse_named_token(words);
    if (!token) return failure(fmt::format("{}:{}", path.string(), number), token.error().what);
    const auto is_taken = [&](const NamedToken& other) {
      return other.name == token->name || other.secret == token->secret;
    };
    if (std::ranges::any_of(tokens, is_taken)) {
      return failure(fmt::format("{}:{}", path.string(), number), "duplicate name or token");
    }
    tokens.push_back(std::move(*token));
  }
  const auto writes = [](const NamedToken& token) { return token.role == NamedToken::Role::write; };
  if (std::ranges::any_of(tokens, writes)) return tokens;
  return failure(path.string(), "contains no token with the role write; add one, or remove the file and restart");
}

Result<std::string> read_writing_token(const fs::path& path) {
  const auto tokens = read_admin_tokens(path);
  if (!tokens) return tl::unexpected(tokens.error());
  const auto found = std::ranges::find(*tokens, frontend::NamedToken::Role::write, &frontend::NamedToken::role);
  return found->secret;
}

Result<std::vector<frontend::NamedToken>> open_admin_tokens(const fs::path& state_directory) {
  if (const auto made = make_directory(state_directory); !made) return tl::unexpected(made.error());
  const fs::path path = state_directory / admin_token_file;
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto token = random_token();
    if (!token) return tl::unexpected(token.error());
    if (const auto written = write_once(path, *token); !written) return tl::unexpected(written.error());
  }
  return read_admin_tokens(path);
}

Result<std::vector<frontend::ReceiptKey>> read_receipt_keys(const fs::path& path) {
  const auto text = read_secret(path, max_key_file_size);
  if (!text) return tl::unexpected(text.error());
  if (text->size() > max_key_file_size) return failure(path.string(), "receipt key file too long");
  std::vector<frontend::ReceiptKey> keys;
  std::size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    ++number;
    const std::size_t end = rest.find('\n');
    const std::string_view line = bare_line(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.empty()) continue;
    const auto key = parse_receipt_key(line);
    if (!key) {
      return failure(fmt::format("{}:{}", path.string(), number),
                     "invalid key: expected 64 hexadecimal digits; create one with openssl rand -hex 32");
    }
    if (std::ranges::find(keys, *key) != keys.end()) {
      return failure(fmt::format("{}:{}", path.string(), number), "duplicate key");
    }
    keys.push_back(*key);
  }
  if (keys.empty()) return failure(path.string(), "contains no key; create one with openssl rand -hex 32");
  if (keys.size() > max_receipt_keys) {
    return failure(path.string(), fmt::format("contains more than {} keys; remove the old ones", max_receipt_keys));
  }
  return keys;
}

Result<std::vector<frontend::ReceiptKey>> open_receipt_key(const fs::path& state_directory) {
  const fs::path path = state_directory / receipt_key_file;
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto key = random_token();
    if (!key) return tl::unexpected(key.error());
    if (const auto written = write_once(path, *key); !written) return tl::unexpected(written.error());
  }
  return read_receipt_keys(path);
}

Result<frontend::ReceiptKey> new_receipt_key() {
  frontend::ReceiptKey key{};
  if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1)
    return failure("OpenSSL", "cannot generate random bytes");
  return key;
}

}  // namespace weir::server
