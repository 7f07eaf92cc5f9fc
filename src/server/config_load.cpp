#include "server/config_load.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "policy/text_file.h"
#include "policy/yaml/document.h"
#include "server/config_reader.h"

namespace weir::server {
namespace {

// By what only the one or the other has.
bool is_policy(const policy::yaml::Node& root) noexcept {
  const auto has = [&](std::initializer_list<std::string_view> keys) {
    return std::ranges::any_of(keys, [&](std::string_view key) { return root.find(key) != nullptr; });
  };
  return root.is_map() && has({"limits", "identity", "tiers", "openapi", "domain", "descriptors"}) &&
         !has({"doors", "state", "store", "policy"});
}

}  // namespace

LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& file,
                              const Environment& environment) {
  policy::Problems problems(file.string());
  LoadedConfig loaded;
  const auto root = policy::yaml::parse(text, problems);
  if (root && is_policy(*root)) {
    problems.error(
        root->at,
        "this is a policy; --config is for weir.yaml, which says where to listen: write --policy " + file.string());
  } else if (root) {
    Config config = read_config(*root, file.parent_path(), default_config(environment), problems);
    if (!problems.any_error()) loaded.config = std::move(config);
  }
  loaded.problems = problems.sorted();
  return loaded;
}

LoadedConfig load_config(const std::filesystem::path& path, const Environment& environment) {
  const auto text = policy::read_text_file(path);
  if (text) return load_config_text(*text, path, environment);
  policy::Problems problems(path.string());
  problems.error({}, text.error().what);
  return {std::nullopt, problems.sorted()};
}

}  // namespace weir::server
