// A policy: limits as people write them, read and checked. Engine puts it into force.
//
// Three formats are read, and the text says which it is: policy.yaml, OpenAPI 3 with `x-rate-limit`, and the
// configuration of envoyproxy/ratelimit. docs/policies.md has the language.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir {

namespace embedded {
struct PolicyBody;
}

// Immutable and cheap to copy. Callable from any thread.
class Policy {
 public:
  // A file, or a directory of envoyproxy/ratelimit's. What is wrong is told with its place: Error::where is
  // FILE:LINE:COLUMN, and if there are several mistakes, message() has a line for each.
  static Result<Policy> load(const std::filesystem::path& path);

  // The same of a text. `name` stands in place of the file's.
  static Result<Policy> parse(std::string_view text, std::string name = "policy");

  // What is allowed and probably not meant, as `weir lint` tells it: each with its place.
  [[nodiscard]] const std::vector<Error>& warnings() const noexcept;

 private:
  friend class Engine;
  explicit Policy(std::shared_ptr<const embedded::PolicyBody> body) noexcept;

  std::shared_ptr<const embedded::PolicyBody> body_;
};

}  // namespace weir
