// The consumer that a limit counts for: the parts of its key, as bytes that no value can imitate.
//
// Each part is its kind, its length and its text, so that `a_b` + `c` and `a` + `b_c` differ, and a user called
// 192.0.2.1 is not that address.
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

// Appends the key of `limit` for this caller to `keys`; nothing where it is absent.
// `shared`: none of the parts is there, and the limit says that all such requests share one counter.
[[nodiscard]] Presence append_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                       const Caller& caller, const Query& query, std::string_view route,
                                       std::string& keys);

// One part of a key for people and logs: (user, `alice`), (ip, `2001:db8::/64`).
struct ConsumerPart {
  policy::KeyPart name;
  std::string text;
};

// Takes the first part off a key that append_consumer wrote.
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

// --- a consumer in words, read back to its key: the same bytes that its requests have
//
// Written as describe_consumer prints it (`user=alice`, `ip=2001:db8::1 + route=POST /login`, `global`), or, where the
// limit has a key of one part, as the value alone (`alice`): of several such keys, the first that it fits. A program
// that passes on a name that a stranger chose writes the part's name before it: a user called `ip=192.0.2.1` is
// `user=ip=192.0.2.1`.

struct ReadConsumer {
  bool is_shared = false;  // all without a key
  std::string_view route;  // of the text; empty if the key has no route
};

// Overwrites `key`, reusing its memory. Nothing if the words do not fit the limit's consumer_key, or in two ways.
[[nodiscard]] std::optional<ReadConsumer> read_consumer(const policy::CompiledLimit& limit,
                                                        const policy::Identity& identity, std::string_view text,
                                                        std::string& key);

// Whether the words are `ip=` and what is not an address, for a limit that counts by addresses. That fits no other key
// either: a user called `ip=foo` is `user=ip=foo`.
[[nodiscard]] bool names_bad_address(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                     std::string_view text);

// The consumers that the words may mean, each in full: `user=127.0.0.1`, `ip=127.0.0.1`. Words in full mean one; those
// that begin with a part's name and do not fit mean none.
[[nodiscard]] std::vector<std::string> meanings_of(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                                   std::string_view text);

// The parts that the words name, whichever limit they are for: (user, `alice`) and (ip, `192.0.2.7`) of
// `user=alice + ip=192.0.2.7`. None: they are a value alone.
struct GivenPart {
  policy::KeyPart name;
  std::string_view value;  // of the text
};
[[nodiscard]] std::vector<GivenPart> given_parts(std::string_view text);

// The consumer of `limit` that a request with these parts would be, in full; empty: the limit counts by parts that are
// not given.
[[nodiscard]] std::string consumer_by(const policy::CompiledLimit& limit, const std::vector<GivenPart>& given);

// How the consumers of a limit are written: `user=... or ip=... + route=...`.
[[nodiscard]] std::string consumer_form(const policy::CompiledLimit& limit);

// --- as text for a shared store: readable, and different for different consumers, since every value has its length
// before it. `user:5:alice`, `ip:12:192.0.2.0/24+route:11:POST /login`.

void append_shared_consumer(std::string& out, std::string_view key);
// Of a key that descriptors.h wrote.
void append_shared_descriptor(std::string& out, std::string_view key);

}  // namespace weir::match
