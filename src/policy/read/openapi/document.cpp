#include "policy/read/openapi/document.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "base/number.h"
#include "base/percent.h"
#include "policy/route_template.h"
#include "policy/rules.h"
#include "text/yaml/scalar.h"

namespace weir::policy::openapi {
namespace {

constexpr std::size_t large_map = 32;
constexpr std::string_view form = "write it like '#/components/pathItems/pet'";

std::optional<std::string> unescaped(std::string_view step) {
  std::string plain;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      plain += step[i];
      continue;
    }
    if (++i == step.size() || (step[i] != '0' && step[i] != '1')) return std::nullopt;
    plain += step[i] == '0' ? '~' : '/';
  }
  return plain;
}

// Splits a JSON pointer; returns nothing if `pointer` is invalid.
std::optional<std::vector<std::string>> pointer_steps(std::string_view pointer) {
  std::vector<std::string> steps;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    auto plain = unescaped(step);
    if (!plain) return std::nullopt;
    steps.push_back(std::move(*plain));
    pointer.remove_prefix(step.size());
  }
  return steps;
}

const text::Node* item(const text::Node& list, std::string_view step) {
  const auto index = base::parse_number<std::size_t>(step);
  if (!index || (step.size() > 1 && step.front() == '0') || *index >= list.items.size()) return nullptr;
  return &list.items[*index];
}

// The possible texts of one part of a URL: a literal, or the values of a variable.
using Choices = std::vector<std::string_view>;

std::optional<Choices> values_of(const text::Node& server, std::string_view name, Mark at, Problems& problems) {
  const text::Node* variables = server.find("variables");
  const text::Node* variable = variables != nullptr ? variables->find(name) : nullptr;
  const text::Node* fallback = variable != nullptr ? variable->find("default") : nullptr;
  if (fallback == nullptr || !fallback->is_scalar()) {
    problems.error(at, "server variable {} has no default in variables", in_quotes(name));
    return std::nullopt;
  }
  Choices values{fallback->text};
  if (const text::Node* known = variable->find("enum"); known != nullptr) {
    for (const text::Node& value : known->items) {
      if (value.is_scalar()) values.emplace_back(value.text);
    }
  }
  return values;
}

std::optional<std::vector<Choices>> parts_of(const text::Node& server, const text::Node& url, Problems& problems) {
  std::vector<Choices> parts;
  std::string_view rest = url.text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    if (open > 0) parts.push_back({rest.substr(0, open)});
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    if (close == std::string_view::npos) {
      problems.error(url.at, "server URL {} has an unclosed '{{'", in_quotes(url.text));
      return std::nullopt;
    }
    auto values = values_of(server, rest.substr(open + 1, close - open - 1), url.at, problems);
    if (!values) return std::nullopt;
    parts.push_back(std::move(*values));
    rest.remove_prefix(close + 1);
  }
  return parts;
}

// Returns every combination of the choices.
std::optional<std::vector<std::string>> urls_of(const text::Node& server, const text::Node& url, Problems& problems) {
  const auto parts = parts_of(server, url, problems);
  if (!parts) return std::nullopt;
  std::vector<std::string> urls{""};
  std::size_t longest = 0;
  for (const Choices& choices : *parts) {
    const auto shorter = [](std::string_view a, std::string_view b) { return a.size() < b.size(); };
    longest += std::ranges::max_element(choices, shorter)->size();
    if (longest > max_route_length) {
      problems.error(url.at, "server URL is too long: at most {} characters", max_route_length);
      return std::nullopt;
    }
    if (urls.size() * choices.size() > max_server_urls) {
      problems.error(url.at, "the variables of server URL {} have more than {} combinations", in_quotes(url.text),
                     max_server_urls);
      return std::nullopt;
    }
    std::vector<std::string> longer;
    longer.reserve(urls.size() * choices.size());
    for (const std::string& start : urls) {
      for (const std::string_view choice : choices) longer.push_back(start + std::string(choice));
    }
    urls = std::move(longer);
  }
  return urls;
}

// Removes empty and dot segments: "/a//b/../c/" becomes "/a/c".
std::string plain_path(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
  }
  std::string plain;
  for (const std::string_view segment : segments) plain.append("/").append(segment);
  return plain;
}

std::optional<std::string> path_of(std::string_view url, Mark at, Problems& problems) {
  if (url.find_first_of("?#") != std::string_view::npos) {
    problems.error(at, "server URL {} has a query or a fragment", in_quotes(url));
    return std::nullopt;
  }
  if (const std::size_t scheme = url.find("//");
      scheme == 0 || (scheme != std::string_view::npos && url[scheme - 1] == ':')) {
    const std::size_t path = url.find('/', scheme + 2);
    return plain_path(path == std::string_view::npos ? "" : url.substr(path));
  }
  if (url.starts_with('/')) return plain_path(url);
  if (url.substr(0, url.find('/')).find(':') != std::string_view::npos) {
    problems.error(at, "server URL {} has no scheme, did you mean {}?", in_quotes(url),
                   in_quotes("https://" + std::string(url)));
    return std::nullopt;
  }
  std::string path = plain_path(url);
  problems.warning(at, rule::relative_server_url,
                   "server URL {} is relative to the document: it is read as {}; write the whole path", in_quotes(url),
                   in_quotes(path.empty() ? "/" : path));
  return path;
}

void add_server(const text::Node& server, std::vector<std::string>& paths, Problems& problems) {
  const text::Node* url = server.find("url");
  if (url == nullptr || !url->is_scalar()) {
    problems.error(server.at, "a server needs a url");
    return;
  }
  const auto urls = urls_of(server, *url, problems);
  if (!urls) return;
  for (const std::string& one : *urls) {
    auto path = path_of(one, url->at, problems);
    if (!path) return;
    if (std::ranges::find(paths, *path) != paths.end()) continue;
    if (paths.size() == max_base_paths) {
      problems.error(url->at, "too many base paths: at most {}", max_base_paths);
      return;
    }
    paths.push_back(std::move(*path));
  }
}

}  // namespace

bool is_supported(const text::Node& root, Problems& problems) {
  if (const text::Node* swagger = root.find("swagger")) {
    problems.error(swagger->at, "OpenAPI 2 (swagger) is not supported: convert it to 3.0 or 3.1");
    return false;
  }
  const text::Node* version = root.find("openapi");
  if (version == nullptr) {
    problems.error(root.at, "missing openapi: write the version, like 3.1.0");
    return false;
  }
  if (!version->is_scalar()) {
    problems.error(version->at, "openapi must be text, not {}", text::name_of(version->kind));
    return false;
  }
  const std::string_view text = version->text;
  for (const std::string_view known : {"3.0", "3.1"}) {
    if (text == known || (text.starts_with(known) && text.substr(known.size()).starts_with('.'))) return true;
  }
  problems.error(version->at, "openapi {} is not supported: use 3.0 or 3.1", in_quotes(text));
  return false;
}

std::optional<std::vector<const text::Node*>> References::chain(const text::Node& node) {
  std::vector<const text::Node*> steps{&node};
  while (const text::Node* reference = steps.back()->find("$ref")) {
    const text::Node* next = target(*reference);
    if (next == nullptr) return std::nullopt;
    if (std::ranges::find(steps, next) != steps.end()) {
      problems_.error(reference->at, "$ref {} is circular", in_quotes(reference->text));
      return std::nullopt;
    }
    if (steps.size() > max_steps) {
      problems_.error(reference->at, "$ref chain is too long: at most {}", max_steps);
      return std::nullopt;
    }
    steps.push_back(next);
  }
  return steps;
}

const text::Node* References::follow(const text::Node& node) {
  const auto steps = chain(node);
  if (!steps) return nullptr;
  for (std::size_t i = 0; i + 1 < steps->size(); ++i) {
    for (const text::Member& member : (*steps)[i]->members) {
      if (member.key.value == "$ref") continue;
      problems_.error(member.key.at, "{} cannot be combined with $ref: remove one of them",
                      in_quotes(member.key.value));
      return nullptr;
    }
  }
  return steps->back();
}

const text::Node* References::target(const text::Node& reference) {
  if (!reference.is_scalar()) {
    problems_.error(reference.at, "$ref must be text, not {}: {}", text::name_of(reference.kind), form);
    return nullptr;
  }
  const std::string& text = reference.text;
  if (text.empty() || text.front() != '#') {
    problems_.error(reference.at, "$ref {}: other documents are not supported; copy the target into this one",
                    in_quotes(text));
    return nullptr;
  }
  const auto pointer = base::percent_decoded(std::string_view(text).substr(1));
  const auto steps = pointer ? pointer_steps(*pointer) : std::nullopt;
  if (!steps) {
    problems_.error(reference.at, "$ref {} is not a JSON pointer: {}", in_quotes(text), form);
    return nullptr;
  }
  const text::Node* node = &root_;
  for (const std::string& step : *steps) {
    node = node->is_sequence() ? item(*node, step) : find(*node, step);
    if (node == nullptr) {
      problems_.error(reference.at, "$ref {} does not resolve: {} not found", in_quotes(text), in_quotes(step));
      return nullptr;
    }
  }
  return node;
}

const text::Node* References::find(const text::Node& map, std::string_view key) {
  if (map.members.size() < large_map) return map.find(key);
  auto& index = large_[&map];
  if (index.empty()) {
    for (const text::Member& member : map.members) index.emplace(member.key.value, &member.value);
  }
  const auto found = index.find(key);
  return found == index.end() ? nullptr : found->second;
}

std::vector<std::string> base_paths(const text::Node* servers, Problems& problems) {
  std::vector<std::string> paths;
  if (servers != nullptr && !servers->is_null() && !servers->is_sequence()) {
    problems.error(servers->at, "servers must be a list, not {}", text::name_of(servers->kind));
  } else if (servers != nullptr) {
    for (const text::Node& server : servers->items) add_server(server, paths, problems);
  }
  if (paths.empty()) paths.emplace_back();
  return paths;
}

}  // namespace weir::policy::openapi
