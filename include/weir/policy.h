// SPDX-License-Identifier: Apache-2.0
// A policy: limits in their written form, parsed and validated. Engine applies it.
//
// Three formats are detected from the text: policy.yaml, OpenAPI 3 with `x-rate-limit`, and the configuration of
// envoyproxy/ratelimit. The language is described in docs/policy-language.md.
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
  // Loads a file, or a directory of envoyproxy/ratelimit configuration. Error::where is FILE:LINE:COLUMN; if there are
  // several errors, message() has one line for each.
  static Result<Policy> load(const std::filesystem::path& path);

  // Parses a text. `name` replaces the file name in errors.
  static Result<Policy> parse(std::string_view text, std::string name = "policy");

  // Valid but probably unintended settings, with their positions, as reported by `weir lint`.
  [[nodiscard]] const std::vector<Error>& warnings() const noexcept;

 private:
  friend class Engine;
  explicit Policy(std::shared_ptr<const embedded::PolicyBody> body) noexcept;

  std::shared_ptr<const embedded::PolicyBody> body_;
};

}  // namespace weir
