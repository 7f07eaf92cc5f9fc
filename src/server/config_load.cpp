#include "server/config_load.h"

#include <utility>

#include "policy/text_file.h"
#include "policy/yaml/document.h"
#include "server/config_reader.h"

namespace weir::server {

LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& file,
                              const Environment& environment) {
  policy::Problems problems(file.string());
  LoadedConfig loaded;
  if (const auto root = policy::yaml::parse(text, problems)) {
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
