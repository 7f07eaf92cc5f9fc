// A consumer in words, read back to its key: the same bytes that its requests have (consumer.h).
//
// Written as describe_consumer prints it (`user=alice`, `ip=2001:db8::1 + route=POST /login`, `global`), or, where the
// limit has a key of one part, as the value alone (`alice`): of several such keys, the first that it fits. Who passes
// on a name that a stranger chose writes the part's name before it: a user called `ip=192.0.2.1` is
// `user=ip=192.0.2.1`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/ruleset.h"

namespace weir::engine {

struct ReadConsumer {
  bool is_shared = false;  // all without a key
  std::string_view route;  // of the text; empty if the key has no route
};

// Overwrites `key`, reusing its memory. Nothing if the words do not fit the limit's consumer_key, or in two ways.
[[nodiscard]] std::optional<ReadConsumer> read_consumer(const policy::CompiledLimit& limit,
                                                        const policy::Identity& identity, std::string_view text,
                                                        std::string& key);

// The consumers that the words may mean, each in full: `user=127.0.0.1`, `ip=127.0.0.1`. Words in full mean one; those
// that begin with a part's name and do not fit mean none.
[[nodiscard]] std::vector<std::string> meanings_of(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                                   std::string_view text);

// How the consumers of a limit are written: `user=... or ip=... + route=...`.
[[nodiscard]] std::string consumer_form(const policy::CompiledLimit& limit);

}  // namespace weir::engine
