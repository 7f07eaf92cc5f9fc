#include "weir/policy.h"

#include <utility>

#include "embedded/guarded.h"
#include "embedded/policy_body.h"
#include "policy/load.h"

namespace weir {
namespace {

Error error_of(const policy::Problem& problem) {
  const auto number = [](int value) { return ":" + std::to_string(value); };
  return {.where = problem.file + number(problem.at.line) + number(problem.at.column), .what = problem.named_message()};
}

// Returns one error for all mistakes; its message has a line for each.
Result<std::shared_ptr<const embedded::PolicyBody>> body_of(const policy::Loaded& loaded) {
  embedded::PolicyBody body{.ruleset = loaded.ruleset, .warnings = {}};
  std::vector<Error> errors;
  for (const policy::Problem& problem : loaded.problems) {
    auto& list = problem.severity == policy::Severity::error ? errors : body.warnings;
    list.push_back(error_of(problem));
  }
  if (loaded.ruleset && errors.empty()) return std::make_shared<const embedded::PolicyBody>(std::move(body));
  if (errors.empty()) return failure("policy", "cannot be read");
  Error all = std::move(errors.front());
  for (std::size_t i = 1; i < errors.size(); ++i) all.what += "\n" + errors[i].message();
  return tl::unexpected(std::move(all));
}

}  // namespace

Policy::Policy(std::shared_ptr<const embedded::PolicyBody> body) noexcept : body_(std::move(body)) {}

Result<Policy> Policy::load(const std::filesystem::path& path) {
  return embedded::guarded([&]() -> Result<Policy> {
    auto body = body_of(policy::load_path(path));
    if (!body) return tl::unexpected(std::move(body.error()));
    return Policy(std::move(*body));
  });
}

Result<Policy> Policy::parse(std::string_view text, std::string name) {
  return embedded::guarded([&]() -> Result<Policy> {
    auto body = body_of(policy::load_text(text, std::move(name)));
    if (!body) return tl::unexpected(std::move(body.error()));
    return Policy(std::move(*body));
  });
}

const std::vector<Error>& Policy::warnings() const noexcept {
  return body_->warnings;
}

}  // namespace weir
