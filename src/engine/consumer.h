// The consumer that a limit counts for: the parts of its key, as bytes that no value can imitate.
//
// Each part is its kind, its length and its text, so that `a_b` + `c` and `a` + `b_c` differ, and a user called
// 192.0.2.1 is not that address.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/caller.h"
#include "engine/query.h"
#include "policy/ruleset.h"

namespace weir::engine {

enum class Presence { present, shared, absent };

// Writes the key of `limit` for this caller into `key` (its old contents are dropped, its memory is reused).
// `shared`: none of the parts is there, and the limit says that all such requests share one counter.
[[nodiscard]] Presence write_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                      const Caller& caller, const Query& query, std::string_view route,
                                      std::string& key);

// One part of a key for people and logs: (user, `alice`), (ip, `2001:db8::/64`).
struct ConsumerPart {
  policy::KeyPart name;
  std::string text;
};

// Takes the first part off a key that write_consumer wrote.
[[nodiscard]] ConsumerPart take_part(std::string_view& key);

// Whether it is the counter that all requests without a key share. It has no parts.
[[nodiscard]] bool is_shared_consumer(std::string_view key) noexcept;

// Calls work(name, text) for each part of a key.
template <class Work>
void for_each_part(std::string_view key, Work work) {
  if (is_shared_consumer(key)) return;
  while (!key.empty()) {
    const ConsumerPart part = take_part(key);
    work(part.name, std::string_view(part.text));
  }
}

// All of it: `user=alice`, `ip=2001:db8::/64 + route=POST /login`.
[[nodiscard]] std::string describe_consumer(std::string_view key);

}  // namespace weir::engine
