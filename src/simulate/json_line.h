// Logs of one JSON object per line, and which of its fields means what.
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
  duration,  // how long it took, in seconds; the others in the unit of their name
  duration_ms,
  duration_us,
  duration_ns,
};
inline constexpr std::size_t field_count = 14;

// Which field of a line means what. The names that common servers and loggers use are known (nginx, Caddy, Traefik,
// Envoy, Elastic Common Schema; json_line.cpp has the list); where a line has several of them, the earliest in the list
// counts. An assignment replaces all the known names of its field:
//
//   time=ts                         a field of the line
//   user=request.headers.x-user     a field of an object in it; also the one field "request.headers.x-user"
//   header:X-Plan=plan              a request header, for keys and tiers that the policy takes from one
//   cost=usage.total_tokens         what the request turned out to cost; there is no known name for it
//   duration_ms=duration            how long it took, in milliseconds; an assignment of one unit replaces the known
//                                   names of all
//
// Names are compared exactly. Immutable once made.
class FieldMap {
 public:
  static constexpr std::size_t max_headers = 16;
  static constexpr std::size_t max_name_length = 256;
  static constexpr std::size_t deepest = 8;

  // Where a value goes: a slot per Field, then one per header. Of several values for a slot the one with the
  // lowest rank counts.
  struct Place {
    std::size_t slot = 0;
    std::size_t rank = 0;
  };

  // An object on the way to a value.
  struct Node {
    std::string name;
    std::vector<Place> places;
    std::vector<Node> children;  // by the length of their names, which few share

    [[nodiscard]] const Node* child(std::string_view key) const noexcept;
  };

  // The known names.
  FieldMap();

  // The known names, but for what is assigned: each FIELD=PATH or header:NAME=PATH.
  [[nodiscard]] static Result<FieldMap> with(std::span<const std::string> assignments);

  [[nodiscard]] const Node& root() const noexcept { return root_; }
  [[nodiscard]] const std::vector<std::string>& header_names() const noexcept { return header_names_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return field_count + header_names_.size(); }
  [[nodiscard]] bool has_cost() const noexcept { return has_cost_; }

  // Lines are read without their durations: quicker, where nobody needs them.
  void skip_durations();

 private:
  struct Nothing {};
  explicit FieldMap(Nothing) noexcept {}

  void add(std::string_view path, Place place);
  void add_known(Field field);
  static void skip_durations(Node& node);

  Node root_;
  std::vector<std::string> header_names_;
  bool has_cost_ = false;
};

// Reads lines through a FieldMap. simdjson reads only the fields that the map knows, without building a tree, and gives
// numbers as they are written, so that times and user numbers lose no digit. No exception leaves this class.
//
// Strings and numbers are values; null, true, false, "" and "-" are absent; of an array the first element counts
// (Caddy logs headers so). An address loses its port. A field given twice counts once, as it first stands.
//
// A duration is a decimal number in the unit of its field, or has its unit behind it ("1.5s", "20ms"). One that cannot
// be read is absent; a cost that cannot be read is a fault, since without it the line would mean something else.
//
// One log; one thread. Allocates only to grow.
class JsonLines {
 public:
  explicit JsonLines(FieldMap fields);
  ~JsonLines();
  JsonLines(JsonLines&&) noexcept;
  JsonLines& operator=(JsonLines&&) noexcept;

  // The entry holds until the next call. It has a time and a target; everything else may be absent.
  [[nodiscard]] Parsed parse(std::string_view line);

 private:
  class Document;
  std::unique_ptr<Document> document_;
};

}  // namespace weir::simulate
