// What any reader of an OpenAPI document needs: whether we read its version, its `$ref`s and its `servers`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/vocabulary.h"
#include "text/yaml/document.h"

namespace weir::policy::openapi {

// Whether it is OpenAPI in a version that we read; if not, `problems` says so.
[[nodiscard]] bool is_supported(const text::Node& root, Problems& problems);

// `$ref` within the document: a JSON pointer (RFC 6901) as a URI's fragment, '#/components/pathItems/pet'.
// Other documents are never opened.
class References {
 public:
  static constexpr std::size_t max_steps = 16;

  References(const text::Node& root, Problems& problems) : root_(root), problems_(problems) {}

  // `node`, then what its `$ref` names, then what that one's names, to the end, which has none.
  // None if the end cannot be reached: `problems` then says why, at the `$ref`.
  [[nodiscard]] std::optional<std::vector<const text::Node*>> chain(const text::Node& node);

  // The end of the chain, for values that are either written here or referred to, never half and half:
  // beside such a `$ref` nothing else may stand.
  [[nodiscard]] const text::Node* follow(const text::Node& node);

 private:
  [[nodiscard]] const text::Node* target(const text::Node& reference);
  [[nodiscard]] const text::Node* find(const text::Node& map, std::string_view key);

  const text::Node& root_;
  Problems& problems_;
  // Large maps by key: a document full of references takes time in proportion to its length.
  std::unordered_map<const text::Node*, std::unordered_map<std::string_view, const text::Node*>> large_;
};

inline constexpr std::size_t max_base_paths = 100;    // of one list of servers
inline constexpr std::size_t max_server_urls = 1000;  // of one server, by its variables' values

// `servers`: below which paths the operations are found. The path of each server's URL: "/v1", or "" for the root; each
// once. A variable stands for its default and for each of its `enum`. Absent or empty servers: the root.
[[nodiscard]] std::vector<std::string> base_paths(const text::Node* servers, Problems& problems);

}  // namespace weir::policy::openapi
