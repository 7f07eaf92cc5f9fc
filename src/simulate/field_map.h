// Which field of a JSON log line means what.
//
// Without a word from the user, the names that common servers and loggers use are known (nginx, Caddy, Traefik,
// Envoy, Elastic Common Schema; field_map.cpp has the list); where a line has several of them, the earliest in
// the list counts. An assignment replaces all the known names of its field:
//
//   time=ts                         a field of the line
//   user=request.headers.x-user     a field of an object in it; also the one field "request.headers.x-user"
//   header:X-Plan=plan              a request header, for keys and tiers that the policy takes from one
//
// Names are compared exactly. Immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir::simulate {

enum class Field : std::uint8_t { time, ip, user, api_key, tier, method, target, request, status };
inline constexpr std::size_t field_count = 9;

class FieldMap {
 public:
  static constexpr std::size_t most_headers = 16;
  static constexpr std::size_t longest_name = 256;
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

 private:
  struct Nothing {};
  explicit FieldMap(Nothing) noexcept {}

  void add(std::string_view path, Place place);
  void add_known(Field field);

  Node root_;
  std::vector<std::string> header_names_;
};

}  // namespace weir::simulate
