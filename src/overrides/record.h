// The records of exceptions: overrides, grants and blocks, and the changes that made them. Values without behavior; the
// policy decides in resolve.h whether a record fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/result.h"
#include "weir/time.h"

namespace weir::overrides {

enum class Kind : std::uint8_t { limit_override, block };

// `override` or `block`.
[[nodiscard]] std::string_view name_of(Kind kind) noexcept;

// The terms of an override. Exactly one of them is set.
struct Terms {
  // The number fields of a tier as written, such as (rate, `500/min`) and (burst, `20`).
  std::vector<std::pair<std::string, std::string>> numbers{};
  std::uint64_t factor = 0;  // in millionths; zero: none
  bool unlimited = false;
  bool banned = false;
  std::uint64_t add = 0;  // units granted until the current window ends; zero: none

  friend bool operator==(const Terms&, const Terms&) = default;
};

inline constexpr std::uint64_t whole_factor = 1'000'000;
inline constexpr std::size_t max_id_length = 64;
inline constexpr std::size_t max_reason_length = 256;
inline constexpr std::size_t max_target_length = 1024;
inline constexpr std::size_t max_routes = 64;

struct Record {
  Kind kind = Kind::limit_override;
  std::string id{};
  std::string limit{};                  // of an override
  std::string target{};                 // the consumer of an override, `user=alice`, or the identity that is blocked
  Terms terms{};                        // of an override
  std::vector<std::string> routes{};    // of a block; empty: every route
  Instant expires_at = Instant::max();  // Instant::max(): permanent
  std::string reason{};
  std::string by{};
  Instant created_at{};
  std::uint64_t version = 0;  // of the change that wrote the record

  [[nodiscard]] bool is_grant() const noexcept { return terms.add > 0; }
  [[nodiscard]] bool is_permanent() const noexcept { return expires_at == Instant::max(); }
  // Compares everything except the author, the time and the version.
  [[nodiscard]] bool is_same_request(const Record& other) const noexcept {
    return kind == other.kind && id == other.id && limit == other.limit && target == other.target &&
           terms == other.terms && routes == other.routes && expires_at == other.expires_at && reason == other.reason;
  }

  friend bool operator==(const Record&, const Record&) = default;
};

struct Change {
  enum class Action : std::uint8_t { set, remove, expire };

  Action action = Action::set;
  std::uint64_t version = 0;
  Instant at{};
  std::string by{};
  Record record{};  // after `set`; before `remove` and `expire`

  friend bool operator==(const Change&, const Change&) = default;
};

[[nodiscard]] std::string_view name_of(Change::Action action) noexcept;

// Reads the body of a PUT request. `now` is the time that `for` counts from. A missing id stays empty.
[[nodiscard]] Result<Record> read_request(Kind kind, std::string_view body, Instant now);

// One line of the log, with its line feed, and back.
[[nodiscard]] std::string change_line(const Change& change);
[[nodiscard]] std::optional<Change> read_change(std::string_view line);

// Writes the fields of a record as the API shows them. `inactive` is the reason why the policy does not apply it;
// empty: it is active.
[[nodiscard]] std::string record_json(const Record& record, std::string_view inactive);
[[nodiscard]] std::string change_json(const Change& change);

// Writes a factor in millionths: `2.5`.
[[nodiscard]] std::string factor_text(std::uint64_t factor);
// Describes the terms in a few words: `rate 500/min, burst 20`, `factor 2.5`, `unlimited`, `+10000`.
[[nodiscard]] std::string terms_text(const Terms& terms);

}  // namespace weir::overrides
