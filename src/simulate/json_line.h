// Parses logs with one JSON object per line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/log_entry.h"
#include "weir/result.h"

namespace weir::simulate {

enum class Field : std::uint8_t {
  time,
  ip,
  user,
  api_key,
  tier,
  method,
  target,
  request,
  status,
  cost,
  duration,  // in seconds; the others are in the unit of their name
  duration_ms,
  duration_us,
  duration_ns,
};
inline constexpr std::size_t field_count = 14;

// Maps the names in a line to fields. The names of common servers and loggers are known (nginx, Caddy, Traefik, Envoy,
// Elastic Common Schema; json_line.cpp has the list). If a line has several, the first in the list takes precedence. An
// assignment replaces all known names of its field:
//
//   time=ts                         a field of the line
//   user=request.headers.x-user     a nested field, or a field named "request.headers.x-user"
//   header:X-Plan=plan              a request header, for keys and tiers that the policy takes from one
//   cost=usage.total_tokens         the actual cost of the request; it has no known names
//   duration_ms=duration            the duration in milliseconds; replaces the known names of all duration units
//
// Names are case-sensitive.
class FieldMap {
 public:
  static constexpr std::size_t max_headers = 16;
  static constexpr std::size_t max_name_length = 256;
  static constexpr std::size_t max_depth = 8;

  // The destination of a value: one slot per Field, then one per header. The lowest rank takes precedence in a slot.
  struct Target {
    std::size_t slot = 0;
    std::size_t rank = 0;
  };

  // A name on the path to a value.
  struct Node {
    std::string name;
    std::vector<Target> targets;
    std::vector<Node> children;  // sorted by the length of their names

    [[nodiscard]] const Node* child(std::string_view key) const noexcept;
  };

  // Uses the known names only.
  FieldMap();

  // Adds assignments of the form FIELD=PATH or header:NAME=PATH.
  [[nodiscard]] static Result<FieldMap> with(std::span<const std::string> assignments);

  [[nodiscard]] const Node& root() const noexcept { return root_; }
  [[nodiscard]] const std::vector<std::string>& header_names() const noexcept { return header_names_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return field_count + header_names_.size(); }
  [[nodiscard]] bool has_cost() const noexcept { return has_cost_; }

  // Ignores durations, which makes parsing faster.
  void skip_durations();

 private:
  struct Nothing {};
  explicit FieldMap(Nothing) noexcept {}

  void add(std::string_view path, Target target);
  void add_known(Field field);
  static void skip_durations(Node& node);

  Node root_;
  std::vector<std::string> header_names_;
  bool has_cost_ = false;
};

// The parser of one log. simdjson reads only the mapped fields, without building a tree, and returns numbers as text,
// so that times and numeric user IDs lose no digits. Throws nothing. Not thread-safe. Allocates only to grow.
//
// Strings and numbers are values; null, true, false, "" and "-" are absent. An array counts as its first element (Caddy
// logs headers as arrays). The port of an address is dropped. The first of duplicate fields takes precedence.
//
// A duration is a decimal number in the unit of its field, or with a unit suffix ("1.5s", "20ms"). An invalid duration
// counts as absent. An invalid cost is a fault, because the line would mean something else without it.
class JsonLines {
 public:
  explicit JsonLines(FieldMap fields);
  ~JsonLines();
  JsonLines(JsonLines&&) noexcept;
  JsonLines& operator=(JsonLines&&) noexcept;

  // The entry is valid until the next call. It has a time and a target; everything else may be absent.
  [[nodiscard]] Parsed parse(std::string_view line);

 private:
  class Document;
  std::unique_ptr<Document> document_;
};

}  // namespace weir::simulate
