// A YAML (or JSON) text as a tree in which every value knows its place.
//
// The text is not trusted: its size, depth, number of nodes and alias expansions are bounded, it has to be UTF-8,
// keys are scalars and none is there twice. Scalars stay text: what a number or a truth value is, its reader decides
// (so `010` is not eight, and `1e3` is not silently a thousand).
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
  bool quoted = false;  // a scalar in quotes is text, whatever it looks like
  Mark at;
  std::string text;             // scalar
  std::vector<Node> items;      // sequence
  std::vector<Member> members;  // map, in file order

  [[nodiscard]] bool is_null() const noexcept { return kind == Kind::null; }
  [[nodiscard]] bool is_scalar() const noexcept { return kind == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const noexcept { return kind == Kind::sequence; }
  [[nodiscard]] bool is_map() const noexcept { return kind == Kind::map; }

  // The value under a key of a map; nullptr if there is none.
  [[nodiscard]] const Node* find(std::string_view key) const noexcept;
};

struct Member {
  Written<std::string> key;
  Node value;
};

// The one document of `text`. Empty when it cannot be read: `problems` then says why.
[[nodiscard]] std::optional<Node> parse_yaml(std::string_view text, Problems& problems);

// "a list", "a map", "text", "nothing": for messages.
[[nodiscard]] std::string_view name_of(Node::Kind kind) noexcept;

// The text of a file for parse_yaml(). Of a file that is too large, one byte beyond what is allowed: enough for
// parse_yaml() to refuse it.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

}  // namespace weir::text
