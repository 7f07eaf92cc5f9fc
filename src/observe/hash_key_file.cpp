#include "observe/hash_key_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>

namespace weir::observe {
namespace {

constexpr std::size_t digits = 32;

tl::unexpected<Error> refused(const std::string& path, std::string_view what, std::string_view remedy) {
  return failure(path, std::string(what) + ": " + std::generic_category().message(errno) + "; " + std::string(remedy));
}

std::optional<std::uint64_t> parse_word(std::string_view text) {
  std::uint64_t word = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return word;
}

std::string text_of(const table::HashKey& key) {
  std::array<char, digits + 2> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx\n", static_cast<unsigned long long>(key.first),
                static_cast<unsigned long long>(key.second));
  return {text.data(), digits + 1};
}

Result<table::HashKey> read_key(const std::string& path, int file) {
  std::array<char, digits + 2> bytes{};  // a line feed, and one more to see that there is no more
  const ssize_t size = ::read(file, bytes.data(), bytes.size());
  if (size < 0) return refused(path, "the hash key cannot be read", "its owner has to be who runs weir");
  std::string_view text(bytes.data(), static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto first = parse_word(text.substr(0, digits / 2));
  const auto second = text.size() == digits ? parse_word(text.substr(digits / 2)) : std::nullopt;
  if (!first || !second) {
    return failure(path, "is not a hash key: it has to be 32 hexadecimal digits; remove the file to have one made");
  }
  return table::HashKey{*first, *second};
}

// Written under another name first: whoever finds the file finds a whole key.
Result<void> make_key(const std::string& path) {
  const std::string draft = path + ".new." + std::to_string(::getpid());
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  constexpr auto remedy = "its folder has to be there, and writable";
  if (file < 0) return refused(path, "the hash key cannot be made", remedy);
  const std::string text = text_of(table::HashKey::random());
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  ::close(file);
  const bool linked = written && (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  if (!linked) {
    const auto error = refused(path, "the hash key cannot be written", remedy);
    ::unlink(draft.c_str());
    return error;
  }
  ::unlink(draft.c_str());
  return {};
}

}  // namespace

Result<table::HashKey> open_hash_key(const std::string& path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) {
    if (const auto made = make_key(path); !made) return tl::unexpected(made.error());
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (file < 0) return refused(path, "the hash key cannot be opened", "its owner has to be who runs weir");
  auto key = read_key(path, file);
  ::close(file);
  return key;
}

}  // namespace weir::observe
