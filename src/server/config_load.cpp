// Loads weir.yaml. Absent fields keep their defaults.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "policy/load.h"
#include "server/config_fields.h"
#include "text/yaml/document.h"

namespace weir::server {
namespace {

// Recognizes a policy by fields that weir.yaml does not have.
bool is_policy(const text::Node& root) noexcept {
  const auto has = [&](std::initializer_list<std::string_view> keys) {
    return std::ranges::any_of(keys, [&](std::string_view key) { return root.find(key) != nullptr; });
  };
  return root.is_map() && has({"limits", "identity", "tiers", "openapi", "domain", "descriptors"}) &&
         !has({"listeners", "doors", "state", "store", "policy"});
}

}  // namespace

void read_section(const text::Node& node, const std::string& path, Reading& reading, const Parts& parts) {
  text::MapReader map(node, path.empty() ? "weir.yaml" : last_segment(path), reading.problems);
  visit_fields(path, parts, [&](const Field& field, const std::string& field_path, const Parts& owner) {
    if (field.kind.required) (void)map.require(last_segment(field_path), *field.kind.required);
    field.kind.read({map, field_path, reading, owner});
  });
  map.finish();
}

LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& file,
                              const Environment& environment) {
  text::Problems problems(file.string());
  LoadedConfig loaded;
  const auto root = text::parse_yaml(text, problems);
  if (root && is_policy(*root)) {
    problems.error(root->at, "this is a policy, not weir.yaml; use --policy " + file.string());
  } else if (root) {
    Config config = default_config(environment);
    Reading reading{.folder = file.parent_path(), .problems = problems};
    read_section(*root, "", reading, {config});
    if (config.policy) config.policy_origin = problems.file();
    if (!problems.any_error()) loaded.config = std::move(config);
  }
  loaded.problems = problems.sorted();
  return loaded;
}

LoadedConfig load_config(const std::filesystem::path& path, const Environment& environment) {
  const auto text = text::read_text_file(path);
  if (text) return load_config_text(*text, path, environment);
  text::Problems problems(path.string());
  problems.error({}, text.error().what);
  return {std::nullopt, problems.sorted()};
}

}  // namespace weir::server
