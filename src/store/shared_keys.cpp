#include "store/shared_keys.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/hex.h"
#include "base/percent.h"

namespace weir::store {
namespace {

constexpr std::size_t max_readable_length = 64;
constexpr char hashed_mark = '#';

// Percent-encodes characters with a meaning in keys.
std::string escaped(std::string_view name) {
  const auto is_plain = [](char c) { return c != '{' && c != '}' && c != ':' && c != '%'; };
  return base::percent_encoded(name, is_plain, base::lower_hex_digits);
}

std::string_view word_of(Purpose purpose) noexcept {
  static constexpr std::array<std::string_view, 7> words{"", "c.", "w.", "d.", "b.", "v.", "o."};
  return words[static_cast<std::size_t>(purpose)];
}

std::string_view word_of(Algorithm algorithm) noexcept {
  static constexpr std::array<std::string_view, 8> words{"tb", "gcra", "lb", "lbq", "fw", "swl", "swc", "cc"};
  return words[static_cast<std::size_t>(algorithm)];
}

std::string text_of(Duration window) {
  if (window == Duration::zero()) return {};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(window);
  if (seconds == window) return std::to_string(seconds.count()) + "s";
  return std::to_string(window.count()) + "us";
}

// 128 bits of HMAC-SHA-256, in 22 characters that need no quoting.
void append_hash(std::string& key, std::string_view secret, std::string_view consumer) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(consumer.data()), consumer.size(), digest.data(), &size);
  unsigned bits = 0;
  unsigned buffered = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    bits = (bits << 8) | digest[i];
    for (buffered += 8; buffered >= 6; buffered -= 6) key += letters[(bits >> (buffered - 6)) & 63];
  }
  key += letters[(bits << (6 - buffered)) & 63];
}

}  // namespace

SharedKeys::SharedKeys(std::string prefix, std::string secret)
    : prefix_(std::move(prefix)), secret_(std::move(secret)) {}

SharedName SharedKeys::name(const StateId& id) const {
  SharedName name;
  name.head = prefix_ + "{" + escaped(id.limit) + ":";
  name.tail = "}:" + std::string(word_of(id.purpose)) + std::string(word_of(id.algorithm)) + text_of(id.window);
  if (id.unit) name.tail += core::name_of(*id.unit);
  return name;
}

void SharedKeys::write(const SharedName& name, std::string_view consumer, std::string& key) const {
  key.assign(name.head);
  append_consumer(consumer, key);
  key += name.tail;
}

void SharedKeys::append_consumer(std::string_view consumer, std::string& out) const {
  if (secret_.empty() && consumer.size() <= max_readable_length && !consumer.starts_with(hashed_mark)) {
    out += consumer;
  } else {
    out += hashed_mark;
    append_hash(out, secret_, consumer);
  }
}

void SharedKeys::write_again(const SharedName& name, std::string_view as_a_key_has_it, std::string& key) {
  key.assign(name.head);
  key += as_a_key_has_it;
  key += name.tail;
}

}  // namespace weir::store
