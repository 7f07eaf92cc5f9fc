// `$ref` within the document: a JSON pointer (RFC 6901) as a URI's fragment, '#/components/pathItems/pet'.
// Other documents are never opened.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/problem.h"
#include "policy/yaml/document.h"

namespace weir::policy::openapi {

class References {
 public:
  static constexpr std::size_t most_steps = 16;

  References(const yaml::Node& root, Problems& problems) : root_(root), problems_(problems) {}

  // `node`, then what its `$ref` names, then what that one's names, to the end, which has none.
  // None if the end cannot be reached: `problems` then says why, at the `$ref`.
  [[nodiscard]] std::optional<std::vector<const yaml::Node*>> chain(const yaml::Node& node);

  // The end of the chain, for values that are either written here or referred to, never half and half:
  // beside such a `$ref` nothing else may stand.
  [[nodiscard]] const yaml::Node* follow(const yaml::Node& node);

 private:
  [[nodiscard]] const yaml::Node* target(const yaml::Node& reference);
  [[nodiscard]] const yaml::Node* find(const yaml::Node& map, std::string_view key);

  const yaml::Node& root_;
  Problems& problems_;
  // Large maps by key: a document full of references takes time in proportion to its length.
  std::unordered_map<const yaml::Node*, std::unordered_map<std::string_view, const yaml::Node*>> large_;
};

// The steps of a JSON pointer; none if `pointer` is not one.
[[nodiscard]] std::optional<std::vector<std::string>> pointer_steps(std::string_view pointer);

}  // namespace weir::policy::openapi
