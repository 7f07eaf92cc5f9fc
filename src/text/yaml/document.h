// A YAML (or JSON) text as a tree in which every value has its position.
//
// The text is not trusted: its size, depth, number of nodes and alias expansions are bounded, it must be UTF-8, and
// keys are unique scalars. Scalars stay text: the code that reads them decides what is a number or a boolean (so `010`
// is not eight, and `1e3` is not silently a thousand).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/yaml/problem.h"
#include "weir/result.h"

namespace weir::text {

inline constexpr std::size_t max_bytes = std::size_t{10} << 20;
inline constexpr std::size_t max_nodes = 1'000'000;  // after aliases are expanded
inline constexpr int deepest = 64;

struct Member;

struct Node {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  bool quoted = false;  // a quoted scalar is text, whatever it looks like
  Mark at;
  std::string text;             // scalar
  std::vector<Node> items;      // sequence
  std::vector<Member> members;  // map, in file order

  [[nodiscard]] bool is_null() const noexcept { return kind == Kind::null; }
  [[nodiscard]] bool is_scalar() const noexcept { return kind == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const noexcept { return kind == Kind::sequence; }
  [[nodiscard]] bool is_map() const noexcept { return kind == Kind::map; }

  // The value of a key; nullptr if it is missing.
  [[nodiscard]] const Node* find(std::string_view key) const noexcept;
};

struct Member {
  Written<std::string> key;
  Node value;
};

// Parses the only document of `text`. Empty if it is invalid: `problems` then has the reason.
[[nodiscard]] std::optional<Node> parse_yaml(std::string_view text, Problems& problems);

// "a list", "a map", "text", "nothing": for messages.
[[nodiscard]] std::string_view name_of(Node::Kind kind) noexcept;

// Reads a file for parse_yaml(). For a file that is too large, returns one byte more than allowed.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

}  // namespace weir::text
