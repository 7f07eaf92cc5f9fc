#include "server/sources.h"

#include "policy/load.h"
#include "server/config_load.h"
#include "server/default_policy.h"
#include "server/store_fit.h"

namespace weir::server {
namespace {

std::vector<std::filesystem::path> files_named_by(const Config& config) {
  std::vector<std::filesystem::path> files;
  if (config.policy) files.push_back(*config.policy);
  const auto add_door = [&](const auto& door) {
    if (!door) return;
    if (door->token_file) files.push_back(*door->token_file);
    if (!door->tls) return;
    files.emplace_back(door->tls->certificate_chain);
    files.emplace_back(door->tls->key);
    if (!door->tls->client_ca.empty()) files.emplace_back(door->tls->client_ca);
  };
  add_door(config.doors.http);
  add_door(config.doors.rls);
  add_door(config.doors.resp);
  add_door(config.doors.admin);
  return files;
}

void refuse_misfits(Loaded& loaded) {
  const std::string file = loaded.config->policy ? loaded.config->policy->string() : "default policy";
  const auto found = misfits(*loaded.ruleset, loaded.config->store, file);
  if (!found.empty()) loaded.ruleset = nullptr;
  loaded.problems.insert(loaded.problems.end(), found.begin(), found.end());
}

void choose_policy(const Sources& sources, Config& config) {
  if (sources.policy_file) {
    config.policy = sources.policy_file;
    config.origins.policy = "--policy";
  } else if (!sources.environment.policy.empty()) {
    config.policy = sources.environment.policy;
    config.origins.policy = "WEIR_POLICY";
  }
}

}  // namespace

FoundConfig find_config(const std::optional<std::filesystem::path>& flag, const Environment& environment) {
  if (flag) return {*flag, "--config"};
  if (!environment.config.empty()) return {environment.config, "WEIR_CONFIG"};
  std::error_code error;
  if (std::filesystem::exists(service_config, error)) return {service_config, "default"};
  return {std::nullopt, "default"};
}

std::string Loaded::errors() const {
  std::string lines = flag_error ? flag_error->message() : "";
  for (const policy::Problem& problem : problems) {
    if (problem.severity == policy::Severity::error) lines += (lines.empty() ? "" : "\n") + problem.text();
  }
  return lines;
}

Loaded load(const Sources& sources) {
  Loaded loaded;
  const FoundConfig found = find_config(sources.config_file, sources.environment);
  loaded.config_line = "config: " + (found.file ? found.file->string() + " (" + found.origin + ")" : "none");
  if (found.file) {
    loaded.watch.add({*found.file});
    LoadedConfig read = load_config(*found.file, sources.environment);
    loaded.config = std::move(read.config);
    loaded.problems = std::move(read.problems);
    if (!loaded.config) return loaded;
  } else {
    loaded.config = default_config(sources.environment);
  }
  if (const auto applied = apply(sources.doors, *loaded.config); !applied) {
    loaded.flag_error = applied.error();
    loaded.config.reset();
    return loaded;
  }
  choose_policy(sources, *loaded.config);
  loaded.watch.add(files_named_by(*loaded.config));
  const policy::LoadOptions load{.merge_domains = loaded.config->merge_domains};
  policy::Loaded policy = loaded.config->policy ? policy::load_path(*loaded.config->policy, load)
                                                : policy::load_text(default_policy, "default policy");
  loaded.ruleset = std::move(policy.ruleset);
  loaded.problems.insert(loaded.problems.end(), policy.problems.begin(), policy.problems.end());
  if (loaded.ruleset) refuse_misfits(loaded);
  return loaded;
}

}  // namespace weir::server
