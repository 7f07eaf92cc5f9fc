// The consumer that a limit counts for, encoded as the bytes of its key parts.
//
// Each part has its kind, its length and its text, so `a_b` + `c` and `a` + `b_c` differ, and a user named 192.0.2.1
// differs from that address.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "match/caller.h"
#include "policy/ruleset.h"
#include "weir/query.h"

namespace weir::match {

enum class Presence { present, shared, absent };

// Appends the key of `limit` for this caller to `keys`, or nothing if the caller has no key. `shared` means that the
// caller has no key and the limit has `missing: share`.
[[nodiscard]] Presence append_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                       const Caller& caller, const Query& query, std::string_view route,
                                       std::string& keys);

// One part of a key for people and logs: (user, `alice`), (ip, `2001:db8::/64`).
struct ConsumerPart {
  policy::KeyPart name;
  std::string text;
};

// Removes and returns the first part of a key written by append_consumer().
[[nodiscard]] ConsumerPart take_part(std::string_view& key);

// True for the key that all requests without a key share. It has no parts.
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

// Formats a key: `user=alice`, `ip=2001:db8::/64 + route=POST /login`.
[[nodiscard]] std::string describe_consumer(std::string_view key);

// --- parsing a consumer's text to the key that its requests have
//
// The text is what describe_consumer() prints (`user=alice`, `ip=2001:db8::1 + route=POST /login`, `global`). For a key
// of one part it may be the value alone (`alice`), which is read as the first such key that accepts it. Programs must
// prefix untrusted values with the name of the part: a user named `ip=192.0.2.1` is `user=ip=192.0.2.1`.

struct ReadConsumer {
  bool is_shared = false;  // the shared consumer
  std::string_view route;  // a view into the text; empty if the key has no route
};

// Overwrites `key`, reusing its memory. Returns nothing if the text is ambiguous or does not match the limit's
// consumer_key.
[[nodiscard]] std::optional<ReadConsumer> read_consumer(const policy::CompiledLimit& limit,
                                                        const policy::Identity& identity, std::string_view text,
                                                        std::string& key);

// True if the text is `ip=` with an invalid address, for a limit keyed by ip. It matches no other key either: a user
// named `ip=foo` is `user=ip=foo`.
[[nodiscard]] bool names_bad_address(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                     std::string_view text);

// Returns the full text of every consumer that the text may mean: `user=127.0.0.1`, `ip=127.0.0.1`. A full text means
// exactly one; a text that begins with the name of a part but does not match means none.
[[nodiscard]] std::vector<std::string> meanings_of(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                                   std::string_view text);

// Splits a text into its named parts for any limit: (user, `alice`) and (ip, `192.0.2.7`) for
// `user=alice + ip=192.0.2.7`. Empty if the text is a value alone.
struct GivenPart {
  policy::KeyPart name;
  std::string_view value;  // a view into the text
};
[[nodiscard]] std::vector<GivenPart> given_parts(const policy::Identity& identity, std::string_view text);

// Returns the full text of the consumer of `limit` with these parts; empty if the limit's key needs other parts.
[[nodiscard]] std::string consumer_by(const policy::CompiledLimit& limit, const std::vector<GivenPart>& given);

// Describes the consumer texts of a limit: `user=... or ip=... + route=...`.
[[nodiscard]] std::string consumer_form(const policy::CompiledLimit& limit);

// --- text keys for a shared store: readable, and unique because each value is preceded by its length. `user:5:alice`,
// `ip:12:192.0.2.0/24+route:11:POST /login`.

void append_shared_consumer(std::string& out, std::string_view key);
// `key` must have been written by descriptors.h.
void append_shared_descriptor(std::string& out, std::string_view key);

}  // namespace weir::match
