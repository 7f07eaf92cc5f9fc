// Consumers without personal data: `user:9f3c0d12ab34ef56`, `ip:0b77...+route:POST /login`, `global`.
//
// Values are hashed under a secret key, one by one, so that an operator can look a value up (`weir hash VALUE`), and
// nobody without the key can try values out. Routes and `global` are of the policy and stay as they are. The key is
// kept in a file, so that a name means the same after a restart.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "match/descriptors.h"
#include "table/hash_key.h"
#include "weir/result.h"

namespace weir::observe {

// Where the key is, in the state directory, by default.
inline constexpr auto hash_key_file = "log.key";

// 32 hexadecimal digits, readable for their owner only. Made of random numbers if the file is not there.
[[nodiscard]] Result<table::HashKey> open_hash_key(const std::string& path);

class ConsumerNames {
 public:
  explicit ConsumerNames(table::HashKey key) noexcept : key_(key) {}

  // 16 hexadecimal digits. An address is hashed as it is counted by: 203.0.113.7, 2001:db8::/64.
  [[nodiscard]] std::string hash_of(std::string_view value) const;

  // `consumer` is a key as engine/consumer.h writes it.
  void append(std::string& out, std::string_view consumer) const;

  // Of a descriptor: `remote_address:0b77...+path:5c1e...`.
  void append(std::string& out, std::span<const DescriptorEntry> entries) const;

 private:
  void append_hash(std::string& out, std::string_view value) const;

  table::HashKey key_;
};

}  // namespace weir::observe
