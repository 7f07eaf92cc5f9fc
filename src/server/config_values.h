// Parsers of the scalars of weir.yaml that the policy language does not have. An Error has the quoted text as its
// `where` and the expected form in its `what`.
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
  std::size_t min = 1;
  std::size_t max = std::size_t{1} << 40;
};

// `64KiB`, `256MiB`, `2GiB`.
[[nodiscard]] Result<std::size_t> parse_size(std::string_view text, SizeBounds bounds);

// `256MiB`, in the largest unit that is exact. The separator precedes the unit.
[[nodiscard]] std::string size_text(std::size_t bytes, std::string_view separator = "");

struct TimeBounds {
  Duration min{};
  Duration max = std::chrono::hours(1);
};

// A duration in the notation of policies. `0s` is allowed if the lower bound is zero.
[[nodiscard]] Result<Duration> parse_time(std::string_view text, TimeBounds bounds);

// `1/10`, or a decimal number with at most six places; above 0 and at most 1.
[[nodiscard]] Result<Share> parse_sample(std::string_view text);

// Three octal digits, with or without a leading zero.
[[nodiscard]] Result<mode_t> parse_mode(std::string_view text);

// An address in the notation of net::Address; a unix socket needs an absolute path. `8080` is that port on 127.0.0.1,
// and `:8080` is that port on every address.
[[nodiscard]] Result<net::Address> parse_listen(std::string_view text);

// A host name without a port, or `*`.
[[nodiscard]] Result<std::string> parse_host(std::string_view text);

// A relative path is relative to `folder`.
[[nodiscard]] Result<std::filesystem::path> parse_path(std::string_view text, const std::filesystem::path& folder);

// One argument of a Redis command: a user, or the name of a master.
[[nodiscard]] Result<std::string> parse_word(std::string_view text);

// The prefix of Redis keys. Braces are rejected: they would select a cluster slot.
[[nodiscard]] Result<std::string> parse_prefix(std::string_view text);

}  // namespace weir::server
