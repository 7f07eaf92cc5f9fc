// Names of consumers without personal data: `user:9f3c0d12ab34ef56`, `ip:0b77...+route:POST /login`, `global`.
//
// Each value is hashed with a secret key: an operator can look up a value (`weir hash VALUE`), but without the key a
// value cannot be guessed. Routes and `global` come from the policy and are not hashed. The key is stored in a file, so
// names stay the same across restarts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "match/descriptors.h"
#include "table/hash_key.h"
#include "weir/result.h"

namespace weir::observe {

// The default file of the key, in the state directory.
inline constexpr auto hash_key_file = "log.key";

// The file has 32 hexadecimal digits and is readable only by its owner. If it is missing, a random key is created.
[[nodiscard]] Result<table::HashKey> open_hash_key(const std::string& path);

class ConsumerNames {
 public:
  explicit ConsumerNames(table::HashKey key) noexcept : key_(key) {}

  // Returns 16 hexadecimal digits. An address is hashed in the form that limits use: 203.0.113.7, 2001:db8::/64.
  [[nodiscard]] std::string hash_of(std::string_view value) const;

  // `consumer` is a key in the form of match/consumer.h.
  void append(std::string& out, std::string_view consumer) const;

  // Appends a descriptor: `remote_address:0b77...+path:5c1e...`.
  void append(std::string& out, std::span<const DescriptorEntry> entries) const;

 private:
  void append_hash(std::string& out, std::string_view value) const;

  table::HashKey key_;
};

}  // namespace weir::observe
