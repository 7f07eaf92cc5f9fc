#include "policy/load.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "policy/compile/compile.h"
#include "policy/read/openapi/reader.h"
#include "policy/read/policy_reader.h"
#include "policy/read/rls_reader.h"
#include "policy/tools/allow.h"
#include "policy/tools/lint.h"
#include "text/yaml/document.h"

namespace weir::policy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 1'000;
constexpr std::size_t max_total_bytes = 8 * text::max_bytes;

std::optional<PolicySpec> with_domain(std::optional<DomainSpec> domain) {
  if (!domain) return {};
  PolicySpec policy;
  policy.identity = Identity::defaults();
  policy.domains.push_back(*std::move(domain));
  return policy;
}

// True for a file of envoyproxy/ratelimit, even if its domain is missing.
bool is_of_ratelimit(const text::Node& root) {
  return root.find("domain") != nullptr || (root.find("descriptors") != nullptr && root.find("limits") == nullptr);
}

std::optional<PolicySpec> read(const text::Node& root, Problems& problems) {
  if (root.find("openapi") != nullptr) return openapi::read(root, problems);
  if (const auto* swagger = root.find("swagger")) {
    problems.error(swagger->at, "OpenAPI 2 (swagger) is not supported: convert it to 3.0 or 3.1");
    return {};
  }
  if (is_of_ratelimit(root)) return with_domain(rls::read(root, problems));
  return read_policy(root, problems);
}

std::optional<PolicySpec> read_text(std::string_view text, Problems& problems) {
  const auto root = text::parse_yaml(text, problems);
  if (!root) return {};
  read_allowances(text, problems);
  return read(*root, problems);
}

Loaded finish(std::optional<PolicySpec> spec, const LoadOptions& options, Problems& problems) {
  Loaded loaded;
  if (spec) {
    spec->charge_all = options.charge_all;
    loaded.ruleset = compile(*spec, problems);
  }
  if (loaded.ruleset != nullptr) {
    lint(*spec, *loaded.ruleset, options.nodes, problems);
    warn_of_unused_allowances(problems);
  }
  loaded.problems = problems.sorted();
  return loaded;
}

Loaded rejected(const fs::path& path, std::string message) {
  Problems problems(path.string());
  problems.error({}, std::move(message));
  return {nullptr, problems.sorted()};
}

Result<std::vector<fs::path>> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
    const fs::path& path = each->path();
    const bool yaml = path.extension() == ".yaml" || path.extension() == ".yml";
    // Kubernetes mounts a ConfigMap as hidden folders and links into them.
    const bool hidden = path.filename().native().starts_with('.');
    std::error_code unknown;
    if (yaml && !hidden && each->is_regular_file(unknown)) files.push_back(path);
  }
  if (error) return failure(directory.string(), "cannot be read: " + error.message());
  if (files.empty()) return failure(directory.string(), "no *.yaml or *.yml file in this directory");
  if (files.size() > max_files) {
    return failure(directory.string(), fmt::format("too many files: {}, at most {}", files.size(), max_files));
  }
  std::ranges::sort(files);
  return files;
}

std::optional<DomainSpec> read_domain(std::string_view text, Problems& problems) {
  const auto root = text::parse_yaml(text, problems);
  if (!root) return {};
  read_allowances(text, problems);
  if (!is_of_ratelimit(*root)) {
    problems.error(root->at, "missing domain: a policy directory must contain envoyproxy/ratelimit files only");
    return {};
  }
  return rls::read(*root, problems);
}

// Compiles each file alone, so that errors have its name, and then all files together.
Loaded load_directory(const fs::path& directory, const LoadOptions& options) {
  const auto files = files_in(directory);
  if (!files) return rejected(directory, files.error().what);
  Loaded loaded;
  rls::Domains domains(options.merge_domains ? rls::SameDomain::merged : rls::SameDomain::rejected);
  bool good = true;
  std::size_t bytes = 0;
  for (const fs::path& path : *files) {
    const auto text = text::read_text_file(path);
    if (!text) return rejected(path, text.error().what);
    bytes += text->size();
    if (bytes > max_total_bytes) {
      return rejected(path, fmt::format("policy directory is too large: {} bytes up to this file, at most {}", bytes,
                                        max_total_bytes));
    }
    Problems problems(path.string());
    auto domain = read_domain(*text, problems);
    if (domain) domains.add(*domain, problems);
    const Loaded alone = finish(with_domain(std::move(domain)), options, problems);
    good = good && alone.ruleset != nullptr;
    std::copy(alone.problems.begin(), alone.problems.end(), std::back_inserter(loaded.problems));
  }
  if (!good) return loaded;
  Problems problems(directory.string());
  PolicySpec all = std::move(domains).take();
  all.charge_all = options.charge_all;
  loaded.ruleset = compile(all, problems);
  const auto more = problems.sorted();
  std::copy(more.begin(), more.end(), std::back_inserter(loaded.problems));
  return loaded;
}

}  // namespace

Loaded load_text(std::string_view text, std::string file, const LoadOptions& options) {
  Problems problems(std::move(file));
  return finish(read_text(text, problems), options, problems);
}

Loaded load_path(const std::filesystem::path& path, const LoadOptions& options) {
  std::error_code error;
  if (fs::is_directory(path, error)) return load_directory(path, options);
  const auto text = text::read_text_file(path);
  if (!text) return rejected(path, text.error().what);
  return load_text(*text, path.string(), options);
}

}  // namespace weir::policy
