#include "observe/consumer_names.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/hex.h"
#include "base/number.h"
#include "match/consumer.h"
#include "policy/vocabulary.h"
#include "table/siphash.h"

namespace weir::observe {
namespace {

constexpr std::size_t key_digits = 32;
constexpr std::string_view owner_remedy = "the file must belong to the user that runs weir";

tl::unexpected<Error> key_failure(const std::string& path, std::string_view what, std::string_view remedy) {
  return failure(path, std::string(what) + ": " + std::generic_category().message(errno) + "; " + std::string(remedy));
}

Result<table::HashKey> read_key(const std::string& path, int file) {
  std::array<char, key_digits + 2> bytes{};  // room for a line feed, and for one byte more to detect longer files
  const ssize_t size = ::read(file, bytes.data(), bytes.size());
  if (size < 0) return key_failure(path, "cannot read the hash key", owner_remedy);
  std::string_view text(bytes.data(), static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto first = base::parse_number<std::uint64_t>(text.substr(0, key_digits / 2), 16);
  const auto second =
      text.size() == key_digits ? base::parse_number<std::uint64_t>(text.substr(key_digits / 2), 16) : std::nullopt;
  if (!first || !second) {
    return failure(path, "invalid hash key: it must be 32 hexadecimal digits; remove the file to create a new key");
  }
  return table::HashKey{*first, *second};
}

// Writes to another name first, so that the file always has a complete key.
Result<void> create_key(const std::string& path) {
  const std::string draft = path + ".new." + std::to_string(::getpid());
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  constexpr auto remedy = "its directory must exist and be writable";
  if (file < 0) return key_failure(path, "cannot create the hash key", remedy);
  const table::HashKey key = table::HashKey::random();
  std::string text;
  base::append_hex(text, key.first, 16);
  base::append_hex(text, key.second, 16);
  text.push_back('\n');
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  ::close(file);
  const bool linked = written && (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  if (!linked) {
    const auto error = key_failure(path, "cannot write the hash key", remedy);
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
    if (const auto created = create_key(path); !created) return tl::unexpected(created.error());
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (file < 0) return key_failure(path, "cannot open the hash key", owner_remedy);
  auto key = read_key(path, file);
  ::close(file);
  return key;
}

std::string ConsumerNames::hash_of(std::string_view value) const {
  std::string digits;
  append_hash(digits, value);
  return digits;
}

void ConsumerNames::append(std::string& out, std::string_view consumer) const {
  if (match::is_shared_consumer(consumer)) {
    out += "shared";
    return;
  }
  const std::size_t begin = out.size();
  match::for_each_part(consumer, [&](const policy::KeyPart& part, std::string_view value) {
    if (out.size() > begin) out.push_back('+');
    out += text_of(part);
    if (part.kind == policy::KeyPart::Kind::global) return;
    out.push_back(':');
    if (part.kind == policy::KeyPart::Kind::route) {
      out += value;
    } else {
      append_hash(out, value);
    }
  });
}

void ConsumerNames::append(std::string& out, std::span<const DescriptorEntry> entries) const {
  const std::size_t begin = out.size();
  for (const DescriptorEntry& entry : entries) {
    if (out.size() > begin) out.push_back('+');
    out += entry.key;
    if (entry.value.empty()) continue;
    out.push_back(':');
    append_hash(out, entry.value);
  }
}

void ConsumerNames::append_hash(std::string& out, std::string_view value) const {
  base::append_hex(out, table::siphash13(key_, value), 16);
}

}  // namespace weir::observe
