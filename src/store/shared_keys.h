// The key names of a policy's states in a shared store.
//
//   prefix {limit:consumer} suffix        weir:{api-by-user:user:5:alice}:tb
//
// The part in braces is the same for all states of one limit and consumer, so a cluster keeps them in one slot. Keys
// are readable; a consumer longer than 64 bytes is replaced by a 128-bit hash, and with a secret every consumer is.
#pragma once

#include <string>
#include <string_view>

#include "store/local/state_id.h"

namespace weir::store {

// The common parts of all keys of one identity.
struct SharedName {
  std::string head;  // `weir:{api-by-user:`
  std::string tail;  // `}:tb`
};

class SharedKeys {
 public:
  // `prefix` has no braces. `secret` may be empty.
  SharedKeys(std::string prefix, std::string secret);

  [[nodiscard]] SharedName name(const StateId& id) const;

  // Overwrites `key`. Different consumers must have different texts.
  void write(const SharedName& name, std::string_view consumer, std::string& key) const;

  // append_consumer() appends the consumer as it appears in a key (at most 64 bytes). write_again() writes a key from
  // that form.
  void append_consumer(std::string_view consumer, std::string& out) const;
  static void write_again(const SharedName& name, std::string_view as_a_key_has_it, std::string& key);

 private:
  std::string prefix_;
  std::string secret_;
};

}  // namespace weir::store
