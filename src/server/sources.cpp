#include "server/sources.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "policy/load.h"
#include "policy/vocabulary.h"
#include "text/yaml/scalar.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

// Returns the metadata of a file; empty if stat fails.
std::string identity_of(const fs::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return {};
  std::string text;
  for (const auto number : {static_cast<long long>(found.st_dev), static_cast<long long>(found.st_ino),
                            static_cast<long long>(found.st_size), static_cast<long long>(found.st_mtim.tv_sec),
                            static_cast<long long>(found.st_mtim.tv_nsec)}) {
    text += std::to_string(number) + ' ';
  }
  return text;
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

// Returns the metadata of a file, or of a directory and the files in it.
std::string look(const fs::path& file) {
  std::string all = identity_of(file);
  std::error_code error;
  if (all.empty() || !fs::is_directory(file, error)) return all;
  for (const fs::path& inside : files_in(file)) all += inside.filename().string() + ' ' + identity_of(inside);
  return all;
}

std::vector<fs::path> files_named_by(const Config& config) {
  std::vector<fs::path> files;
  if (config.policy) files.push_back(*config.policy);
  if (config.receipts.key_file) files.push_back(*config.receipts.key_file);
  for (const Listener& listener : config.listeners) {
    if (!listener.config) continue;
    if (listener.config->token_file) files.push_back(*listener.config->token_file);
    if (!listener.config->tls) continue;
    files.emplace_back(listener.config->tls->certificate_chain);
    files.emplace_back(listener.config->tls->key);
    if (!listener.config->tls->client_ca.empty()) files.emplace_back(listener.config->tls->client_ca);
  }
  return files;
}

void choose_policy(const Sources& sources, Config& config) {
  if (sources.policy_file) {
    config.policy = sources.policy_file;
    config.policy_origin = "--policy";
  } else if (!sources.environment.policy.empty()) {
    config.policy = sources.environment.policy;
    config.policy_origin = "WEIR_POLICY";
  }
}

}  // namespace

void FileWatch::add(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) files_.push_back({file, look(file)});
}

bool FileWatch::changed() {
  bool any = false;
  for (Watched& one : files_) {
    std::string now = look(one.file);
    if (now.empty() || now == one.seen) continue;
    one.seen = std::move(now);
    any = true;
  }
  return any;
}

FoundConfig find_config(const std::optional<fs::path>& flag, const Environment& environment) {
  if (flag) return {flag, "--config"};
  if (!environment.config.empty()) return {environment.config, "WEIR_CONFIG"};
  std::error_code error;
  if (fs::exists(service_config, error)) return {service_config, "default"};
  return {std::nullopt, "default"};
}

std::string Loaded::errors() const {
  std::string lines = flag_error ? flag_error->message() : "";
  for (const text::Problem& problem : problems) {
    if (problem.severity == text::Severity::error) lines += (lines.empty() ? "" : "\n") + problem.text();
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
  if (const auto applied = apply(sources.listeners, *loaded.config); !applied) {
    loaded.flag_error = applied.error();
    loaded.config.reset();
    return loaded;
  }
  choose_policy(sources, *loaded.config);
  loaded.watch.add(files_named_by(*loaded.config));
  const auto& redis = loaded.config->store.redis;
  const policy::LoadOptions load{.merge_domains = loaded.config->merge_domains,
                                 .nodes = redis ? redis->nodes : policy::default_nodes,
                                 .charge_all = loaded.config->charge_all};
  policy::Loaded policy = loaded.config->policy ? policy::load_path(*loaded.config->policy, load)
                                                : policy::load_text(default_policy, "default policy");
  loaded.ruleset = std::move(policy.ruleset);
  loaded.problems.insert(loaded.problems.end(), policy.problems.begin(), policy.problems.end());
  return loaded;
}

}  // namespace weir::server
