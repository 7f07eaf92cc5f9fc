// What the states of a policy are called in a shared store.
//
//   prefix {limit:consumer} suffix        weir:{api-by-user:user:5:alice}:tb
//
// What lies between the braces is the same for all states of a limit and a consumer, whatever is counted: a cluster
// keeps them in one slot. Readable; a consumer longer than 64 bytes is a 128-bit hash, and with a secret every one is.
#pragma once

#include <string>
#include <string_view>

#include "store/local/state_id.h"

namespace weir::store {

// What the keys of one identity have in common.
struct SharedName {
  std::string head;  // `weir:{api-by-user:`
  std::string tail;  // `}:tb`
};

class SharedKeys {
 public:
  // `prefix` has no braces. `secret` empty: none.
  SharedKeys(std::string prefix, std::string secret);

  [[nodiscard]] SharedName name(const StateId& id) const;

  // Overwrites `key`. `consumer` is text that differs for different consumers.
  void write(const SharedName& name, std::string_view consumer, std::string& key) const;

  // The consumer as a key has it, at most 64 bytes; and a key with that.
  void append_consumer(std::string_view consumer, std::string& out) const;
  static void write_again(const SharedName& name, std::string_view as_a_key_has_it, std::string& key);

 private:
  std::string prefix_;
  std::string secret_;
};

}  // namespace weir::store
