// The scalars of weir.yaml that the policy language does not have: text -> value, exactly, or an Error whose `what`
// says what to write instead (its `where` is the text, in quotes).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "net/address.h"
#include "server/config.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::server {

struct SizeBounds {
  std::size_t least = 1;
  std::size_t most = std::size_t{1} << 40;
};

// `64KiB`, `256MiB`, `2GiB`.
[[nodiscard]] Result<std::size_t> parse_size(std::string_view text, SizeBounds bounds);

// `256MiB`: in the largest unit that is exact.
[[nodiscard]] std::string size_text(std::size_t bytes);

struct TimeBounds {
  Duration least{};
  Duration most = std::chrono::hours(1);
};

// A length of time as a policy writes it; where the least is zero, `0s` as well.
[[nodiscard]] Result<Duration> parse_time(std::string_view text, TimeBounds bounds);

// `1/10`, or a decimal number with at most six places; above 0 and at most 1.
[[nodiscard]] Result<Share> parse_sample(std::string_view text);

// Three octal digits, with or without a zero before them.
[[nodiscard]] Result<mode_t> parse_mode(std::string_view text);

// An address as net reads it; the path of a unix socket begins at the root. `:8080` is that port on every address.
[[nodiscard]] Result<net::Address> parse_listen(std::string_view text);

// A name as a Host field has it, without a port; or `*`.
[[nodiscard]] Result<std::string> parse_host(std::string_view text);

// Relative to `folder`, unless it begins at the root.
[[nodiscard]] Result<std::filesystem::path> parse_path(std::string_view text, const std::filesystem::path& folder);

// What goes into a Redis command as one word: a user, the name of a master.
[[nodiscard]] Result<std::string> parse_word(std::string_view text);

// What Redis keys begin with: no braces, which would choose a slot of a cluster.
[[nodiscard]] Result<std::string> parse_prefix(std::string_view text);

}  // namespace weir::server
