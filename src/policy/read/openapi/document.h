// The version, `$ref`s and `servers` of an OpenAPI document.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/vocabulary.h"
#include "text/yaml/document.h"

namespace weir::policy::openapi {

// Reports an unsupported version and then returns false.
[[nodiscard]] bool is_supported(const text::Node& root, Problems& problems);

// `$ref` within the document: a JSON pointer (RFC 6901) as a URI's fragment, '#/components/pathItems/pet'.
// Other documents are never opened.
class References {
 public:
  static constexpr std::size_t max_steps = 16;

  References(const text::Node& root, Problems& problems) : root_(root), problems_(problems) {}

  // Returns `node` and the targets of successive `$ref`s. The last one has no `$ref`. Returns nothing if a `$ref` does
  // not resolve, which is reported at that `$ref`.
  [[nodiscard]] std::optional<std::vector<const text::Node*>> chain(const text::Node& node);

  // Returns the end of the chain. Reports other fields next to a `$ref`.
  [[nodiscard]] const text::Node* follow(const text::Node& node);

 private:
  [[nodiscard]] const text::Node* target(const text::Node& reference);
  [[nodiscard]] const text::Node* find(const text::Node& map, std::string_view key);

  const text::Node& root_;
  Problems& problems_;
  // Indexes large maps by key, so that many references take linear time.
  std::unordered_map<const text::Node*, std::unordered_map<std::string_view, const text::Node*>> large_;
};

inline constexpr std::size_t max_base_paths = 100;    // maximum for one list of servers
inline constexpr std::size_t max_server_urls = 1000;  // maximum for one server, over all values of its variables

// Returns the distinct paths of the `servers` URLs: "/v1", or "" for the root. A variable stands for its default and
// for each value of its `enum`. Without servers, the only path is the root.
[[nodiscard]] std::vector<std::string> base_paths(const text::Node* servers, Problems& problems);

}  // namespace weir::policy::openapi
