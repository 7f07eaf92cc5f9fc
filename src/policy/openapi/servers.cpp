#include "policy/openapi/servers.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "policy/route_template.h"
#include "policy/scalar.h"

namespace weir::policy::openapi {

namespace {

// The parts of a URL between its variables: each can be one of several texts.
using Choices = std::vector<std::string_view>;

std::optional<Choices> values_of(const yaml::Node& server, std::string_view name, Mark at, Problems& problems) {
  const yaml::Node* variables = server.find("variables");
  const yaml::Node* variable = variables != nullptr ? variables->find(name) : nullptr;
  const yaml::Node* fallback = variable != nullptr ? variable->find("default") : nullptr;
  if (fallback == nullptr || !fallback->is_scalar()) {
    problems.error(at, fmt::format("server variable {} has no default in variables", quoted(name)));
    return std::nullopt;
  }
  Choices values{fallback->text};
  if (const yaml::Node* known = variable->find("enum"); known != nullptr) {
    for (const yaml::Node& value : known->items) {
      if (value.is_scalar()) values.emplace_back(value.text);
    }
  }
  return values;
}

std::optional<std::vector<Choices>> parts_of(const yaml::Node& server, const yaml::Node& url, Problems& problems) {
  std::vector<Choices> parts;
  std::string_view rest = url.text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    if (open > 0) parts.push_back({rest.substr(0, open)});
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    if (close == std::string_view::npos) {
      problems.error(url.at, fmt::format("server URL {} has a '{{' without its '}}'", quoted(url.text)));
      return std::nullopt;
    }
    auto values = values_of(server, rest.substr(open + 1, close - open - 1), url.at, problems);
    if (!values) return std::nullopt;
    parts.push_back(std::move(*values));
    rest.remove_prefix(close + 1);
  }
  return parts;
}

// Every way to choose one text of each part.
std::optional<std::vector<std::string>> urls_of(const yaml::Node& server, const yaml::Node& url, Problems& problems) {
  const auto parts = parts_of(server, url, problems);
  if (!parts) return std::nullopt;
  std::vector<std::string> urls{""};
  std::size_t longest = 0;
  for (const Choices& choices : *parts) {
    const auto shorter = [](std::string_view a, std::string_view b) { return a.size() < b.size(); };
    longest += std::max_element(choices.begin(), choices.end(), shorter)->size();
    if (longest > max_route_length) {
      problems.error(url.at, fmt::format("a server URL that is too long: at most {} characters", max_route_length));
      return std::nullopt;
    }
    if (urls.size() * choices.size() > most_server_urls) {
      problems.error(url.at, fmt::format("the variables of server URL {} have more than {} combinations",
                                         quoted(url.text), most_server_urls));
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

// Without empty and dot segments: "/a//b/../c/" is "/a/c".
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
    problems.error(at, fmt::format("server URL {} has a query or a fragment", quoted(url)));
    return std::nullopt;
  }
  if (const std::size_t scheme = url.find("//");
      scheme == 0 || (scheme != std::string_view::npos && url[scheme - 1] == ':')) {
    const std::size_t path = url.find('/', scheme + 2);
    return plain_path(path == std::string_view::npos ? "" : url.substr(path));
  }
  if (url.starts_with('/')) return plain_path(url);
  if (url.substr(0, url.find('/')).find(':') != std::string_view::npos) {
    problems.error(at, fmt::format("server URL {} has no scheme, did you mean {}?", quoted(url),
                                   quoted("https://" + std::string(url))));
    return std::nullopt;
  }
  std::string path = plain_path(url);
  problems.warning(at, fmt::format("server URL {} depends on where the document is served: it is taken as {}",
                                   quoted(url), quoted(path.empty() ? "/" : path)));
  return path;
}

void add_server(const yaml::Node& server, std::vector<std::string>& paths, Problems& problems) {
  const yaml::Node* url = server.find("url");
  if (url == nullptr || !url->is_scalar()) {
    problems.error(server.at, "a server needs a url");
    return;
  }
  const auto urls = urls_of(server, *url, problems);
  if (!urls) return;
  for (const std::string& one : *urls) {
    auto path = path_of(one, url->at, problems);
    if (!path) return;
    if (std::find(paths.begin(), paths.end(), *path) != paths.end()) continue;
    if (paths.size() == most_base_paths) {
      problems.error(url->at, fmt::format("more than {} different base paths", most_base_paths));
      return;
    }
    paths.push_back(std::move(*path));
  }
}

}  // namespace

std::vector<std::string> base_paths(const yaml::Node* servers, Problems& problems) {
  std::vector<std::string> paths;
  if (servers != nullptr && !servers->is_null() && !servers->is_sequence()) {
    problems.error(servers->at, fmt::format("servers has to be a list, not {}", yaml::name_of(servers->kind)));
  } else if (servers != nullptr) {
    for (const yaml::Node& server : servers->items) add_server(server, paths, problems);
  }
  if (paths.empty()) paths.emplace_back();
  return paths;
}

}  // namespace weir::policy::openapi
